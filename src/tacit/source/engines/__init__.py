"""One file for each kind of table, opened by its name in `engine_registry`.  INSIDE the wall."""
