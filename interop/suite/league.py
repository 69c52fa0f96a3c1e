"""Runs the cases of the OMG's interoperability suite and prints the league table.

    interop/run suite [--peer NAME|PROGRAM]... [--with NAME|PROGRAM] [--full] [CASE-WORD]...

Each case runs in a network namespace and with a /dev/shm of its own, so that many can run at once:
most of the time they wait. The short form looks at fewer samples of each case than the suite does.

A case that fails through the peer's fault stands in faults.toml, with the words that its programs come
to. It counts as failed if it comes to others, which may be a fault of ours, and if it passes, so that
the list stays true. A case is unsupported if the peer's program says so; Tickwire has to support them
all.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from cases import CASES
from peers import BUILD, HERE, PEERS, peer, shown

NAMESPACE = """
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
ip link set lo multicast on
ip route add 224.0.0.0/4 dev lo
# What a case leaves behind is not for the next one.
export TICKWIRE_STORE=/dev/shm/tickwire
exec "$@"
"""
CASE_LIMIT_S = 600
FAULTS = tomllib.loads((HERE / "faults.toml").read_text())["entry"]


@dataclass(frozen=True)
class Result:
    verdict: str
    detail: str = ""
    outcomes: tuple = ()


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
    parser.add_argument(
        "--with", dest="partner", default="tickwire", metavar="PEER",
        help="who talks to the peers (default: tickwire); a peer with itself shows whose fault a case is",
    )
    parser.add_argument("--tickwire", help="another program than the one in target/debug")
    parser.add_argument("--full", action="store_true", help="as many samples as the suite looks at")
    parser.add_argument("--jobs", type=int, default=20, help="cases at once (default: 20)")
    parser.add_argument("--capture", action="store_true", help="record the packets with tshark")
    return parser.parse_args()


def directions(peers, partner):
    for name in peers:
        yield partner, name
        if name != partner:
            yield name, partner


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
    detail = f"{', '.join(outcomes)} instead of {expected}; see {log}"
    return Result("failed", detail, tuple(outcomes))


def faults(publisher, subscriber):
    """The cases between two peers that need not pass, by name."""
    pair = (shown(publisher), shown(subscriber))
    mine = [fault for fault in FAULTS if (fault["publisher"], fault["subscriber"]) == pair]
    return {name: fault for fault in mine for name in fault["cases"]}


def judge(result, fault):
    """Compares a result with what the list says of the case."""
    if fault is None or result.verdict == "unsupported":
        return result
    if result.verdict == "passed":
        if fault.get("sometimes"):
            return result
        return Result("failed", "passes, though it stands in faults.toml")
    if list(result.outcomes) in fault["outcomes"]:
        return Result("peer's fault", fault["reason"])
    return Result("failed", f"not as listed: {result.detail}")


def sort_out(publisher, subscriber, results, options):
    """Gives every case its verdict, runs once more alone those that failed, prints what did not pass,
    and counts the verdicts."""
    listed = faults(publisher, subscriber)
    counts = dict.fromkeys(["passed", "unsupported", "peer's fault", "failed"], 0)
    for case, result in results.items():
        fault = listed.get(case.name)
        result = judge(result, fault)
        if result.verdict == "failed":
            # With so many at once a machine may be too slow for what a case expects of time.
            again = run_case(case, publisher, subscriber, options)
            first, result = result, judge(again, fault)
            if result.verdict != "failed":
                say(publisher, subscriber, case, f"{result.verdict} alone, first time {first.detail}")
        counts[result.verdict] += 1
        if result.verdict in ("peer's fault", "failed"):
            say(publisher, subscriber, case, f"{result.verdict}: {result.detail}")
    return counts


def say(publisher, subscriber, case, what):
    names = f"{shown(publisher):<12} {shown(subscriber):<12}"
    print(f"{names} {case.name:<21}{what}", flush=True)


def main():
    options = parse()
    if options.tickwire:
        PEERS["tickwire"].command[:] = [options.tickwire]
    words = options.words
    cases = [case for case in CASES.values() if not words or any(word in case.name for word in words)]
    pairs = list(directions(options.peer or PEERS, options.partner))
    for name in {name for pair in pairs for name in pair}:
        peer(name).prepare()
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = {
            pair: {case: pool.submit(run_case, case, *pair, options) for case in cases} for pair in pairs
        }
    table, failed = [], 0
    for pair, futures in runs.items():
        results = {case: future.result() for case, future in futures.items()}
        counts = sort_out(*pair, results, options)
        failed += counts["failed"]
        table.append([*map(shown, pair), *counts.values()])
    heading = ["publisher", "subscriber", "passed", "unsupported", "peer's fault", "failed"]
    for row in [heading, *table]:
        print(f"{row[0]:<12} {row[1]:<12}" + "".join(f"{cell:>13}" for cell in row[2:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
