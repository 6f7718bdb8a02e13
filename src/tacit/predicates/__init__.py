"""`where=`: row-wise conditions in pandas-query words.  `syntax` reads text, `typed` gives it a schema's meaning."""
