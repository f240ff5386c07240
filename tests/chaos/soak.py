"""The soak: `python tests/chaos/soak.py --seed N --entries N --seconds N [--server PATH] [--keep FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.chaos.running import main

    sys.exit(main())
