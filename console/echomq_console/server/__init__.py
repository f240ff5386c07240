"""The server room: the only one that speaks redis.

Connections, typed commands on raw replies, errors that say what to do, and the embedded server. Import from the
modules; nothing is loaded before it is used, because the client library costs a fifth of a second.
"""
