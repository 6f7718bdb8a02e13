"""Ends of a command that are no answer and no TacitError: what is printed, and the exit code."""

from __future__ import annotations

from tacit.cli.output import say, unnamed

MACHINE, DEFECT, INTERRUPTED = 5, 70, 130


def failed(what: str, as_json: bool) -> int:
    """Print what failed of the machine and return the exit code."""
    text = f"{what}. If a charge was recorded, it stands."
    say(unnamed("InternalError", text), f"internal error: {text}", as_json)
    return MACHINE


def defect(as_json: bool) -> int:
    """Print that there is a defect and return the exit code."""
    text = "a defect of tacit. Nothing more is said, since it might be data."
    say(unnamed("InternalError", text), f"internal error: {text}", as_json)
    return DEFECT


def interrupted(as_json: bool) -> int:
    """Print that the command was interrupted and return the exit code."""
    text = "a charge that was recorded stands, and the same question resumes it."
    say(unnamed("Interrupted", text), f"interrupted; {text}", as_json)
    return INTERRUPTED
