"""The document that crossed the wall, and how it is read."""
