"""Type checkers understand programs of this package."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def check(*arguments, cwd=HERE):
    command = [sys.executable, "-m", "mypy", "--no-color-output", "--no-error-summary", "--cache-dir=/dev/null", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd)


def test_mypy_finds_what_is_wrong_and_nothing_else():
    expected = []
    for number, line in enumerate((HERE / "typed.py").read_text().splitlines(), 1):
        if "# error: " in line:
            expected.append((number, line.split("# error: ")[1]))
    result = check("--strict", "typed.py")
    found = [line.split(":") for line in result.stdout.splitlines() if ": error:" in line]
    told = [(int(parts[1]), parts[-1].rsplit("[", 1)[1].rstrip("]")) for parts in found]
    assert told == expected, result.stdout + result.stderr


def test_the_examples_are_sound():
    result = check(*[path.name for path in sorted((HERE.parent / "examples").glob("*.py"))], cwd=HERE.parent / "examples")
    assert result.returncode == 0, result.stdout + result.stderr
