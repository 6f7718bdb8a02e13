"""Commands `tacit keys`: make a party's private key in a file of mode 600, and print its public key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.command_examples import examples

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(
    help="A party's keys: the private one signs answers, the public one goes into the study.",
    epilog=examples("keys"),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command(epilog=examples("keys new"))
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The party; makes NAME.private, and never writes over.")],
    as_json: Json = False,
) -> None:
    """Make a private key that signs answers (mode 600), and print the public key for the study."""
    from tacit.release.signing import SUFFIX, new_key

    path = name if name.endswith(SUFFIX) else f"{name}{SUFFIX}"
    _print_key(new_key(path), path, f"made {path}: it stays here, with you alone.", as_json)


@app.command(epilog=examples("keys show"))
def show(
    path: Annotated[str, typer.Argument(metavar="NAME.private", help="A private key.")], as_json: Json = False
) -> None:
    """Print the public key that belongs to a private one."""
    from tacit.release.signing import signer

    _print_key(signer(path).public, path, f"{path} belongs to this public key.", as_json)


def _print_key(public: str, path: str, first: str, as_json: bool) -> None:
    """Print a public key, with the lines for the study and for the site file."""
    from tacit.cli.output import emit
    from tacit.release.signing import SUFFIX

    party = Path(path).name.removesuffix(SUFFIX)
    text = f'{first}\n\nFor the study, by a way on which nobody can change it:\n  [parties.{party}]\n  key = "{public}"'
    emit(f'{text}\n\nFor the site file:\n  [data]\n  key = "{path}"', {"private": path, "public": public}, as_json)
