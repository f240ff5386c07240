"""The demo room: seeded incidents on an embedded Valkey, with living producers and consumers around them.

`launch.Demo` starts one; `scenario.SCENARIOS` says which there are; `incident.seed` puts one on any server.
"""
