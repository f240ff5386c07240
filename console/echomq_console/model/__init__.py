"""What the rooms talk about: frozen data, no input or output, no clock, nothing but the standard library."""
