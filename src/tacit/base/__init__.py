"""What every room stands on: errors as JSON text and tables, progress, libraries imported when they are needed."""
