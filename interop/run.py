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
import tempfile
from decimal import Decimal

import cyclone_peer
from cyclonedds.idl.annotations import final

PEERS = {
    "tickwire": ["target/debug/tickwire-interop"],
    "cyclone": [sys.executable, "interop/cyclone_peer.py"],
}
TICKWIRE = "target/debug/tickwire"
FEEDS = {
    "simple": ["Quote", "New", "Change", "Remove", "Done"],
    "complex": ["MarketData", "QuoteRequest", "Done"],
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
        ["target/debug/tickwire", "topic", "echo", topic]
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


def plain(value):
    """A sample or decoded message without absent fields and with decimals as such."""
    if isinstance(value, list):
        return [plain(element) for element in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"mantissa", "exponent"}:
        return Decimal(value["mantissa"]).scaleb(value["exponent"])
    return {name: plain(field) for name, field in value.items() if field is not None}


def by_security(messages):
    """Messages, entries in the case of MarketData, by their key; order counts within a key only."""
    rows = {}
    for message in messages:
        for row in message.get("MDEntries", [message]):
            rows.setdefault(row.get("SecurityID", row.get("SecurityId")), []).append(row)
    return rows


def feed(kind, templates):
    """A Cyclone program that knows only topic names, at a feed handler; compared with the decoder's
    own account of the file."""
    with tempfile.TemporaryDirectory() as folder:
        data, xml = f"{folder}/feed.dat", f"{folder}/feed.xml"

        def run(*command):
            return subprocess.run(
                [TICKWIRE, *command], check=True, capture_output=True, text=True, timeout=LIMIT_S
            ).stdout

        run("feed", "generate", kind, "-n", "4000", "--out", data)
        learner = subprocess.Popen(
            [sys.executable, "interop/cyclone_learner.py", *templates],
            stdout=subprocess.PIPE, text=True,
        )
        try:
            run("feed", "run", "--templates", xml, "--file", data, "--no-echo", "--map", "keyed")
            expect(learner, "subscribed")
            samples, _ = learner.communicate(timeout=LIMIT_S)
        finally:
            learner.kill()
            learner.wait()
        decoded = {name: [] for name in templates}
        for line in run("fast", "decode", data, "--templates", xml, "-o", "jsonl").splitlines():
            message = json.loads(line, parse_float=Decimal)
            decoded[message.pop("template")].append(message)
    for name, received in json.loads(samples).items():
        received = plain(received)
        if name == "QuoteRequest":
            # The security of its first symbol stands beside the fields as the key.
            for sample in received:
                if sample.pop("SecurityID") != sample["RelatedSym"][0]["SecurityID"]:
                    return f"{name}: wrong key"
        if not received or by_security(received) != by_security(decoded[name]):
            return f"{name}: {len(received)} samples do not say what the decoder says"
    return None


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
    for kind, templates in FEEDS.items():
        name = f"{kind} feed, type unknown"
        if words and not any(word in f"tickwire cyclone {name}" for word in words):
            continue
        try:
            problem = feed(kind, templates)
        except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
            problem = error
        failed += problem is not None
        verdict = "passed" if problem is None else f"FAILED: {problem}"
        print(f"{'tickwire':<10} {'cyclone':<10} {name:<26} {verdict}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
