"""JSON laid out on lines: only the space between the tokens changes, so nothing of a value is lost or rewritten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)')


def laid_out(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of valid JSON: how deep each stands, and what is on it.

    Repeated keys stay and numbers are spelled as they came; strings have their escapes resolved (`\\u00e9` is é).
    """
    depth, line = 0, ""
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        if token in ("{", "["):
            line += token
            if following not in ("}", "]"):
                yield depth, line
                depth, line = depth + 1, ""
        elif token in ("}", "]"):
            if tokens[index - 1] not in ("{", "["):
                yield depth, line
                depth, line = depth - 1, ""
            line += token
        elif token == ",":
            yield depth, line + token
            line = ""
        elif token == ":":
            line += ": "
        else:
            line += _resolved(token)
    yield depth, line


def _resolved(token: str) -> str:
    return json.dumps(json.loads(token), ensure_ascii=False) if token.startswith('"') else token
