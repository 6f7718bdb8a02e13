"""`python -m tacit`."""

from __future__ import annotations

from tacit.cli import main

if __name__ == "__main__":
    main()
