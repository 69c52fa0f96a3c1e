"""A shape program of the OMG's interoperability suite that speaks through Eclipse Cyclone DDS.

Command line and lines of output are those of `tickwire_shape_main`. Cyclone DDS has no PRESENTATION,
and no SQL filters: such options are answered by "not supported".
"""

import argparse
import signal
import sys
import threading
from dataclasses import dataclass

from cyclonedds.core import InstanceState, Listener, Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import appendable, key
from cyclonedds.idl.types import bounded_str, int32, sequence, uint8
from cyclonedds.internal import InvalidSample
from cyclonedds.pub import DataWriter, Publisher
from cyclonedds.sub import DataReader, Subscriber
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
@appendable
class ShapeType(IdlStruct, typename="ShapeType"):
    color: bounded_str[128]
    key("color")
    x: int32
    y: int32
    shapesize: int32
    additional_payload_size: sequence[uint8]


def say(line):
    print(line, flush=True)


class Report(Listener):
    """Says what happens to a writer or a reader of a topic."""

    def __init__(self, topic):
        self.of_topic = f"topic: '{topic.name}'  type: '{topic.typename}'"
        super().__init__()

    def say(self, event, what):
        say(f"{event}() {self.of_topic} : {what}")

    def on_publication_matched(self, writer, status):
        self.say("on_publication_matched", f"matched readers {status.current_count}")

    def on_subscription_matched(self, reader, status):
        self.say("on_subscription_matched", f"matched writers {status.current_count}")

    def on_offered_incompatible_qos(self, writer, status):
        self.say("on_offered_incompatible_qos", status.last_policy_id)

    def on_requested_incompatible_qos(self, reader, status):
        self.say("on_requested_incompatible_qos", status.last_policy_id)

    def on_offered_deadline_missed(self, writer, status):
        self.say("on_offered_deadline_missed", f"(total = {status.total_count})")

    def on_requested_deadline_missed(self, reader, status):
        self.say("on_requested_deadline_missed", f"(total = {status.total_count})")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    role = parser.add_mutually_exclusive_group(required=True)
    role.add_argument("-P", dest="publish", action="store_true")
    role.add_argument("-S", dest="subscribe", action="store_true")
    parser.add_argument("-d", dest="domain", type=int, default=0)
    parser.add_argument("-b", dest="reliable", action="store_false")
    parser.add_argument("-r", dest="reliable", action="store_true", default=True)
    parser.add_argument("-k", dest="depth", type=int)
    parser.add_argument("-f", dest="deadline", type=int, default=0)
    parser.add_argument("-s", dest="strength", type=int, default=-1)
    parser.add_argument("-t", dest="topic", required=True)
    parser.add_argument("-c", dest="color")
    parser.add_argument("-p", dest="partition")
    parser.add_argument("-D", dest="durability", choices="vltp", default="v")
    parser.add_argument("-x", dest="representation", choices="12", default="1")
    parser.add_argument("-w", dest="print_written", action="store_true")
    parser.add_argument("-z", dest="shapesize", type=int, default=20)
    parser.add_argument("-R", dest="use_read", action="store_true")
    parser.add_argument("--access-scope", choices="itg")
    for flag in ["coherent", "ordered", "take-read"]:
        parser.add_argument(f"--{flag}", action="store_true")
    for name, default in [
        ("write-period", 33), ("read-period", 100), ("time-filter", 0), ("lifespan", 0),
        ("num-iterations", None), ("num-instances", 1), ("num-topics", 1),
        ("coherent-sample-count", 0), ("additional-payload-size", 0), ("size-modulo", None),
    ]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--final-instance-state", choices="ud")
    parser.add_argument("--cft")
    return parser.parse_args()


def group_qos(options):
    return Qos(*([Policy.Partition([options.partition])] if options.partition else []))


def endpoint_qos(options):
    """The policies that writers and readers have in common."""
    durability = {
        "v": Policy.Durability.Volatile,
        "l": Policy.Durability.TransientLocal,
        "t": Policy.Durability.Transient,
        "p": Policy.Durability.Persistent,
    }
    policies = [
        durability[options.durability],
        Policy.DataRepresentation(
            use_cdrv0_representation=options.representation == "1",
            use_xcdrv2_representation=options.representation == "2",
        ),
    ]
    if options.reliable:
        policies.append(Policy.Reliability.Reliable(duration(milliseconds=100)))
    else:
        policies.append(Policy.Reliability.BestEffort)
    if options.depth is not None:
        depth = options.depth
        policies.append(Policy.History.KeepLast(depth) if depth else Policy.History.KeepAll)
    if options.deadline:
        policies.append(Policy.Deadline(duration(milliseconds=options.deadline)))
    if options.strength >= 0:
        policies.append(Policy.Ownership.Exclusive)
    return policies


