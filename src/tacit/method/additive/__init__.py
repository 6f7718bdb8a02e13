"""A user's own additive statistic: sums of bounded integers of each row."""
