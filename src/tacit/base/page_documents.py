"""A page as a word processor's document or as PDF, by a program that turns HTML into it.  Public facts only.

Pandoc makes .docx alone and .pdf with one of its engines; LibreOffice makes .pdf.  Nothing is installed or fetched.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Protocol

from tacit.base.json_text import write_bytes, write_text
from tacit.errors import FileError

SUFFIXES: Final = (".html", ".txt", ".docx", ".pdf")
ENGINES: Final = ("weasyprint", "wkhtmltopdf", "xelatex", "lualatex", "tectonic", "typst")
"""Programs by which Pandoc makes PDF of text in Unicode, the plainest first."""
OFFICES: Final = ("soffice", "libreoffice")
SECONDS: Final = 120


class Page(Protocol):
    """What can be saved as a page."""

    def to_text(self) -> str:
        """Return the page as text."""
        ...

    def to_html(self) -> str:
        """Return the page as an HTML document of its own."""
        ...


def suffix_of(path: str | Path, what: str, hint: str) -> str:
    """Return the suffix of a page's file, in lower case; FileError F10 unless it is one of SUFFIXES.

    what: the page, as an error names it.  hint: a file name that is right.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        message = f"{path} has suffix {suffix!r}; {what} is saved as {', '.join(SUFFIXES)}."
        raise FileError(message, code="F10", hint=hint)
    return suffix


def save(page: Page, path: str | Path, suffix: str) -> None:
    """Write a page in the format of its suffix (`suffix_of`).

    FileError F13 where .docx or .pdf needs a program that this machine lacks, ReleaseError R07 for a place that cannot
    be written.
    """
    if suffix == ".txt":
        write_text(path, page.to_text() + "\n")
    elif suffix == ".html":
        write_text(path, page.to_html())
    else:
        write(page.to_html(), Path(path))


def write(html: str, target: Path) -> None:
    """Write an HTML document as .docx or .pdf.

    FileError F13 where no program for it is on the PATH, or it failed; ReleaseError R07 for a place that cannot be
    written.
    """
    with tempfile.TemporaryDirectory(prefix="tacit-page-") as folder:
        source = Path(folder) / "page.html"
        source.write_text(html, encoding="utf-8")
        made = source.with_suffix(target.suffix.lower())
        command = _command(source, made, target)
        try:
            ended = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
            failed = ended.returncode != 0
        except (OSError, subprocess.TimeoutExpired):
            failed = True
        if failed or not made.is_file():
            text = f"{target} was not made: {Path(command[0]).name} failed."
            raise FileError(text, code="F13", hint=f"{target.with_suffix('.html')}, which every browser prints")
        write_bytes(target, made.read_bytes())


def _command(source: Path, made: Path, target: Path) -> list[str]:
    """Return the command that makes a document of a page, by a program that is on the PATH; FileError F13."""
    pandoc = shutil.which("pandoc")
    if made.suffix == ".docx" and pandoc is not None:
        return [pandoc, "--from=html", "--to=docx", "--standalone", f"--output={made}", str(source)]
    if made.suffix == ".pdf":
        engine = next(filter(None, map(shutil.which, ENGINES)), None)
        if pandoc is not None and engine is not None:
            return [pandoc, "--from=html", "--standalone", f"--pdf-engine={engine}", f"--output={made}", str(source)]
        office = next(filter(None, map(shutil.which, OFFICES)), None)
        if office is not None:
            # a profile of its own, so that an open office does not take the work over
            profile = f"-env:UserInstallation={(source.parent / 'profile').as_uri()}"
            return [office, profile, "--headless", "--convert-to", "pdf", "--outdir", str(made.parent), str(source)]
    needed = "Pandoc" if made.suffix == ".docx" else "Pandoc with a PDF engine, or LibreOffice,"
    text = f"{target} needs {needed} on the PATH, and there is none."
    html = target.with_suffix(".html")
    raise FileError(text, code="F13", hint=f"install it, or save {html} and print or import that")
