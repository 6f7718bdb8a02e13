"""The words of text that say yes and no, in lower case.  Public facts only.  INSIDE the wall."""

from __future__ import annotations

from typing import Final

TRUE: Final = ("true", "t", "yes", "y", "1", "1.0")
FALSE: Final = ("false", "f", "no", "n", "0", "0.0")
