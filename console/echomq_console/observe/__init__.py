"""The observation room: polling the server without changing what is looked at."""
