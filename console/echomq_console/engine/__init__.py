"""The engine: the EchoMQ stream consumer, a library of its own."""
