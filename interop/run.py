"""Lets the two peers talk, each case in both directions, and says who lost what.

Runs inside the namespace that `interop/run` makes. A case passes when the subscriber has every
sample with the right content and the disposal; nothing is skipped, and there is no list of
expected failures. `tickwire topic echo` is a subscriber, too: it knows nothing beforehand.
"""

import dataclasses
import itertools
import json
import subprocess
import sys

import cyclone_peer
from cyclonedds.idl.annotations import final

PEERS = {
    "tickwire": ["target/release/tickwire-interop"],
    "cyclone": [sys.executable, "interop/cyclone_peer.py"],
}
LIMIT_S = 60


def cases():
    """Name, publisher, subscriber, whether the subscriber comes late, and the options of both."""
    for publisher, subscriber in [("tickwire", "cyclone"), ("cyclone", "tickwire"), ("tickwire", "tickwire")]:
        for kind, durability in itertools.product(
            ["final", "appendable", "mutable"], ["volatile", "transient-local"]
        ):
            late = durability == "transient-local"
            options = ["--type", kind, "--durability", durability, "--samples", "1000"]
            yield f"{kind} {'late joiner' if late else 'live'}", publisher, subscriber, late, options
        large = ["--samples", "5", "--keys", "2", "--payload", "1000000"]
        yield "1 MB samples live", publisher, subscriber, False, large
        yield (
            "1 MB samples late joiner", publisher, subscriber, True,
            [*large, "--durability", "transient-local"],
        )
    for kind, durability in itertools.product(
        ["final", "appendable", "mutable"], ["volatile", "transient-local"]
    ):
        late = durability == "transient-local"
        options = ["--type", kind, "--durability", durability, "--samples", "100"]
        yield f"{kind} {'late joiner' if late else 'live'}", "cyclone", "echo", late, options


def samples_of(options):
    return int(options[options.index("--samples") + 1])


def start(peer, role, topic, options):
    return subprocess.Popen(
        [*PEERS[peer], role, "--topic", topic, *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )


def start_echo(topic, samples):
    """Starts `tickwire topic echo` for that many samples and the disposal."""
    return subprocess.Popen(
        ["target/release/tickwire", "topic", "echo", topic]
        + ["--count", str(samples + 1), "--timeout", f"{LIMIT_S // 2}s"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )


def account_of_echo(output, samples):
    """What `tickwire topic echo` printed, judged as a subscriber judges it."""
    kinds = cyclone_peer.types(final)

    def plain(value):
        if dataclasses.is_dataclass(value):
            members = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
            return {name: plain(member) for name, member in members if member is not None}
        return [plain(element) for element in value] if isinstance(value, (list, bytes)) else value

    expected = [plain(cyclone_peer.expected(kinds, index, 10, 0)) for index in range(samples)]
    lines = [json.loads(line) for line in output.splitlines()]
    disposed = lines.count({"disposed": {"security_id": 1000}})
    received = sum(line == sample for line, sample in zip(lines, expected))
    return {"received": received, "wrong": len(lines) - received - disposed, "disposed": disposed}


def expect(process, word):
    line = process.stdout.readline().strip()
    if line != word:
        raise RuntimeError(f"said {line!r} instead of {word!r}")


def converse(number, publisher, subscriber, late, options):
    """Runs one case; returns the subscriber's own account."""
    topic = f"Interop{number}"
    samples = samples_of(options)
    processes = []
    try:
        if late:
            pub = start(publisher, "pub", topic, options)
            processes.append(pub)
            expect(pub, "written")
        if subscriber == "echo":
            sub = start_echo(topic, samples)
            processes.append(sub)
        else:
            sub = start(subscriber, "sub", topic, options)
            processes.append(sub)
            expect(sub, "subscribed")
        if not late:
            pub = start(publisher, "pub", topic, options)
            processes.append(pub)
            expect(pub, "written")
        account, _ = sub.communicate(timeout=LIMIT_S)
        return account_of_echo(account, samples) if subscriber == "echo" else json.loads(account)
    finally:
        for process in processes:
            if process.stdin and not process.stdin.closed:
                process.stdin.close()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def main():
    words = sys.argv[1:]
    failed = 0
    print(f"{'publisher':<10} {'subscriber':<10} {'case':<26} result")
    for number, (name, publisher, subscriber, late, options) in enumerate(cases()):
        full_name = f"{publisher} {subscriber} {name}"
        if words and not any(word in full_name for word in words):
            continue
        samples = samples_of(options)
        try:
            account = converse(number, publisher, subscriber, late, options)
            good = account == {"received": samples, "wrong": 0, "disposed": 1}
            verdict = "passed" if good else f"FAILED: {account} of {samples}"
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
            verdict = f"FAILED: {error}"
        failed += not verdict.startswith("passed")
        print(f"{publisher:<10} {subscriber:<10} {name:<26} {verdict}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
