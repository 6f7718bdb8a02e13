"""`where=`, row by row: `syntax` reads the words, `typed` gives them meaning, `evaluate` values for rows."""
