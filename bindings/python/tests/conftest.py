import faulthandler
import subprocess
import sys
from pathlib import Path

import pytest

import tickwire as tw

# A deadlock between the interpreter's lock and the engine's would hang a test for ever: tell where, and end.
faulthandler.dump_traceback_later(600, exit=True)


@pytest.fixture
def participant():
    with tw.Participant(domain=77) as participant:
        yield participant


@pytest.fixture
def other():
    """Another participant of the same domain."""
    with tw.Participant(domain=77) as participant:
        yield participant


@pytest.fixture
def pair(participant):
    """Makes a reliable writer and a reader of a topic that keep everything, and know each other."""

    def make(topic, writer={}, reader={}):
        keep = {"reliability": "reliable", "history": "keep_all"}
        made = participant.writer(topic, **{**keep, **writer}), participant.reader(topic, **{**keep, **reader})
        made[0].wait_for_matched(1, timeout=30)
        made[1].wait_for_matched(1, timeout=30)
        return made

    return make


def take(reader, count, timeout=30):
    """So many samples, in the order of their arrival."""
    samples = []
    while len(samples) < count:
        reader.wait_for_data(timeout)
        samples += reader.take()
    return samples


def run(program):
    """What comes of a program of its own, which finds the modules of the tests."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=Path(__file__).parent)
