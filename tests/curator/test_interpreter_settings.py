"""However the interpreter is set: rows raise no warning, fail no release and change no integer (law 7)."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "interpreter_settings.py"


def test_settings_change_no_answer_and_nothing_is_said() -> None:
    """Every kind of question on infinite, missing, subnormal and huge cells; `benchmarks/` has it with models."""
    command = [sys.executable, str(SCRIPT), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    said = "14 questions: 0 failures, 0 differ, 0 characters of standard error\n"
    assert (done.stdout, done.stderr, done.returncode) == (said, "", 0)
