"""The implementations that take part, and how their shape programs are run."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILD = Path("target/interop")
FASTDDS = HERE / "fastdds_shape_main.cpp"


@dataclass(frozen=True)
class Peer:
    """A shape program; `build` makes it from `source` where that is newer. `representation` is what
    cases use that do not say any."""

    command: list
    representation: int = 2
    source: Path | None = None
    build: list | None = None

    def prepare(self):
        program = Path(self.command[0])
        if self.build is None:
            return
        if not program.exists() or program.stat().st_mtime < self.source.stat().st_mtime:
            program.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(self.build, check=True)


PEERS = {
    "tickwire": Peer(["target/release/tickwire_shape_main"]),
    # Eclipse Cyclone DDS 11.0.1, from PyPI.
    "cyclone": Peer([sys.executable, str(HERE / "cyclone_shape_main.py")]),
    # eProsima Fast DDS 2.9.1, from Debian 12. It knows XCDR1 alone.
    "fastdds": Peer(
        [str(BUILD / "fastdds_shape_main")], 1, FASTDDS,
        ["g++", "-std=c++17", "-O1", "-o", BUILD / "fastdds_shape_main", FASTDDS, "-lfastrtps"],
    ),
}


def peer(name):
    """A peer by its name, or any program that has the suite's command line by its path."""
    return PEERS.get(name) or Peer([name])
