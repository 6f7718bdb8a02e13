"""A panic of an engine, which is no `Exception`: our own words, and nothing of what it quotes."""

from __future__ import annotations

import traceback

import pytest

from tacit.errors import SourceError
from tacit.source.engine_table import tried


class PanicException(BaseException):
    """As PyO3 has it: Polars raises such a one."""


def panicking(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("error", [PanicException("row 7: secret"), ValueError("secret"), MemoryError()], ids=repr)
def test_a_panic_is_an_error_of_ours(error: BaseException) -> None:
    with pytest.raises(SourceError) as found:
        tried(lambda: panicking(error), "the engine cannot run a query now.", "D08", "open it again")
    assert found.value.code == "D08"
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    assert "secret" not in "".join(traceback.format_exception(found.value))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), SourceError("no.", code="D03")], ids=repr)
def test_what_is_no_failure_of_an_engine_stays_what_it_is(error: BaseException) -> None:
    with pytest.raises(type(error)) as found:
        tried(lambda: panicking(error), "the engine cannot run a query now.", "D08", "open it again")
    assert found.value is error
