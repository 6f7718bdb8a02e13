"""Compiled programs on disk: the same numbers without compiling again, and nothing that is private or not ours."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

import tacit as tc
from tacit.models import block_sums
from tacit.models import compiled_programs as programs
from tacit.models import program_files as files
from tacit.models.custom import Model
from tacit.models.jax_config import quiet


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of programs, and JAX without the cache that it has in other tests."""
    monkeypatch.setenv("TACIT_CACHE", str(tmp_path / "kept"))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    before = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    yield tmp_path / "kept"
    jax.config.update("jax_enable_compilation_cache", before)
    compilation_cache.reset_cache()


def squares(x: Any, y: Any) -> Any:
    return x * x + y


def run(function: Callable[..., Any], *arrays: Any, keep: bool = True) -> tuple[Any, str]:
    """What a new program gives, and what a display of progress says meanwhile."""
    screen = io.StringIO()
    with quiet(), tc.progress(screen, every=600):
        found = np.asarray(programs.CompiledFunction(function, keep=keep)(*arrays))
    return found, screen.getvalue()


def test_the_second_process_loads_what_the_first_compiled(cache: Path) -> None:
    x = np.linspace(0, 1, 5)
    first, said = run(squares, x, 2.0)
    assert "… compiling the model's program, once for this machine" in said
    (kept,) = cache.iterdir()
    again, said = run(squares, x, 2.0)
    assert "compiling" not in said
    assert first.dtype == np.float64
    assert again.tobytes() == first.tobytes() == squares(x, 2.0).tobytes()
    assert len(list(cache.iterdir())) == 1
    assert (os.stat(cache).st_mode & 0o777, os.stat(kept).st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("change", ["shape", "type", "constant", "flags"])
def test_another_program_is_another_file(cache: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0, 1, 5)
    run(squares, x, 2.0)
    other = {"shape": np.linspace(0, 1, 6), "type": np.arange(5)}.get(change, x)
    if change == "flags":
        monkeypatch.setattr(programs, "_instructions", lambda: "another processor")
    run((lambda x, y: x * x + 2 * y) if change == "constant" else squares, other, 2.0)
    assert len(list(cache.iterdir())) == 2


def test_the_same_program_on_other_rows_is_the_same_file(cache: Path) -> None:
    """Names and contents are functions of shapes alone."""
    run(squares, np.zeros(5), 0.0)
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    run(squares, np.array([np.nan, np.inf, -1e300, 7.0, 1.0]), -3.0)
    assert [one.read_bytes() for one in cache.iterdir()] == [content]


@pytest.mark.parametrize("damage", ["cut", "other bytes", "writable", "link", "folder"])
def test_what_is_damaged_or_others_may_write_is_compiled_again(cache: Path, damage: str) -> None:
    x = np.linspace(0, 1, 5)
    first, _ = run(squares, x, 2.0)
    (kept,) = cache.iterdir()
    if damage == "cut":
        kept.write_bytes(kept.read_bytes()[:-7])
    elif damage == "other bytes":
        kept.write_bytes(kept.read_bytes().replace(b"jax", b"jux"))
    elif damage == "writable":
        kept.chmod(0o620)
    elif damage == "link":
        elsewhere = cache.parent / "elsewhere"
        kept.rename(elsewhere)
        kept.symlink_to(elsewhere)
    else:
        cache.chmod(0o770)
    again, said = run(squares, x, 2.0)
    assert "compiling" in said
    assert again.tobytes() == first.tobytes()


def test_nothing_is_kept_where_it_is_not_wanted(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(squares, np.zeros(5), 0.0, keep=False)
    assert not cache.exists()
    monkeypatch.setenv("TACIT_CACHE", "off")
    assert files.folder() is None
    run(squares, np.zeros(5), 0.0)
    assert not cache.exists()
    monkeypatch.setenv("TACIT_CACHE", str(cache.parent / "no" / "place"))
    (cache.parent / "no").write_text("a file")
    found, _ = run(squares, np.ones(3), 1.0)
    assert found.tolist() == [2.0, 2.0, 2.0]


def test_a_program_that_does_not_run_is_compiled_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(squares, np.ones(3), 1.0)
    calls: list[int] = []

    class Broken:
        def deserialize_and_load(self, *given: Any, **words: Any) -> Any:
            def fails(*arrays: Any) -> Any:
                calls.append(1)
                raise RuntimeError("not found")

            return fails

    real = programs._serialization
    monkeypatch.setattr(programs, "_serialization", lambda: Broken() if not calls else real())
    found, said = run(squares, np.ones(3), 1.0)
    assert found.tolist() == [2.0, 2.0, 2.0]
    assert "compiling" in said
    assert calls == [1]


def test_nothing_is_kept_beside_a_cache_of_jax(cache: Path, tmp_path: Path) -> None:
    """JAX loads a program from its own cache without parts of its code, which would then be stored."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "own"))
    try:
        run(squares, np.ones(3), 1.0)
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
    assert not cache.exists()


def test_a_density_that_closes_over_an_array_is_not_kept(cache: Path) -> None:
    secret, scale = np.arange(4.0), 2.0

    def plain(x: Any, theta: Any) -> Any:
        return -((x - theta.m) ** 2) / scale

    def closing(x: Any, theta: Any) -> Any:
        return -((x - theta.m - secret.mean()) ** 2) - 0 * (secret * theta.m).sum()

    assert not Model(plain, m=(0, 1)).encloses_arrays
    assert Model(closing, m=(0, 1)).encloses_arrays
    assert not tc.families.Exponential(rate=(0.1, 10)).encloses_arrays


def test_the_least_used_make_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST", 2)
    for size in (2, 3):
        run(squares, np.zeros(size), 0.0)
    old, new = sorted(cache.iterdir(), key=lambda one: one.stat().st_mtime)
    os.utime(old, (1, 1))
    run(squares, np.zeros(4), 0.0)
    assert old not in cache.iterdir()
    assert new in cache.iterdir()


def test_a_release_of_rows_of_private_number_keeps_what_is_public(cache: Path) -> None:
    """Under add-remove, tables of other sizes and rows leave the same files behind, name by name."""
    names: list[set[str]] = []
    for rows in (np.linspace(0.1, 3, 400), np.linspace(2, 9, 391)):
        block_sums.compiled.cache_clear()
        budget = tc.Budget(epsilon=10, neighbors="add-remove")
        curator = tc.Curator({"x": rows}, tc.Schema({"x": tc.Real()}), budget=budget, size_hint=400)
        law = tc.families.Exponential(rate=(0.1, 10))
        curator.release(tc.SampleAndAggregate("x", law, blocks=20), epsilon=1)
        names.append({one.name for one in cache.iterdir()})
    assert names[0] == names[1]
    assert names[0]


@pytest.mark.long
def test_a_fresh_process_gives_the_same_estimates(cache: Path) -> None:
    code = (
        "import numpy as np\n"
        "from tacit.families import Exponential\n"
        "from tacit.models.blocks import block_mle\n"
        "rows = np.random.default_rng(0).exponential(0.5, (8, 50))\n"
        "print(block_mle(Exponential(rate=(0.1, 10)), rows, [50] * 8).values.tobytes().hex())"
    )
    made: list[str] = []
    kept: list[set[str]] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        assert done.stderr == ""
        made.append(done.stdout)
        kept.append({one.name for one in cache.iterdir()})
    assert made[0] == made[1]
    assert kept[0] == kept[1]
    assert kept[0]
