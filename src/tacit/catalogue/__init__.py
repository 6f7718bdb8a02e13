"""What this version writes, as JSON Schema."""
