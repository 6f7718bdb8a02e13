"""How cells are read: column types, DuckDB queries, Arrow columns, lines of text files.  INSIDE the wall."""
