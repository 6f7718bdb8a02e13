"""The JSON Schema of the documents that this version writes."""
