"""Encodings of one row as bounded integers, by public arithmetic.  No data here."""
