"""From noisy integers of a column to its terms and their combinations, and the intervals that invert their errors."""
