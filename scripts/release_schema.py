"""Writes src/tacit/release.schema.json, the JSON Schema of release documents, from the code."""

from __future__ import annotations

from tacit.catalogue.json_schema import PLACE, text

if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
    print(f"written: {PLACE.name}")
