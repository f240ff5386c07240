"""The audit room: an append-only record of what was done from here. No audit, no write."""
