"""Text files: the cells of a line, whatever stands around it; prints how many files read otherwise than line by line.

    python benchmarks/text_fuzz.py [--files 20000] [--edges 60] [--quick]

Every file is read as a release reads it, in blocks, and compared with its lines read one by one, each as if it were
alone.  Lines are made of what decides how text is read: byte-order marks, quotes, line ends of three systems, NUL,
bytes that are not UTF-8, separators of Unicode, long cells, cells too many and too few.

- small: files of a few lines, read in blocks of 1 byte to 4 MiB;
- edges: files of some 12 MB, read in blocks of 4 MiB, with such lines around every place where a block starts;
- pairs: of each small file, another one in which one line is replaced: every other row reads the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.source.reading import text_files as text

PIECES: tuple[bytes, ...] = (
    *(b"a", b"1", b"f", b",", b",", b",", b",", b'"', b'"', b'""', b'"a"', b'"a,b"', b'"x""y"', b" ", b"\t", b"\r"),
    *(b"\xef\xbb\xbf", b"\xef\xbb\xbf", b'"\xef\xbb\xbff"', b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb"),
    *("é".encode(), "\u2028".encode(), "\x85".encode(), b"\x1c", b"\x0b", b"\x0c", b"\x1a", b"NULL", b"#", b"\\", b"'"),
    *(b"long" * 50,),
)
ENDS: tuple[bytes, ...] = (b"\n", b"\n", b"\n", b"\r\n", b"\r\n", b"\r\r\n", b"\n\n")
BLOCKS = (1, 2, 3, 7, 16, 64, 2**22)
WIDTH = 3
"""Columns of a file."""


def line(rng: np.random.Generator, width: int) -> bytes:
    """A line of a file: half of them regular, so that blocks are read the fast way too."""
    if rng.random() < 0.5:
        cells = (
            b"1",
            b"f",
            "é".encode(),
            b'"a,b"',
            b"\xef\xbb\xbff",
            b"\xef\xbb\xbf",
            b'"\xef\xbb\xbf"',
            b"",
            b'"a""b"',
        )
        return b",".join(cells[i] for i in rng.integers(0, len(cells), width))
    return b"".join(PIECES[i] for i in rng.integers(0, len(PIECES), rng.integers(1, 9)))


def lines(rng: np.random.Generator, count: int, width: int, regular: bool) -> list[bytes]:
    """Lines with their ends; where `regular`, only ones that PyArrow may read."""
    made: list[bytes] = []
    while len(made) < count:
        one = line(rng, width) + (b"\n" if regular else ENDS[int(rng.integers(len(ENDS)))])
        if not regular or text._fast(one, ",", width, [0], pa.schema([("a0", pa.string())])) is not None:
            made.append(one)
    return made


def alone(body: bytes, width: int) -> list[list[Any]]:
    """Return the rows of a file's lines, each line read as the only one."""
    schema = pa.schema([(f"a{i}", pa.string()) for i in range(width)])
    found: list[list[Any]] = []
    for one in body.split(b"\n"):
        batch = text._slow(one + b"\n", ",", list(range(width)), schema)
        found += [list(row.values()) for row in batch.to_pylist()]
    return found


def together(path: Path, width: int, block: int) -> list[list[Any]]:
    """Return the rows of the file as a release reads it."""
    before, text.BLOCK = text.BLOCK, block  # pyright: ignore
    try:
        table = text.cells(path, ",", width, list(range(width))).read_all()
    finally:
        text.BLOCK = before  # pyright: ignore
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


def small(rng: np.random.Generator, files: int, folder: Path) -> Counter[str]:
    """Files of a few lines, and their neighbours."""
    found = Counter[str]()
    for _ in range(files):
        width = int(rng.integers(1, WIDTH + 1))
        made = lines(rng, int(rng.integers(1, 7)), width, bool(rng.random() < 0.5))
        body = b"".join(made)
        body = body if rng.random() < 0.7 else body.rstrip(b"\n")
        block = BLOCKS[int(rng.integers(len(BLOCKS)))]
        rows = _read(folder, body, width, block)
        found["files"] += 1
        found["files that read otherwise"] += rows != alone(body, width)
        at = int(rng.integers(len(made)))
        other = line(rng, width) + b"\n"
        before, after = (alone(b"".join(part), width) for part in (made[:at], made[at + 1 :]))
        own = alone(other, width)
        changed = _read(folder, b"".join([*made[:at], other, *made[at + 1 :]]), width, block)
        found["pairs"] += 1
        found["pairs in which another row moved"] += changed != [*before, *own, *after]
    return found


def _read(folder: Path, body: bytes, width: int, block: int) -> list[list[Any]]:
    path = folder / "t.csv"
    path.write_bytes(b",".join(b"n%d" % i for i in range(width)) + b"\n" + body)
    return together(path, width, block)


def edges(rng: np.random.Generator, files: int, folder: Path) -> Counter[str]:
    """Files of three blocks of the size that is read, with odd lines where they meet."""
    found = Counter[str]()
    for _ in range(files):
        width, regular = WIDTH, bool(rng.random() < 0.7)
        made, size = list[bytes](), 0
        for edge in (text.BLOCK, 2 * text.BLOCK):
            odd = lines(rng, 6, width, regular)
            short = int(rng.integers(0, 1 + sum(map(len, odd))))
            filler = b"22,f," + b"x" * 16_000 + b"\n"
            full = (edge - short - size) // len(filler) - 1
            rest = edge - short - size - full * len(filler)
            made += [filler] * full + [b"22,f," + b"y" * (rest - 6) + b"\n"] + odd
            size = sum(map(len, made))
        body = b"".join(made)
        found["long files"] += 1
        found["long files that read otherwise"] += _read(folder, body, width, text.BLOCK) != alone(body, width)
    return found


def fuzz(files: int, long: int, seed: int) -> Counter[str]:
    """Counts of files, pairs and long files, and of those in which a row is not a function of its line."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        return small(rng, files, Path(folder)) + edges(rng, long, Path(folder))


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    words = parser.parse_args()
    found = fuzz(500, 2, words.seed) if words.quick else fuzz(words.files, words.edges, words.seed)
    bad = 0
    for what in ("files", "pairs", "long files"):
        wrong = next((count for name, count in found.items() if name.startswith(f"{what} ")), 0)
        print(f"{what}: {found[what]:,}, of which {wrong:,} with a row that depends on another line")
        bad += wrong
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
