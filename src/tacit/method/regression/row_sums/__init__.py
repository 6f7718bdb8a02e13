"""What is summed over rows: integer encodings with their sensitivities, and released sums read back.  No data."""
