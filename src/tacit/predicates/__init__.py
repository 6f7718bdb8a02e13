"""`where=`: conditions on rows in pandas-query words: `syntax` reads text, `typed` gives it meaning, `evaluate` a value."""
