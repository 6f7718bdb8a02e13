"""What one row becomes: integers, by public arithmetic.  No data here."""
