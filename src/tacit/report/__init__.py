"""What goes into a paper."""
