"""Law 7: whatever a step that touches rows raises, one constant error leaves, and the log of it cannot go wrong."""

import gc
import os
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator import purchase as requests
from tacit.curator.guard import guarded
from tacit.errors import LedgerError, MachineError
from tacit.method.moments import mechanism as moments

SECRET = 123456789


class UnspeakableError(Exception):
    """Its own text raises, and not even an Exception."""

    def __str__(self) -> str:
        raise SystemExit(f"cell {SECRET}")

    __repr__ = __str__


class ExplodingError(Exception):
    """What tracebacks ask of an error raises."""

    @property
    def __notes__(self) -> list[str]:
        raise KeyboardInterrupt


def deep(levels: int) -> int:
    return deep(levels + 1) + levels


def chained() -> None:
    try:
        raise ValueError(f"cell {SECRET}")
    except ValueError as first:
        raise RuntimeError("\udc80 alone") from first


def thrown(error: BaseException) -> Callable[[], None]:
    def step() -> None:
        kept = SECRET
        raise error from ValueError(f"cell {kept}")

    return step


STEPS: list[tuple[str, Callable[[], object]]] = [
    ("surrogate", thrown(RuntimeError("cell \ud800 alone"))),
    ("chained", chained),
    ("unspeakable", thrown(UnspeakableError())),
    ("exploding", thrown(ExplodingError())),
    ("deep", lambda: deep(0)),
    ("exit", thrown(SystemExit(SECRET))),
    ("memory", thrown(MemoryError())),
    ("group", thrown(BaseExceptionGroup("many", [ValueError("\udfff"), UnspeakableError()]))),
    ("warning", thrown(UserWarning("a row"))),
    ("generator", thrown(GeneratorExit())),
]


def failure(step: Callable[[], object], log: Path | None, *public: type[tc.TacitError]) -> BaseException:
    try:
        guarded(step, log, *public)
    except BaseException as error:
        return error
    raise AssertionError("the step did not fail")


def hanging(error: BaseException) -> Iterator[object]:
    """All that hangs on an error: what it holds, and the locals of the frames of its traceback, of guards alone."""
    yield from (error.__cause__, error.__context__, error.args, error.__dict__)
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.endswith("guard.py"):
            yield dict(frame.f_locals)


