"""What every test shares: noise that repeats, hypothesis without deadlines, pictures without a window, one Spark
session, own folders."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

os.environ.setdefault("MPLBACKEND", "Agg")
# What JAX compiled for one worker, process or run is there for the others; only code is kept, as files.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
# A test compiles a program to run it once or twice: half the work of that is saved.  `make test-all` saves nothing.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# nothing is kept in the folder of whoever runs the tests
os.environ.setdefault("TACIT_CACHE", "off")
settings.register_profile("tacit", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("tacit"), derandomize=True)  # CI repeats; people explore
# For `benchmarks/plant_faults.py`: that a test fails is enough, and no shorter example is looked for.
settings.register_profile("planted", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("ci" if os.environ.get("CI") else "tacit")

SHARING = ("tests/house/", "tests/test_repository.py", "tests/documents/test_release_schema.py")
SPARK_CONF = "rootLogger.level = off\n"


@pytest.hookimpl(tryfirst=True)  # before `-m` takes its choice
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use Spark are known by their names, which is all that is known where they are handed out.

    Of the cases of a test marked `sample(k)`, every k-th stays in `make test`; the others are `long`.
    """
    case: Counter[str] = Counter()
    for item in items:
        sample = item.get_closest_marker("sample")
        if sample is not None:
            name = item.nodeid.partition("[")[0]
            if case[name] % sample.args[0]:
                item.add_marker(pytest.mark.long)
            case[name] += 1
        if "spark" in getattr(item, "fixturenames", ()) and not item.name.startswith("test_spark_"):
            raise pytest.UsageError(f"{item.nodeid} uses Spark: test_spark_...")


NOISE = os.environ.get("TACIT_TEST_NOISE", "1")
"""Noise of this process while a test runs: a word for each choice of it, or `system` for the operating system's own.

A law is tested with a false-alarm rate; many other tests release something on the way, and what one release in
thousands breaks must break it here too, not on the day that somebody else runs them.  `make test-all` draws afresh.
"""
SYSTEM = os.urandom


class _RepeatedBytes:
    """What replaces `os.urandom`: bytes by the name of what runs.  Children of this process have the system's."""

    def __init__(self, name: str) -> None:
        seed = int.from_bytes(hashlib.sha256(f"{NOISE} {name}".encode()).digest())
        self.rng, self.process = np.random.default_rng(seed), os.getpid()

    def __call__(self, size: int) -> bytes:
        return self.rng.bytes(size) if os.getpid() == self.process else SYSTEM(size)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test draws the same words whatever ran before it."""
    with _repeated(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """So does what tests share, whichever of them asks for it first."""
    if fixturedef.scope == "function":
        return (yield)
    with _repeated(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param', '')}"):
        return (yield)


@contextlib.contextmanager
def _repeated(name: str) -> Iterator[None]:
    if NOISE == "system":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        words = _RepeatedBytes(name)
        patch.setattr(os, "urandom", words)
        patch.setattr(random, "_urandom", words)  # of `secrets`
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that use Spark run in one worker (`--dist loadgroup`): starting it takes longer than they do.  So do those
    of a file or folder whose tests share what takes long to make (`SHARING`).

    By name, since marks do not reach this place: xdist 3.8 writes them where pytest 9.2 no longer reads.
    """
    from xdist.scheduler import LoadGroupScheduling

    class OneForSpark(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if "::test_spark_" in nodeid:
                return "spark"
            return next((one for one in SHARING if one in nodeid), super()._split_scope(nodeid))

    return OneForSpark(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.fixture(autouse=True)
def _examples_run_in_their_own_folder(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[None]:
    """Doctests may write files; they find an empty folder."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    here = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("example"))
    try:
        yield
    finally:
        os.chdir(here)


@pytest.fixture
def selected_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of quantiles have selected ends, also of few rows, of which a release would take cuts."""
    from tacit.method.quantiles import design

    monkeypatch.setattr(design, "cuts_plan", lambda *_, **__: None)


def java_version() -> int:
    """Major version of `java`, 0 where there is none."""
    if shutil.which("java") is None:
        return 0
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    number = said.partition('"')[2].partition('"')[0].split(".")
    return int(number[0]) if number[0].isdigit() else 0


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A quiet local Spark session, started once."""
    if java_version() < 17:
        pytest.skip("Spark tests need Java 17")
    session = pytest.importorskip("pyspark.sql", reason="Spark tests need the extra `spark`")
    folder = tmp_path_factory.mktemp("spark")
    (folder / "log4j2.properties").write_text(SPARK_CONF, encoding="utf-8")
    os.environ.update(SPARK_CONF_DIR=str(folder), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    made = (
        session.SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    try:
        yield made
    finally:
        made.stop()
