"""Starts programs that write and programs that read the topics of `matrix.idl`, each in a language, and compares.

Each program is `write TOPICS NAME READERS REPRESENTATION` or `read TOPICS NAMES`, with lists separated by commas. A
writer makes a topic `TOPIC_NAME` of each, waits for so many readers, and writes samples 0 to 3, whose values all programs
know (`values.py` says them shortest); of some it disposes of an instance then (`ENDING`). It ends when its input does. A reader
of each topic of each name compares what comes with what it would have written itself, and says `TOPIC NAME ok`, or what
is not equal.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path

import tickwire

HERE = Path(__file__).parent
OUT = Path(os.environ["OUT"])
PROGRAMS = {
    "rust": [os.environ["RUST"]],
    "c": [OUT / "matrix_c"],
    "cpp": [OUT / "matrix_cpp"],
    "python": [sys.executable, HERE / "matrix_python.py"],
    "csharp": ["mono", OUT / "matrix_csharp.exe"],
    "cyclone_c": [OUT / "matrix_cyclone"],
    "cyclone_python": [sys.executable, HERE / "cyclone_python.py"],
}
LANGUAGES = ["rust", "c", "cpp", "python", "csharp"]

#: Programs that serve and call an interface: `services.py` says how.
SERVICES = {
    "rust": [os.environ["RUST"] + "-services"],
    "c": [OUT / "services_c"],
    "cpp": [OUT / "services_cpp"],
    "python": [sys.executable, HERE / "services.py"],
    "csharp": ["mono", OUT / "services_csharp.exe"],
}

#: The topics, each of which has some features of IDL.
TOPICS = {
    "Numbers": "every kind of number, boolean, octet, char; final",
    "Texts": "string, string<N>; appendable",
    "Wides": "wstring, wstring<N>, wchar, sequence<wstring>",
    "Named": "enum, @value, @bit_bound, @default_literal, bitmask, typedef, const",
    "Masks": "bitmasks of 16, 32 and 64 bits, sequence of them",
    "Aliases": "typedefs of arrays, of arrays of them, of sequences of them",
    "Choices": "unions by long and enum; default; appendable, final",
    "Letters": "unions by char, and without a member",
    "Mutables": "mutable unions, by boolean; @id of their members",
    "Collections": "sequences of all kinds, bounded, in each other; arrays of one and two dimensions, of structs, strings, sequences",
    "Maps": "maps by string, long, short, enum and octet, bounded, of structs, sequences and octets, bounded, too",
    "Codes": "unions by octet and wchar",
    "Absent": "@optional, @external, both, @default",
    "Derived": "inheritance",
    "DerivedMutable": "inheritance of mutable types, @id in base and derived, @range",
    "DerivedFinal": "inheritance of final types, @range",
    "Keyed": "@key, of several members, in a nested struct; an instance that is disposed of",
    "Flowing": "mutable, @id, @must_understand",
    "Hashed": "@autoid(HASH), @hashid",
    "Tree": "types that contain themselves",
    "Bitsets": "bitset, inheritance of bitsets, bits without a name",
    "Sides": "@key of a discriminator, of a union that is a key; an instance that is disposed of",
    "Words": "names that languages have another meaning for, of types, members, cases and literals",
}

#: What languages refuse, by its name: it has no type there.
REFUSED = {
    "interface": ("interface I { long f(); };", set()),
    "exception": ("exception E { long a; };", set()),
    "long double": ("struct S { long double a; };", set(LANGUAGES)),
    "any": ("struct S { any a; };", set(LANGUAGES)),
    "valuetype": ("valuetype V { public long a; };", set(LANGUAGES)),
    "fixed": ("struct S { fixed<5, 2> a; };", set(LANGUAGES)),
}

#: Topics that a peer does not have, with the reason.
PEER_LACKS = {
    "cyclone_c": {
        "Wides": "idlc 0.10 has neither wchar nor wstring",
        "Mutables": "idlc 0.10: mutable unions are not supported yet",
        "Maps": "idlc 0.10 has no maps",
        "Codes": "idlc 0.10 has no wchar",
        "Tree": "idlc 0.10 has no types that contain themselves",
        "Bitsets": "idlc 0.10 has no bitsets",
        "Sides": "idlc 0.10: using union type as part of the key is currently unsupported",
        "Words": "idlc 0.10 writes members that C has as keywords as they are",
    },
    "cyclone_python": {
        "Wides": "the package has neither wchar nor wstring",
        "Masks": "the package has no bits above the 32nd",
        "Letters": "the package cannot describe a union by char",
        "Mutables": "Cyclone DDS has no mutable unions",
        "Maps": "the package has no maps",
        "Codes": "the package has no wchar",
        "Tree": "the package has no types that contain themselves",
        "Bitsets": "the package has no bitsets",
        "Sides": "Cyclone DDS has no unions as keys",
        "Words": "a class of the package has no member that is called by a keyword",
    },
}


def main():
    failures = refusals()
    for representation in ("xcdr1", "xcdr2"):
        failures += converse(LANGUAGES, LANGUAGES, TOPICS, representation)
    for peer, lacks in PEER_LACKS.items():
        topics = [topic for topic in TOPICS if topic not in lacks]
        failures += converse(LANGUAGES, [peer], topics, "xcdr2")
        failures += converse([peer], LANGUAGES, topics, "xcdr2")
        for topic, reason in lacks.items():
            print(f"not with {peer}: {topic}: {reason}")
    failures += call()
    if failures:
        sys.exit("\n".join(failures))
    print("all values were equal")


def converse(writers, readers, topics, representation):
    """Runs so many writers and readers at once; returns what went wrong."""
    # Peers write final types in XCDR1.
    accepted = [representation] if set(writers) <= set(LANGUAGES) else ["xcdr2", "xcdr1"]
    qos = f"""
        [profiles.matrix.writer]
        reliability = "reliable"
        history.kind = "keep_all"
        representation = ["{representation}"]
        [profiles.matrix.reader]
        reliability = "reliable"
        history.kind = "keep_all"
        representation = {json.dumps(accepted)}
    """
    names = ",".join(topics)
    failures = defaultdict(list)
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(qos)
        file.flush()
        environment = {**os.environ, "TICKWIRE_QOS_FILE": file.name}
        start = lambda name, *arguments: subprocess.Popen(  # noqa: E731
            [*PROGRAMS[name], *arguments], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        reading = {name: start(name, "read", names, ",".join(writers)) for name in readers}
        writing = {name: start(name, "write", names, name, str(len(readers)), representation) for name in writers}
        deadline = threading.Timer(PATIENCE, end, [[*reading.values(), *writing.values()]])
        deadline.start()
        for reader, process in reading.items():
            said = process.communicate()[0].splitlines()
            for topic in topics:
                for writer in writers:
                    line = next((line for line in said if line.startswith(f"{topic} {writer} ")), "nothing was said")
                    verdict = line.removeprefix(f"{topic} {writer} ")
                    if verdict != "ok":
                        failures[f"{writer} -> {reader}, {representation}: {verdict}"].append(topic)
            if process.returncode:
                failures[f"{reader} reads: {process.returncode}"] = topics
        for writer, process in writing.items():
            if process.communicate() and process.returncode:
                failures[f"{writer} writes: {process.returncode}"] = topics
        deadline.cancel()
    pairs = len(writers) * len(readers)
    what = f"{pairs} pairs of {'/'.join(writers)} -> {'/'.join(readers)}, {len(topics)} topics, {representation}"
    print(f"{what}: {'FAILED' if failures else 'ok'}", flush=True)
    return [f"{what}: {', '.join(topics)}" for what, topics in failures.items()]


def call():
    """Has a client in each language call a service in each; returns what went wrong."""
    names = ",".join(SERVICES)
    start = lambda name, *arguments: subprocess.Popen(  # noqa: E731
        [*SERVICES[name], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    failures = []
    serving = {name: start(name, "serve", name) for name in SERVICES}
    calling = {name: start(name, "call", names) for name in SERVICES}
    deadline = threading.Timer(CALL_PATIENCE, end, [[*serving.values(), *calling.values()]])
    deadline.start()
    for client, process in calling.items():
        said = process.communicate()[0].splitlines()
        for service in SERVICES:
            line = next((line for line in said if line.startswith(f"{service} ")), "nothing was said")
            verdict = line.removeprefix(f"{service} ")
            if verdict != "ok":
                failures.append(f"{client} calls {service}: {verdict}")
        if process.returncode:
            failures.append(f"{client} calls: {process.returncode}")
    for service, process in serving.items():
        if process.communicate() and process.returncode:
            failures.append(f"{service} serves: {process.returncode}")
    deadline.cancel()
    print(f"clients and services in {'/'.join(SERVICES)}: {'FAILED' if failures else 'ok'}", flush=True)
    return failures


def end(processes):
    """Ends those that are left, which then have a status that is not 0."""
    for process in processes:
        process.kill()


def refusals():
    """What is refused, is refused by its name, and a language that has it is not left out."""
    failures = []
    for feature, (idl, languages) in REFUSED.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "refused.idl"
            file.write_text(idl)
            for language in LANGUAGES:
                error = refusal(language, file)
                if bool(error) != (language in languages):
                    failures.append(f"{feature} in {language}: {error or 'is not refused'}")
                elif error and feature not in error.splitlines()[0]:
                    failures.append(f"{feature} in {language} is refused by another name: {error}")
    return failures


def refusal(language, file):
    """Why a language has not what a file defines first; or nothing."""
    if language == "python":
        try:
            getattr(tickwire.idl(file), file.read_text().split()[1])
            return None
        except (tickwire.Error, AttributeError) as error:
            return str(error)
    command = [os.environ["TICKWIRE"], "idl", "gen", "--lang", language, file, "--out", file.parent]
    made = subprocess.run(command, capture_output=True, text=True)
    return made.stderr if made.returncode else None


#: Seconds that a conversation may take; programs wait in vain for 10 at most, once.
PATIENCE = 30
#: The same where each waits for all, 20 at most for each.
CALL_PATIENCE = 100

if __name__ == "__main__":
    main()
