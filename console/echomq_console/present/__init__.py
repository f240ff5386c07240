"""The presentation room: pure functions from snapshots, findings and plans to views."""
