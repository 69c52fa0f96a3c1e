"""The 105 cases of the OMG's interoperability suite, as facts: which programs run, and what each of
them is to come to. Every case is one row; where a whole matrix is tested, a loop writes the rows.

Publishers start first, one second apart, then the subscribers. What a program comes to is a word of
the suite, see `conversation.py`; `check` says how a subscriber judges its samples (`checks.py`).
"""

import itertools
from dataclasses import dataclass
from typing import Callable

import checks


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    publishers: list
    subscribers: list
    expected: list
    check: Callable = checks.arrived


CASES = {}
INCOMPATIBLE = ["INCOMPATIBLE_QOS"] * 2
NO_MATCH = ["READER_NOT_MATCHED", "DATA_NOT_RECEIVED"]


def case(group, publishers, subscribers, expected=None, check=checks.arrived):
    """Adds the next case of a group. One program may stand without a list around it."""
    publishers = publishers if isinstance(publishers, list) else [publishers]
    subscribers = subscribers if isinstance(subscribers, list) else [subscribers]
    number = sum(known.rpartition("_")[0] == group for known in CASES)
    name = f"{group}_{number}"
    expected = expected or ["OK"] * (len(publishers) + len(subscribers))
    CASES[name] = Case(name, publishers, subscribers, expected, check)


def offered_meets(levels, offered, requested):
    """The result of a matrix: a request is met by the same level or a higher one."""
    return None if levels.index(offered) >= levels.index(requested) else INCOMPATIBLE


case("Domain", "-d 0", "-d 0 -b")
case("Domain", "-d 0", "-d 1", NO_MATCH)
case("Domain", "-d 1", "-d 1 -b")

case("DataRepresentation", "-x 1", "-x 1")
case("DataRepresentation", "-x 1", "-x 2", INCOMPATIBLE)
case("DataRepresentation", "-x 2", "-x 1", INCOMPATIBLE)
case("DataRepresentation", "-x 2", "-x 2 -b")

case("Reliability", "-b -z 0", "-b", check=checks.grow)
case("Reliability", "-b", "-r", INCOMPATIBLE)
case("Reliability", "-r", "-b")
case("Reliability", "-r", "-r")
case("Reliability", "-r -k 0 -z 0", "-r -k 0", check=checks.no_losses)
case("Reliability", "-r -k 0 -z 0 --num-instances 4", "-r -k 0", check=checks.no_losses)

for instances in ["", " --num-instances 4"]:
    case(
        "History", "-r -k 5 -z 0 --write-period 50" + instances, "-r -k 5 --read-period 200",
        check=checks.no_losses,
    )

case("Ownership", "-s -1", "-s -1")
case("Ownership", "-s -1", "-s 1", INCOMPATIBLE)
case("Ownership", "-s 3", "-s -1", INCOMPATIBLE)
for strengths, second_color, heard in [
    ((3, 4, 1), "BLUE", "RECEIVING_FROM_ONE"),
    ((3, 4, 1), "RED", "RECEIVING_FROM_BOTH"),
    ((-1, -1, -1), "BLUE", "RECEIVING_FROM_BOTH"),
    ((-1, -1, -1), "RED", "RECEIVING_FROM_BOTH"),
]:
    case(
        "Ownership",
        [
            f"-s {strengths[0]} -r -k 0 -c BLUE -z 20",
            f"-s {strengths[1]} -r -k 0 -c {second_color} -z 30",
        ],
        f"-s {strengths[2]} -r -k 0",
        ["OK", "OK", heard], checks.sizes_heard,
    )

case("Deadline", "-f 3000", "-f 5000")
case("Deadline", "-f 5000", "-f 5000")
case("Deadline", "-f 7000", "-f 5000", INCOMPATIBLE)
case(
    "Deadline", "-f 2000 -w --write-period 3000", "-f 2000",
    ["DEADLINE_MISSED"] * 2, checks.deadline_missed,
)

case("Topic", "-t Circle", "-t Circle")
case("Topic", "-t Square", "-t Circle", NO_MATCH)

