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
    """A shape program; the commands of `build` make it from `sources` where one is newer.
    `representation` is what cases use that do not say any."""

    command: list
    representation: int = 2
    sources: tuple = ()
    build: tuple = ()

    def prepare(self):
        program = Path(self.command[0])
        newest = max((source.stat().st_mtime for source in self.sources), default=0)
        if self.build and (not program.exists() or program.stat().st_mtime < newest):
            program.parent.mkdir(parents=True, exist_ok=True)
            for command in self.build:
                subprocess.run(command, check=True)


def compiled(name, source, compiler, libraries, generate=(), representation=2):
    """A program of ours over a library with headers; `generate` makes more sources."""
    program = BUILD / f"{name}_shape_main"
    command = [*compiler, "-O1", "-I", HERE, "-I", BUILD, "-o", program, source, *libraries]
    sources = (source, HERE / "options.h", HERE / "shape.idl")
    return Peer([str(program)], representation, sources, (*generate, command))


PEERS = {
    "tickwire": Peer(["target/debug/tickwire_shape_main"]),
    # Eclipse Cyclone DDS 11.0.1, from PyPI.
    "cyclone": Peer([sys.executable, str(HERE / "cyclone_shape_main.py")]),
    # Eclipse Cyclone DDS 0.10.2, from Debian 12. Without type objects (-t): it knows no uint8 in those
    # of others, and dies of them.
    "cyclone0.10": compiled(
        "cyclone0.10", HERE / "cyclone_shape_main.c", ["gcc", "-std=gnu11"],
        [BUILD / "shape.c", "-lddsc"], [["idlc", "-t", "-o", BUILD, HERE / "shape.idl"]],
    ),
    # eProsima Fast DDS 2.9.1, from Debian 12. It knows XCDR1 alone.
    "fastdds": compiled(
        "fastdds", HERE / "fastdds_shape_main.cpp", ["g++", "-std=c++17"], ["-lfastrtps"],
        representation=1,
    ),
}

# Programs that are built elsewhere and given by their path; those who know XCDR1 alone.
XCDR1_ALONE = {"rustdds"}


def shown(name):
    """What tables and lists call a peer: programs are named VENDOR_shape_main and the like."""
    return Path(name).name.partition("_shape_main")[0]


def peer(name):
    """A peer by its name, or any program that has the suite's command line by its path."""
    return PEERS.get(name) or Peer([name], 1 if shown(name) in XCDR1_ALONE else 2)
