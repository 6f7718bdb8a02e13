"""The exponential mechanism over a public finite set."""