def writer_qos(options):
    # The program's end is to leave instances without writers, not disposed of.
    policies = [Policy.WriterDataLifecycle(autodispose=False)]
    if options.strength >= 0:
        policies.append(Policy.OwnershipStrength(options.strength))
    if options.lifespan:
        policies.append(Policy.Lifespan(duration(milliseconds=options.lifespan)))
    if options.durability != "v":
        history = Policy.History.KeepAll if options.depth == 0 else Policy.History.KeepLast(options.depth or 1)
        policies.append(Policy.DurabilityService(0, history, -1, -1, -1))
    return Qos(*endpoint_qos(options), *policies)


def reader_qos(options):
    policies = []
    if options.time_filter:
        policies.append(Policy.TimeBasedFilter(duration(milliseconds=options.time_filter)))
    return Qos(*endpoint_qos(options), *policies)


def numbered(name, count):
    return [f"{name}{number or ''}" for number in range(count)]


def line(topic, shape):
    payload = shape.additional_payload_size
    last = f" {{{payload[-1]}}}" if payload else ""
    return f"{topic:<10} {shape.color:<10} {shape.x:03} {shape.y:03} [{shape.shapesize}]{last}"


def publish(options, participant, topics, end):
    publisher = Publisher(participant, qos=group_qos(options))
    color = options.color or "BLUE"
    writers = []
    for topic in topics:
        say(f"Create writer for topic: {topic.name} color: {color}")
        writers.append(DataWriter(publisher, topic, qos=writer_qos(options), listener=Report(topic)))
    shapes = [
        ShapeType(name, 0, 0, options.shapesize, bytes([255]) * options.additional_payload_size)
        for name in numbered(color, options.num_instances)
    ]
    iteration = 0
    while iteration != options.num_iterations and not end.is_set():
        iteration += 1
        for shape in shapes:
            shape.x, shape.y = iteration * 3 % 240, iteration * 5 % 270
            if options.shapesize == 0:
                shape.shapesize = shape.shapesize % (options.size_modulo or 1 << 31) + 1
        for writer in writers:
            for shape in shapes:
                writer.write(shape)
                if options.print_written:
                    say(line(writer.topic.name, shape))
        end.wait(options.write_period / 1000)
    for writer in writers:
        for shape in shapes:
            if options.final_instance_state == "u":
                writer.unregister_instance(shape)
            elif options.final_instance_state == "d":
                writer.dispose(shape)
    for writer in writers:
        writer.wait_for_acks(duration(seconds=1))


def show(topic, sample):
    info = sample.sample_info
    if not isinstance(sample, InvalidSample):
        say(line(topic, sample))
    ended = {
        InstanceState.NotAliveDisposed: "DISPOSED",
        InstanceState.NotAliveNoWriters: "NO_WRITERS",
    }.get(info.instance_state)
    if ended:
        key_holder = sample.key_sample if isinstance(sample, InvalidSample) else sample
        say(f"{topic:<10} {key_holder.color:<10} NOT_ALIVE_{ended}_INSTANCE_STATE")


def subscribe(options, participant, topics, end):
    subscriber = Subscriber(participant, qos=group_qos(options))
    readers = []
    for topic in topics:
        say(f"Create reader for topic: {topic.name}")
        readers.append(DataReader(subscriber, topic, qos=reader_qos(options), listener=Report(topic)))
    iteration = 0
    while iteration != options.num_iterations and not end.is_set():
        iteration += 1
        for reader in readers:
            samples = reader.read(N=10000) if options.use_read else reader.take(N=10000)
            if not options.take_read:
                samples.sort(key=lambda sample: sample.sample_info.instance_handle)
            for sample in samples:
                show(reader.topic.name, sample)
        end.wait(options.read_period / 1000)


def main():
    options = parse()
    scope = options.access_scope or "i"
    # Its Python binding has filters by function, which deadlock when a reader is deleted.
    filters = options.subscribe and (options.color or options.cft)
    if options.coherent or options.ordered or scope != "i" or filters:
        say("PRESENTATION and filters are not supported")
        return 1
    end = threading.Event()
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, lambda *_: end.set())
    participant = DomainParticipant(options.domain)
    topics = []
    for name in numbered(options.topic, options.num_topics):
        say(f"Create topic: {name}")
        topics.append(Topic(participant, name, ShapeType))
    (publish if options.publish else subscribe)(options, participant, topics, end)
    say("Done.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
