"""`where=`: row-wise conditions.  `syntax` reads the words, `typed` gives them meaning, `evaluate` a value for each row."""
