"""Lets the two peers talk, each case in both directions, and says who lost what.

Runs inside the namespace that `interop/run` makes. A case passes when the subscriber has every
sample with the right content and the disposal; nothing is skipped, and there is no list of
expected failures.
"""

import itertools
import json
import subprocess
import sys

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


def start(peer, role, topic, options):
    return subprocess.Popen(
        [*PEERS[peer], role, "--topic", topic, *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )


def expect(process, word):
    line = process.stdout.readline().strip()
    if line != word:
        raise RuntimeError(f"said {line!r} instead of {word!r}")


def converse(number, publisher, subscriber, late, options):
    """Runs one case; returns the subscriber's own account."""
    topic = f"Interop{number}"
    processes = []
    try:
        if late:
            pub = start(publisher, "pub", topic, options)
            processes.append(pub)
            expect(pub, "written")
        sub = start(subscriber, "sub", topic, options)
        processes.append(sub)
        expect(sub, "subscribed")
        if not late:
            pub = start(publisher, "pub", topic, options)
            processes.append(pub)
            expect(pub, "written")
        account, _ = sub.communicate(timeout=LIMIT_S)
        return json.loads(account)
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
        samples = int(options[options.index("--samples") + 1])
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
