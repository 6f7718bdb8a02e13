"""OUTSIDE the wall: what releases say.  Post-processing only; nothing here reads a row or draws protecting noise."""
