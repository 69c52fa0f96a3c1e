"""Runs the cases of the OMG's interoperability suite and prints the league table.

    interop/run suite [--peer NAME|PROGRAM]... [--full] [CASE-WORD]...

Each case runs in a network namespace and with a /dev/shm of its own, so that many can run at once:
most of the time they wait. The short form looks at fewer samples of each case than the suite does.

A case that fails through the peer's fault stands in faults.toml. A case that stands there and passes
is an error, too, so that the list stays true. A case is unsupported if the peer says so; Tickwire has
to support them all.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cases import CASES
from peers import BUILD, HERE, PEERS, peer

NAMESPACE = """
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
ip link set lo multicast on
ip route add 224.0.0.0/4 dev lo
exec "$@"
"""
CASE_LIMIT_S = 600


@dataclass(frozen=True)
class Result:
    verdict: str
    detail: str = ""


def parse():
    parser = argparse.ArgumentParser(
        prog="interop/run suite", description="Runs the OMG's interoperability suite.",
        epilog="Example: interop/run suite --peer cyclone --full Durability Lifespan_0",
    )
    parser.add_argument("words", nargs="*", help="the cases whose name contains one of the words")
    parser.add_argument(
        "--peer", action="append",
        help=f"{', '.join(PEERS)} or the path of a shape_main (default: all of the former)",
    )
    parser.add_argument("--tickwire", help="another program than the release build")
    parser.add_argument("--full", action="store_true", help="as many samples as the suite looks at")
    parser.add_argument("--jobs", type=int, default=12, help="cases at once (default: 12)")
    parser.add_argument("--capture", action="store_true", help="record the packets with tshark")
    return parser.parse_args()


def directions(peers):
    for name in peers:
        if name == "tickwire":
            yield "tickwire", "tickwire"
        else:
            yield "tickwire", name
            yield name, "tickwire"


def run_case(case, publisher, subscriber, options):
    """What became of a case, as far as it can be said without the list of faults."""
    folder = BUILD / f"{shown(publisher)}-{shown(subscriber)}"
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        "unshare", "-nm", "sh", "-ec", NAMESPACE, "sh", sys.executable, HERE / "conversation.py",
        case.name, shlex.join(peer(publisher).command), shlex.join(peer(subscriber).command),
        str(min(peer(publisher).representation, peer(subscriber).representation)),
        *(["500", "15"] if options.full else ["50", "8"]),
    ]
    if options.capture:
        command.append(folder / f"{case.name}.pcapng")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CASE_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        return Result("failed", str(error))
    if done.returncode:
        return Result("failed", done.stderr.strip())
    account = json.loads(done.stdout)
    log = folder / f"{case.name}.log"
    log.write_text("\n\n".join(account["logs"]) + "\n")
    outcomes = account["outcomes"]
    if outcomes == case.expected:
        return Result("passed")
    names = [publisher] * len(case.publishers) + [subscriber] * len(case.subscribers)
    unable = {name for name, outcome in zip(names, outcomes) if outcome == "UNSUPPORTED"}
    if unable and "tickwire" not in unable:
        return Result("unsupported")
    expected = ", ".join(case.expected)
    return Result("failed", f"{', '.join(outcomes)} instead of {expected}; see {log}")


def judge(result, fault):
    """Compares a result with the list of faults."""
    if fault is None or result.verdict == "unsupported":
        return result
    if result.verdict == "failed":
        return Result("peer's fault", fault["reason"])
    if fault.get("sometimes"):
        return result
    return Result("failed", "passes, though it stands in faults.toml")


def run_direction(publisher, subscriber, cases, faults, options):
    """Runs the cases, and once more alone those that failed; prints what did not pass, and counts the
    verdicts."""
    listed = {
        name: fault
        for fault in faults
        if (fault["publisher"], fault["subscriber"]) == (publisher, subscriber)
        for name in fault["cases"]
    }
    counts = dict.fromkeys(["passed", "unsupported", "peer's fault", "failed"], 0)

    def run(case):
        return run_case(case, publisher, subscriber, options)

    with ThreadPoolExecutor(options.jobs) as pool:
        results = dict(zip(cases, pool.map(run, cases)))
    for case, result in results.items():
        fault = listed.get(case.name)
        first, result = result, judge(result, fault)
        if result.verdict == "failed" and not fault:
            # With so many at once a machine may be too slow for what a case expects of time.
            result = judge(run(case), fault)
            if result.verdict == "passed":
                say(publisher, subscriber, case, f"passed alone, first time {first.detail}")
        counts[result.verdict] += 1
        if result.verdict in ("peer's fault", "failed"):
            say(publisher, subscriber, case, f"{result.verdict}: {result.detail}")
    return counts


def say(publisher, subscriber, case, what):
    names = f"{shown(publisher):<12} {shown(subscriber):<12}"
    print(f"{names} {case.name:<21}{what}", flush=True)


def shown(name):
    """What the table calls a peer: the OMG's programs are named VENDOR_shape_main and the like."""
    return Path(name).name.partition("_shape_main")[0]


def main():
    options = parse()
    if options.tickwire:
        PEERS["tickwire"].command[:] = [options.tickwire]
    words = options.words
    cases = [case for case in CASES.values() if not words or any(word in case.name for word in words)]
    faults = tomllib.loads((HERE / "faults.toml").read_text()).get("fault", [])
    table, failed = [], 0
    for publisher, subscriber in directions(options.peer or PEERS):
        peer(publisher).prepare()
        peer(subscriber).prepare()
        start = time.monotonic()
        counts = run_direction(publisher, subscriber, cases, faults, options)
        failed += counts["failed"]
        names = [shown(publisher), shown(subscriber)]
        table.append([*names, *counts.values(), f"{time.monotonic() - start:.0f}"])
    heading = ["publisher", "subscriber", "passed", "unsupported", "peer's fault", "failed", "seconds"]
    for row in [heading, *table]:
        print(f"{row[0]:<12} {row[1]:<12}" + "".join(f"{cell:>13}" for cell in row[2:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
