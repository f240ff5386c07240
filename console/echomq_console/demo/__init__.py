"""The demo room: an embedded Valkey with living clients and a seeded incident."""
