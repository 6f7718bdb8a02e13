"""Statistics of estimates from several parties, as functions of arrays: no files, no rows."""
