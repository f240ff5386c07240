"""The operations console for Valkey Streams consumer groups."""

__version__ = "0.1.0"
