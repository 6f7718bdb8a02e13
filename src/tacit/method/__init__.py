"""One room a method: its question, its design, its mechanism, what its releases say."""
