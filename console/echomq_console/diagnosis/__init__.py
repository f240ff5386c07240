"""The diagnosis room: pure rules, one file each, from a snapshot to findings."""