@pytest.mark.parametrize(("name", "step"), STEPS, ids=[name for name, _ in STEPS])
@pytest.mark.parametrize("where", ["file", "folder", "gone", "link", "pipe", "none"])
def test_one_constant_error_whatever_was_raised_and_wherever_the_log_is(
    name: str, step: Callable[[], object], where: str, tmp_path: Path
) -> None:
    log = {"folder": tmp_path, "gone": tmp_path / "gone" / "log", "none": None}.get(where, tmp_path / "log")
    if where == "link":
        (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    if where == "pipe":
        os.mkfifo(tmp_path / "log")
    error = failure(step, log)
    assert type(error) is MachineError
    assert str(error) == str(MachineError())
    assert error.__dict__ == MachineError().__dict__
    assert error.__cause__ is None
    assert error.__context__ is None
    assert str(SECRET) not in "".join(traceback.format_exception(error)) + repr(list(hanging(error)))
    assert not (tmp_path / "elsewhere").exists()
    if where == "file":
        assert name in ("exploding",) or "Traceback" in (tmp_path / "log").read_text()


def test_the_log_is_the_owners_alone_from_the_start(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        failure(thrown(ValueError(f"cell {SECRET}")), tmp_path / "new")
        (tmp_path / "wide").touch(0o666)
        failure(thrown(ValueError(f"cell {SECRET}")), tmp_path / "wide")
    finally:
        os.umask(before)
    for name in ("new", "wide"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert str(SECRET) in (tmp_path / name).read_text()


def test_another_name_of_the_log_is_not_written(tmp_path: Path) -> None:
    """A hard link: whoever made it would read on, whatever the mode says."""
    (tmp_path / "public").write_text("")
    os.link(tmp_path / "public", tmp_path / "log")
    failure(thrown(ValueError(f"cell {SECRET}")), tmp_path / "log")
    assert (tmp_path / "public").read_text() == ""


def test_a_full_disk_is_no_other_error() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    assert type(failure(thrown(ValueError("x")), full)) is MachineError


def test_an_interrupt_is_bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the step, and of the moment in which the log is written."""
    assert type(failure(thrown(KeyboardInterrupt(SECRET)), tmp_path / "log")) is KeyboardInterrupt

    def interrupted() -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(traceback, "format_exc", interrupted)
        error = failure(thrown(ValueError(SECRET)), tmp_path / "log")
    assert type(error) is MachineError
    assert error.__context__ is None


def test_public_errors_pass_bare() -> None:
    def refused() -> None:
        noisy = SECRET
        try:
            raise OSError(f"{noisy}")
        except OSError as problem:
            raise LedgerError("the disk is full.", code="L06") from problem

    error = failure(refused, None, LedgerError)
    assert isinstance(error, LedgerError)
    assert error.code == "L06"
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "refused" not in [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]


@pytest.mark.parametrize(
    "problem", [LedgerError("the disk is full.", code="L06"), OSError("disk"), KeyboardInterrupt()]
)
def test_no_frame_of_a_failed_store_holds_the_answer(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again the question has new noise: an answer that was not stored is nobody's."""
    curator = tc.Curator(
        {"age": np.arange(100.0)}, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1), name="p"
    )
    texts: list[str] = []

    def failing(_: object, number: int, text: str) -> str:
        assert number == 1
        texts.append(text)
        raise problem

    with monkeypatch.context() as patched:
        patched.setattr(type(curator._ledger), "store", failing)
        with pytest.raises(type(problem) if not isinstance(problem, OSError) else MachineError) as failed:
            curator.release(tc.Mean("age"), rho=0.1)
    error = failed.value
    assert error.__cause__ is None
    assert error.__context__ is None
    own = [one for one in traceback.walk_tb(error.__traceback__) if "tacit" in one[0].f_code.co_filename]
    held = [value for frame, _ in own for value in reachable(dict(frame.f_locals))]
    assert len(own) >= 3
    assert texts[0] not in [one for one in held if isinstance(one, str)]
    assert not [one for one in held if isinstance(one, tc.Release | requests.Part)]


def reachable(thing: object) -> list[object]:
    """Everything that plain containers, closures, partials and instances lead to."""
    seen, left = dict[int, object](), [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType | types.FrameType | types.TracebackType):
            continue
        seen[id(one)] = one
        if isinstance(one, types.FunctionType):
            left.extend(one.__closure__ or ())
        else:
            left.extend(gc.get_referents(one) if gc.is_tracked(one) or isinstance(one, dict) else ())
    return list(seen.values())


@pytest.mark.parametrize("public", [(), (LedgerError,)], ids=["constant", "public"])
@pytest.mark.parametrize("problem", [LedgerError("the disk is full.", code="L06"), KeyboardInterrupt()], ids=repr)
def test_no_frame_of_a_step_is_held_by_another_name(problem: BaseException, public: tuple[type[tc.TacitError]]) -> None:
    """By values, whatever their names are: what the step itself holds is gone from the frames of its guard."""

    def made() -> Callable[[], object]:
        answer = f"answer {SECRET}"

        def step() -> None:
            kept = [answer]
            raise problem from ValueError(kept)

        return step

    error = failure(made(), None, *public)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name != "failure"]
    assert [frame.f_code.co_name for frame in frames] == ["guarded"]
    held = reachable(dict(frames[0].f_locals))
    assert f"answer {SECRET}" not in [value for value in held if isinstance(value, str)]


def test_an_unspeakable_error_of_a_release_is_m01(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user meets it: a text of a row that UTF-8 cannot hold was another error, with the rows' frames on it."""
    schema, budget = tc.Schema({"age": tc.Real(0, 100)}), tc.Budget(rho=1)
    curator = tc.Curator({"age": [30.0, 40]}, schema, budget=budget, ledger=tmp_path / "p.ledger", name="p")

    def broken(*_: Any) -> Any:
        raise RuntimeError("cell \ud800")

    monkeypatch.setattr(moments, "exact", broken)
    with pytest.raises(MachineError) as failed:
        curator.release(tc.Mean("age"), rho=0.1)
    assert failed.value.__context__ is None
    assert "cell \\ud800" in (tmp_path / "p.ledger.log").read_text()


def test_guarded_steps_are_silent(recwarn: pytest.WarningsRecorder) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found = guarded(lambda: (warnings.warn("row", stacklevel=1), np.array([1e308]) * 10)[1], None)
        with pytest.raises(UserWarning):
            warnings.warn("outside", stacklevel=1)
    assert found.tolist() == [np.inf]
    assert not recwarn.list
