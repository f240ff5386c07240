"""`python -m echomq_console`."""

from echomq_console.cli import main

if __name__ == "__main__":
    main()
