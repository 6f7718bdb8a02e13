"""INSIDE the wall: one file per method, each of which reads as its privacy argument."""
