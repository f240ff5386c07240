"""The action room: the only way from a face to a write. Plan, guard, run."""