case(
    "Cft", ["-r -k 0 -c BLUE", "-r -k 0 -c RED"], "-r -k 0 -c RED",
    ["OK", "OK", "RECEIVING_FROM_ONE"], checks.colors_heard,
)
case(
    "Cft", "-r -k 0 -z 0 --size-modulo 50", "-r -k 0 --cft 'shapesize <= 20'",
    check=checks.at_most_20,
)

case("Partition", "-p p1", "-p p1")
case("Partition", "-p p1", "-p p2", NO_MATCH)
case(
    "Partition", ["-p p1 -c BLUE", "-p x1 -c RED"], "-p 'p*'",
    ["OK", "READER_NOT_MATCHED", "RECEIVING_FROM_ONE"], checks.colors_heard,
)

for offered, requested in itertools.product("vltp", repeat=2):
    case("Durability", f"-D {offered}", f"-D {requested}", offered_meets("vltp", offered, requested))
case("Durability", "-z 0 -r -k 0 -D v -w", "-r -k 0 -D v", check=checks.begins_late)
case("Durability", "-z 0 -r -k 0 -D l -w", "-r -k 0 -D l", check=checks.begins_with_the_first)

for instances in ["", " --num-instances 4"]:
    case(
        "TimeBasedFilter", "-r -k 0 -z 0 --write-period 100" + instances,
        "-r -k 0 --time-filter 1000", check=checks.every_tenth,
    )

final = "--num-iterations 200 --num-instances 4"
case("FinalInstanceState", f"{final} --final-instance-state u", "", check=checks.all_lose_writers)
case("FinalInstanceState", f"{final} --final-instance-state d", "", check=checks.all_disposed)
case("FinalInstanceState", final, "", check=checks.all_lose_writers)

case("LargeData", "-r -k 0 --additional-payload-size 100000", "-r -k 0", check=checks.large)

for reliability, depth in [("-r", " -k 0"), ("-b", "")]:
    for write_ms, lifespan_ms, read_ms in [(100, 250, 500), (400, 1000, 2000)]:
        for instances in ["", " --num-instances 4"]:
            case(
                "Lifespan",
                f"{reliability}{depth} -z 0 --write-period {write_ms} --lifespan {lifespan_ms}"
                + instances,
                f"{reliability} -k 0 --read-period {read_ms}",
                check=checks.two_or_three_at_once,
            )


def scopes(group, access):
    """Every scope offered against every one requested, and an offer without the access."""
    for offered, requested in itertools.product("itg", repeat=2):
        case(
            group, f"-r -k 0 {access} --access-scope {offered}",
            f"-r -k 0 {access} --access-scope {requested}", offered_meets("itg", offered, requested),
        )
    case(group, "-r -k 0 --access-scope t", f"-r -k 0 {access} --access-scope t", INCOMPATIBLE)


def durable_scopes(group, access):
    """The pairs of scopes that match, with TRANSIENT_LOCAL durability."""
    for offered, requested in ["ii", "ti", "tt", "gi", "gt", "gg"]:
        case(
            group, f"-r -k 0 -D l {access} --access-scope {offered}",
            f"-r -k 0 -D l {access} --access-scope {requested}",
        )


def ordered(durability):
    publisher = f"-r -k 0{durability} --ordered --access-scope t"
    subscriber = f"-r -k 0{durability} --ordered --access-scope %s --take-read --read-period 400"
    case(
        "OrderedAccess", f"{publisher} -z 0 --num-instances 4 --write-period 100",
        [subscriber % "i", subscriber % "t"],
        ["OK", "ORDERED_ACCESS_INSTANCE", "ORDERED_ACCESS_TOPIC"], checks.order,
    )


def coherent(durability):
    for scope in "itg":
        access = f"-r -k 0{durability} --coherent --access-scope {scope} --num-topics 3"
        case(
            "CoherentSets",
            f"{access} --num-instances 4 --coherent-sample-count 3 --write-period 100 -z 0",
            f"{access} --take-read --read-period 100", check=checks.whole_sets,
        )


scopes("OrderedAccess", "--ordered")
ordered("")
durable_scopes("OrderedAccess", "--ordered")
ordered(" -D l")

scopes("CoherentSets", "--coherent")
coherent("")
durable_scopes("CoherentSets", "--coherent")
coherent(" -D l")
