"""Questions that a curator refuses: the code of the error, and that nothing was spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tacit as tc
from tacit.errors import QueryError


def refused_at_no_cost(ask: Callable[[], tc.Query[Any]], code: str, rows: Any, schema: tc.Schema) -> None:
    """The question is refused with `code`, when it is made or when it is asked; the budget stays as it was."""
    curator = tc.Curator(rows, schema, budget=tc.Budget(rho=1))
    before = curator.remaining
    with pytest.raises(QueryError) as caught:
        curator.release(ask(), rho=0.5)
    assert caught.value.code == code
    assert curator.remaining == before
