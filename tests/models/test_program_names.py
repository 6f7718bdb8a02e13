"""Names of models for compiled programs: the same only where the programs are, and index entries that lead to them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_compiled_programs import cache as cache

import tacit as tc
from tacit.families import Exponential, Gamma, Weibull
from tacit.models import block_sums, blocks
from tacit.models import compiled_programs as programs
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.custom import Model
from tacit.models.jax_config import quiet


def normal(x: Any, theta: Any) -> Any:
    return -((x - theta.m) ** 2) / 2 - 0.5 * jnp.log(2 * jnp.pi)


def shifted(x: Any, theta: Any) -> Any:
    return -((x - theta.m - 1) ** 2) / 2 - 0.5 * jnp.log(2 * jnp.pi)


def ruled(x: Any, theta: Any) -> Any:
    """A log-density with a rule of derivatives of its author's, which its trace names and does not hold."""

    @jax.custom_jvp
    def off(z: Any) -> Any:
        return -(z**2) / 2

    off.defjvps(lambda slope, answer, z: -z * slope)
    return off(x - theta.m) - 0.5 * jnp.log(2 * jnp.pi)


def test_models_of_one_name_are_one() -> None:
    models = [
        Gamma(shape=(0.5, 5), rate=(0.1, 5)),
        Gamma(shape=(0.5, 5), rate=(0.1, 5), default=(1, 1)),
        Gamma(shape=(0.5, 5.5), rate=(0.1, 5)),
        Gamma(shape=2.0, rate=(0.1, 5)),
        Gamma(shape=3.0, rate=(0.1, 5)),
        Weibull(shape=(0.5, 5), scale=(0.1, 5)),
        Model(normal, m=(0, 1)),
        Model(shifted, m=(0, 1)),
        Model(normal, m=(0, 2)),
        Model(normal, m=(0, 1), support="positive"),
        Model(normal, m=(0, 1), default={"m": 0.1}),
    ]
    names = [one.program_name("blocks") for one in models]
    assert None not in names
    assert len(set(names)) == len(models)
    assert models[0].program_name("blocks", "none") not in names
    again = Gamma(shape=(0.5, 5), rate=(0.1, 5))
    assert again.program_name("blocks") == names[0]
    assert Model(lambda x, theta: normal(x, theta), m=(0, 1)).program_name("blocks") == names[6]


def test_what_a_text_does_not_say_has_no_name() -> None:
    class Own(Exponential):
        def log_density(self, x: Any, theta: Any) -> Any:
            return -x * theta.rate

    assert Own(rate=(0.1, 10)).program_name("blocks") is None
    assert Model(ruled, m=(0, 1)).program_name("blocks") is None


def called(name: str | None, scale: float, *arrays: Any, quick: int = 0) -> tuple[Any, str]:
    """What a new function gives, and what a display of progress says meanwhile."""
    screen = io.StringIO()
    with quiet(), tc.progress(screen, every=600):
        found = CompiledFunction(lambda x: (x * scale, x + 1), keep=True, name=name, quick=quick)(*arrays)
    return [np.asarray(one).tolist() for one in found], screen.getvalue()


def test_a_name_leads_to_its_program_without_its_text(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3.0)
    first, _ = called("twice", 2.0, x)
    assert first == [[0, 2, 4], [1, 2, 3]]
    assert len(list(cache.iterdir())) == 2
    lowered: list[int] = []
    real = programs._place  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(programs, "_place", lambda *given: lowered.append(1) or real(*given))
    again, said = called("twice", 2.0, x)
    assert (again, lowered, "compiling" in said) == (first, [], False)
    # another name, shape, setting of JAX or code of Tacit's is another entry
    called("thrice", 3.0, x)
    called("twice", 2.0, np.arange(4.0))
    assert len(lowered) == 2
    monkeypatch.setattr(programs, "_code", lambda: "other code")
    assert called("twice", 5.0, x)[0] == [[0, 5, 10], [1, 2, 3]]
    assert len(lowered) == 3


def test_a_program_that_is_gone_is_made_again(cache: Path) -> None:
    x = np.arange(3.0)
    first, _ = called("twice", 2.0, x)
    for one in cache.iterdir():
        if one.read_bytes().startswith(programs.PROGRAM):
            one.unlink()
    again, said = called("twice", 2.0, x)
    assert again == first
    assert "compiling" in said
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"tacit-index-1\nxx", b"{}"])
def test_a_damaged_entry_is_no_entry(cache: Path, damage: bytes) -> None:
    x = np.arange(3.0)
    first, _ = called("twice", 2.0, x)
    (entry,) = (one for one in cache.iterdir() if one.read_bytes().startswith(programs.ENTRY))
    entry.write_bytes(damage)
    again, said = called("twice", 2.0, x)
    assert again == first
    assert "compiling" not in said
    assert entry.read_bytes().startswith(programs.ENTRY)


def test_brief_programs_are_not_optimised_and_are_other_files(cache: Path) -> None:
    x = np.arange(3.0)
    first, _ = called(None, 2.0, x)
    again, said = called(None, 2.0, x, quick=4)
    assert again == first
    assert "compiling" in said
    assert len(list(cache.iterdir())) == 2
    assert "compiling" not in called(None, 2.0, x, quick=3)[1]


def test_what_is_loaded_by_name_gives_the_same_estimates(cache: Path) -> None:
    rows = np.random.default_rng(0).exponential(0.5, (8, 50))
    law = Exponential(rate=(0.1, 10))
    found: list[Any] = []
    for _ in range(2):
        block_sums.compiled.cache_clear()
        found.append(blocks.block_mle(law, rows, [50] * 8).values)
    assert found[0].tobytes() == found[1].tobytes()
