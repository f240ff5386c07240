"""The observation room: polling the server without changing what is looked at.

`observer` polls, `history` keeps the numbers of the last snapshots, `look` reads a page for a screen or a command.
"""
