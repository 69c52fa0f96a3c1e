"""One case between two peers, in the network namespace that it is started in.

    conversation.py CASE PUBLISHER SUBSCRIBER REPRESENTATION SAMPLES SILENCE_S [CAPTURE]

PUBLISHER and SUBSCRIBER are commands; REPRESENTATION is for cases that say none. Prints a JSON
object: the word that each program came to, as the suite has them, and its output.
"""

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import checks
from cases import CASES
from program import Program, Unsupported

SIZE = r"\[\d+\]"


class Terms:
    """What holds for all programs: the default representation, how many samples checks look at, and
    how long a program may be silent."""

    def __init__(self, representation, samples, silence_s):
        self.representation = representation
        self.samples = samples
        self.silence_s = silence_s


def follow_publisher(program, arguments, terms):
    def expect(*words):
        return program.expect(*words, silence_s=terms.silence_s)[0]

    if not expect("Create topic:"):
        return "TOPIC_NOT_CREATED"
    if not expect("Create writer for topic"):
        return "WRITER_NOT_CREATED"
    matched, incompatible = r"on_publication_matched\(\)", "on_offered_incompatible_qos"
    match expect(matched, incompatible):
        case None:
            return "READER_NOT_MATCHED"
        case word if word == incompatible:
            return "INCOMPATIBLE_QOS"
    if "-w" in arguments.split():
        for _ in range(terms.samples):
            match expect(SIZE, r"on_offered_deadline_missed\(\)"):
                case None:
                    return "DATA_NOT_SENT"
                case word if word != SIZE:
                    return "DEADLINE_MISSED"
    return "OK"


def follow_subscriber(program, check, terms):
    def expect(*words):
        return program.expect(*words, silence_s=terms.silence_s)

    if not expect("Create topic:")[0]:
        return "TOPIC_NOT_CREATED"
    failed = "failed to create content filtered topic"
    match expect("Create reader for topic:", failed)[0]:
        case None:
            return "READER_NOT_CREATED"
        case word if word == failed:
            return "FILTER_NOT_CREATED"
    incompatible = "on_requested_incompatible_qos"
    word, line = expect(SIZE, incompatible, "on_requested_deadline_missed")
    if word is None:
        return "DATA_NOT_RECEIVED"
    if word != SIZE:
        return "INCOMPATIBLE_QOS" if word == incompatible else "DEADLINE_MISSED"
    events = itertools.chain([checks.event(line)], later_events(program, terms))
    return check(events, terms.samples)


def later_events(program, terms):
    """Ends when nothing that counts has come for too long."""
    until = time.monotonic() + terms.silence_s
    while (line := program.next_line(until)) is not None:
        if event := checks.event(line):
            yield event
            if not isinstance(event, checks.Round):
                until = time.monotonic() + terms.silence_s


def outcome(follow, *arguments):
    """What a program came to, also where it ends before its time."""
    try:
        return follow(*arguments)
    except Unsupported:
        return "UNSUPPORTED"
    except checks.Ended:
        return "ENDED"


def with_defaults(role, arguments, representation):
    topic = "" if "-t " in arguments else "-t Square"
    representation = "" if "-x " in arguments else f"-x {representation}"
    return re.sub(" +", " ", f"{role} {topic} {arguments} {representation}")


def converse(case, publisher, subscriber, terms):
    programs, outcomes = [], []

    def is_hopeless(future):
        return future.done() and future.result() == "UNSUPPORTED"

    def give_up(future):
        """Ends the others, which would wait in vain, where a program cannot do what the case wants."""
        if is_hopeless(future):
            for program in programs:
                program.process.send_signal(signal.SIGINT)

    with ThreadPoolExecutor() as pool:
        for arguments in case.publishers:
            arguments = with_defaults("-P", arguments, terms.representation)
            program = Program(shlex.split(publisher), arguments)
            programs.append(program)
            outcomes.append(pool.submit(outcome, follow_publisher, program, arguments, terms))
            outcomes[-1].add_done_callback(give_up)
            program.is_ready.wait(terms.silence_s)
            time.sleep(1)
        for arguments in case.subscribers:
            if any(map(is_hopeless, outcomes)):
                break
            arguments = with_defaults("-S", arguments, terms.representation)
            program = Program(shlex.split(subscriber), arguments)
            programs.append(program)
            outcomes.append(pool.submit(outcome, follow_subscriber, program, case.check, terms))
            outcomes[-1].add_done_callback(give_up)
        outcomes = [outcome.result() for outcome in outcomes]
    for number, program in enumerate(programs):
        if not program.stop():
            outcomes[number] = "NOT_STOPPED"
    return {"outcomes": outcomes, "logs": ["\n".join(program.log) for program in programs]}


def main():
    name, publisher, subscriber, representation, samples, silence_s, *capture = sys.argv[1:]
    terms = Terms(int(representation), int(samples), float(silence_s))
    if capture:
        tshark = subprocess.Popen(
            ["tshark", "-q", "-i", "lo", "-w", *capture], stderr=subprocess.PIPE, text=True
        )
        tshark.stderr.readline()  # It says that it captures.
    print(json.dumps(converse(CASES[name], publisher, subscriber, terms)))
    if capture:
        tshark.terminate()
        tshark.wait()
    # A program that cannot be killed must not hold this one up.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
