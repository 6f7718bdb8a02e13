"""Sample and aggregate."""
