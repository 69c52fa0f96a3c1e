"""The examples run, and say what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    "name, lines",
    [
        ("hello.py", ["Quote(symbol='TICK', price=101.25)"]),
        ("market_data.py", ["AAA OPEN None bid 99.5 ask 100.5", "BBB is disposed"]),
        ("late_joiner.py", ["late: {'trader': 'bob', 'limit': 300}", "new: {'trader': 'bob', 'limit': 50}"]),
        ("request_reply.py", ["1 cost 101.25", "100 cost 10125.0", "unknown: TOCK"]),
        ("columns.py", ["rows: [400, 400, 200]", "AAA 1500 109.98", "BBB 1500 109.99"]),
        ("feed.py", ["Quote messages: 5 with Symbol, Bid, Size", "Halt messages: 1 with Symbol", "packets: 5", "AAA 100.03 22", "BBB 100.11 2"]),
        ("filter.py", ["dear:  Trade(symbol='EURGBP', price=1.2, size=150)", "other: Trade(symbol='EURUSD', price=1.1, size=250)"]),
    ],
)
def test_example(name, lines):
    result = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    for line in lines:
        assert line in result.stdout.splitlines(), result.stdout


@pytest.mark.parametrize("name", ["columns.py", "feed.py"])
def test_what_an_example_needs_is_said(name, tmp_path):
    (tmp_path / "polars.py").write_text("raise ImportError('not installed')")
    result = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=120, env={"PYTHONPATH": str(tmp_path)})
    assert (result.returncode, result.stderr) == (1, f"{name} needs polars: pip install polars\n")


def test_every_example_is_tried():
    tried = {mark.args[1][n][0] for mark in test_example.pytestmark for n in range(len(mark.args[1]))}
    assert tried == {path.name for path in EXAMPLES.glob("*.py")}
