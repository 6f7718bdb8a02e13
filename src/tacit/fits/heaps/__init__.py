"""Values that gather within bins: evidence of them in released counts, what it costs, what a reader is told."""
