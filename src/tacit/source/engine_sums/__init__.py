"""Exact sums and counts in one lazy pass on the engine that holds a table.  INSIDE the wall."""
