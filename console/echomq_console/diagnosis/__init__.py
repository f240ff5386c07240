"""The diagnosis room: pure rules, one file each, from a snapshot to findings."""

from __future__ import annotations

from .diagnose import condition_of, diagnose, health_of

__all__ = ["condition_of", "diagnose", "health_of"]
