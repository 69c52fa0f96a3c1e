"""Writers and readers: samples, instances, QoS, listeners, conditions, and what ends when."""

import gc
import os
import sys
import threading
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import numpy
import pytest

import tickwire as tw
from conftest import run, take
from market import Everything, Level, Quote, Side, everything
from test_types import plain


def test_a_sample_goes_from_writer_to_reader(participant, pair):
    writer, reader = pair(participant.topic("Quotes", Quote))
    first = writer.write(Quote("TICK", 101.25), timestamp=1_700_000_000_123_456_789)
    assert writer.write({"symbol": "TOCK", "price": 1}) == first + 1
    one, two = take(reader, 2)
    assert one.data == Quote("TICK", 101.25) and two.data == Quote("TOCK", 1.0)
    assert one.key == {"symbol": "TICK"} and one.info.valid_data
    info = one.info
    assert (info.sample_state, info.view_state, info.instance_state) == ("not_read", "new", "alive")
    assert info.source_timestamp == 1_700_000_000_123_456_789 and two.info.source_timestamp > info.source_timestamp
    assert info.reception_timestamp > 0 and info.kernel_timestamp is None
    assert info.sequence_number == first and len(info.instance) == 16 and info.writer == writer.guid
    assert "TICK" in repr(one) and repr(info) and repr(writer) and repr(reader) and repr(writer.topic)


def test_between_participants(participant, other):
    writer = participant.writer(participant.topic("Between", Everything), reliability="reliable")
    reader = other.reader(other.topic("Between", Everything), reliability="reliable")
    writer.wait_for_matched(1, timeout=30)
    writer.write(everything())
    assert plain(take(reader, 1)[0].data) == everything()
    writer.wait_for_acknowledgments(timeout=30)
    (matched,) = writer.matched_subscriptions()
    assert matched["guid"] == reader.guid and matched["reliable"]
    assert reader.matched_publications()[0]["delivered"] == 1
    names = {endpoint["guid"]: endpoint for endpoint in other.discovered_endpoints()}
    assert names[writer.guid]["topic"] == "Between" and names[writer.guid]["type"] == "market::Everything"
    assert names[writer.guid]["kind"] == "writer" and names[reader.guid]["reliability"] == "reliable"
    assert participant.guid in [found["guid"] for found in other.discovered_participants()]
    assert any(found["writer"] == writer.guid and found["matches"] for found in other.discovered_pairs())


def test_a_topic_is_learned_by_its_name(participant, other):
    writer = participant.writer(participant.topic("Learned", Everything), durability="transient_local", reliability="reliable")
    writer.write(everything())
    topic = other.topic("Learned", timeout=30)
    reader = other.reader(topic, durability="transient_local", reliability="reliable")
    value = take(reader, 1)[0].data
    assert value["text"] == "Zürich €" and value["from"] == "here" and value["array"].tolist()[0] == 1.5
    assert value["side"] == 2 and value["side"].name == "SELL" and value["level"] == {
        "price": Decimal("-1E+3"),
        "size": 5,
        "side": 1,
    }
    assert value["tree"]["children"][0]["children"][0]["value"] == 3
    back = other.writer(topic, reliability="reliable")
    mine = participant.reader(writer.topic, reliability="reliable")
    back.wait_for_matched(1, timeout=30)
    back.write({**value, "id": 8})
    assert plain(take(mine, 1)[0].data) == everything(id=8)
    with pytest.raises(tw.UnknownTopicError, match='did you mean "Learned"'):
        other.topic("Lerned", timeout=0.01)
    with pytest.raises(tw.UnknownTopicError):
        other.topic("Zzzzzzzzzz", timeout=0)


def test_instances_end(participant, pair):
    writer, reader = pair(participant.topic("Ends", Quote))
    for symbol in ("A", "B"):
        writer.write(Quote(symbol, 1.0))
    handle = writer.register({"symbol": "A"})
    assert [sample.info.instance == handle for sample in take(reader, 2)] == [True, False]
    assert reader.lookup_instance(Quote("A", 0)) == handle and reader.key_value(handle) == {"symbol": "A"}
    assert reader.lookup_instance({"symbol": "C"}) is None
    writer.dispose(Quote("A", 5.0))
    writer.unregister({"symbol": "B"})
    a, b = take(reader, 2)
    assert a.data is None and a.key == {"symbol": "A"} and not a.info.valid_data
    assert a.info.instance_state == "disposed" and b.key == {"symbol": "B"} and "disposed" in repr(a)
    with pytest.raises(tw.EncodeError):
        writer.dispose({"price": 1.0})
    with pytest.raises(tw.EncodeError):
        writer.dispose({})
    with pytest.raises(tw.Error):
        reader.take(instance=b"short")


def test_ctrl_c_while_samples_are_made_is_raised_by_take(participant, pair):
    interrupted = []

    @tw.topic
    @dataclass
    class Slow:
        symbol: tw.key[str]

        def __post_init__(self):
            if self.symbol == "C" and not interrupted:
                interrupted.append(self)
                raise KeyboardInterrupt

    writer, reader = pair(participant.topic("Slow", Slow))
    writer.write({"symbol": "C"})
    reader.wait_for_data(30)
    with pytest.raises(KeyboardInterrupt):
        reader.take()
    writer.write({"symbol": "D"})
    assert take(reader, 1)[0].data == Slow("D")


def test_topics_without_key_have_no_instances(participant, pair):
    @tw.topic
    @dataclass
    class Plain:
        a: int

    writer, reader = pair(participant.topic("Plain", Plain))
    writer.write(Plain(1))
    assert take(reader, 1)[0].key == {}
    with pytest.raises(tw.EncodeError, match="no key"):
        writer.dispose(Plain(1))


def test_read_leaves_and_take_removes(participant, pair):
    writer, reader = pair(participant.topic("States", Quote))
    assert writer.write_all(Quote("A", float(n)) for n in range(5)) == 5
    writer.wait_for_acknowledgments(30)
    assert len(reader.read(2)) == 2 and len(reader.read()) == 5
    writer.write(Quote("B", 9.0))
    reader.wait_for_data(30)
    assert [sample.data.price for sample in reader.read(states=["not_read"])] == [9.0]
    assert len(reader.take(states=["read", "alive"], instance=reader.lookup_instance({"symbol": "A"}))) == 5
    assert len(reader.take(states=["not_alive"])) == 0 and len(reader.take(max=10)) == 1
    with pytest.raises(tw.Error, match="not_read, read"):
        reader.take(states=["old"])


def test_raw_bytes(participant, pair):
    writer, reader = pair(participant.topic("Raw", tw.Bytes))
    for value in (b"abc", bytearray(b"d"), memoryview(b"ef"), numpy.frombuffer(b"gh", "uint8")):
        writer.write(value)
    assert [sample.data for sample in take(reader, 4)] == [b"abc", b"d", b"ef", b"gh"]


def test_arrays_outlive_reader_and_sample(participant, pair):
    @tw.topic
    @dataclass
    class Wave:
        samples: tw.sequence(tw.float32)

    writer, reader = pair(participant.topic("Waves", Wave))
    sent = numpy.arange(10_000, dtype="float32")
    for _ in range(20):
        writer.write(Wave(sent))
    arrays = [sample.data.samples for sample in take(reader, 20)]
    writer.write_all(Wave(sent * 0) for _ in range(20))
    take(reader, 20)
    reader.close(), writer.close()
    gc.collect()
    assert all((array == sent).all() for array in arrays)


def test_a_late_joiner_gets_what_is_kept(participant, other):
    topic = participant.topic("Late", Quote)
    with participant.writer(topic, durability="transient_local", history=("keep_last", 2)) as writer:
        writer.write_all(Quote("A", float(n)) for n in range(5))
        reader = other.reader(
            other.topic("Late", Quote), durability="transient_local", reliability="reliable", history="keep_all"
        )
        reader.wait_for_matched(1, timeout=30)
        reader.wait_for_historical_data(timeout=30)
        assert [sample.data.price for sample in reader.take()] == [3.0, 4.0]


def test_filters(participant, other):
    topic = participant.topic("Filtered", Quote)
    writer = participant.writer(topic, reliability="reliable", history="keep_all")
    mine = other.topic("Filtered", Quote)
    filtered = mine.filtered("symbol LIKE %0 AND price > %1", "EUR%", 1.5)
    assert filtered.parameters == ["'EUR%'", "1.5"] and filtered.topic is mine
    reader = other.reader(filtered, reliability="reliable", history="keep_all")
    writer.wait_for_matched(1, timeout=30)
    quotes = [Quote("EURUSD", 1.0), Quote("EURUSD", 2.0), Quote("GBPUSD", 3.0), Quote("EURCHF", 4.0)]
    writer.write_all(quotes)
    assert [sample.data for sample in take(reader, 2)] == [quotes[1], quotes[3]]
    filtered.set_parameters("O'%", 0)
    assert filtered.parameters == ["'O''%'", "0"]
    named = reader.query_condition("symbol = %0", "O'Neil")
    assert not named.holds
    named.set_parameters("EURUSD")
    with pytest.raises(tw.FilterError):
        named.set_parameters()
    for wrong in ["price >", "colour = 5", "price > %7"]:
        with pytest.raises(tw.FilterError):
            mine.filtered(wrong)


def test_queries_and_wait_sets(participant, pair):
    writer, reader = pair(participant.topic("Queries", Quote))
    dear = reader.query_condition("price > %0 ORDER BY price", 2, states=["not_read"])
    unread, stop = reader.read_condition("not_read"), tw.GuardCondition()
    waits = tw.WaitSet(dear, stop)
    assert not dear and not stop.holds
    with pytest.raises(TimeoutError):
        waits.wait(timeout=0)
    writer.write_all(Quote("A", price) for price in (5.0, 1.0, 3.0))
    assert waits.wait(timeout=30) == [dear]
    writer.wait_for_acknowledgments(30)
    assert [sample.data.price for sample in reader.take(query=dear)] == [3.0, 5.0]
    dear.set_parameters(0)
    assert [sample.data.price for sample in reader.take(query=dear)] == [1.0]
    with pytest.raises(tw.Error):
        reader.take(query=unread)
    threading.Thread(target=stop.set).start()
    assert waits.wait(timeout=30) == [stop]
    stop.set(False)
    assert waits.detach(dear) and not waits.detach(dear)
    waits.attach(unread), waits.attach(unread)
    writer.write(Quote("A", 1.0))
    assert waits.wait(timedelta(seconds=30).total_seconds()) == [unread]
    with pytest.raises(tw.FilterError):
        reader.query_condition("colour = 1")


def test_listeners_are_told_of_data_and_matches(participant, other):
    topic = participant.topic("Heard", Quote)
    matched, heard, done = [], [], threading.Event()

    class Listener:
        def on_publication_matched(self, writer, status):
            matched.append((writer, status))

    def on_data(reader):
        heard.extend(sample.data for sample in reader.take())
        if len(heard) >= 100:
            done.set()

    writer = participant.writer(topic, listener=Listener(), reliability="reliable", history="keep_all")
    reader = other.reader(other.topic("Heard", Quote), listener=on_data, reliability="reliable", history="keep_all")
    writer.wait_for_matched(1, timeout=30)
    for number in range(100):
        writer.write(Quote("A", float(number)))
    assert done.wait(30)
    assert [quote.price for quote in heard] == [float(n) for n in range(100)]
    assert matched[0][0] is writer and matched[0][1].current_count == 1
    reader.listen()
    writer.write(Quote("B", 0.0))
    writer.wait_for_acknowledgments(30)
    assert len(heard) == 100 and len(reader.take()) == 1
    for wrong in [5, object()]:
        with pytest.raises(TypeError):
            reader.listen(wrong)
    with pytest.raises(TypeError, match="data_available"):
        reader.listen(publication_matched=print)


def test_a_listener_may_write_wait_and_close(participant, pair):
    writer, reader = pair(participant.topic("Ping", Quote))
    answers, answered = pair(participant.topic("Pong", Quote))
    done = threading.Event()

    def answer(reader):
        for sample in reader.take():
            answers.write(Quote(sample.data.symbol, -sample.data.price))
            if sample.data.price == 9.0:
                reader.close()
                done.set()

    reader.listen(answer)
    writer.write_all(Quote("A", float(n)) for n in range(10))
    assert [sample.data.price for sample in take(answered, 10)] == [-float(n) for n in range(10)]
    assert done.wait(30) and reader.closed


def test_a_listener_may_close_its_participant():
    done = threading.Event()
    participant = tw.Participant(domain=77)
    topic = participant.topic("Shut", Quote)
    reader = participant.reader(topic, listener=lambda _: (participant.close(), done.set()), reliability="reliable")
    writer = participant.writer(topic)
    writer.wait_for_matched(1, timeout=30)
    writer.write(Quote("A", 1.0))
    assert done.wait(30) and reader.closed and writer.closed


def test_what_a_listener_raises_goes_to_the_hook(participant, pair, monkeypatch):
    caught, done = [], threading.Event()

    def hook(unraisable):
        caught.append(unraisable.exc_value)
        done.set()

    monkeypatch.setattr(sys, "unraisablehook", hook)
    writer, reader = pair(participant.topic("Raises", Quote))
    reader.listen(lambda reader: 1 / 0)
    writer.write(Quote("A", 1.0))
    assert done.wait(30) and isinstance(caught[0], ZeroDivisionError)
    reader.listen()


def test_statuses(participant, other):
    writer = participant.writer(participant.topic("Statuses", Quote), reliability="best_effort")
    condition = writer.status_condition("offered_incompatible_qos")
    reader = other.reader(other.topic("Statuses", Quote), reliability="reliable")
    tw.WaitSet(condition).wait(timeout=30)
    status = writer.offered_incompatible_qos_status
    assert status.total_count == 1 and "RELIABILITY" in status.verdict and status.last == reader.guid
    assert not condition.holds and "offered_incompatible_qos" not in writer.status_changes
    tw.WaitSet(reader.status_condition("requested_incompatible_qos")).wait(timeout=30)
    assert reader.requested_incompatible_qos_status.last == writer.guid
    assert writer.publication_matched_status.current_count == 0
    assert reader.subscription_matched_status.total_count == 0
    assert reader.sample_lost_status == (0, 0) and reader.sample_rejected_status.total_count == 0
    assert reader.liveliness_changed_status.alive_count == 0 and writer.liveliness_lost_status == (0, 0)
    assert writer.offered_deadline_missed_status.total_count == 0
    assert reader.requested_deadline_missed_status.total_count == 0
    assert writer.topic.inconsistent_topic_status == (0, 0)
    with pytest.raises(tw.Error, match="there is no status"):
        writer.status_condition("fame")
    assert writer.counters["written"] == 0 and reader.counters["stored"] == 0 and participant.counters["malformed"] == 0


def test_coherent_sets_and_suspension(participant, other):
    coherent = {"coherent_access": True, "access_scope": "topic"}
    publisher, subscriber = participant.publisher(presentation=coherent), other.subscriber(presentation=coherent)
    keep = {"reliability": "reliable", "history": "keep_all"}
    writer = publisher.writer(participant.topic("Legs", Quote), **keep)
    reader = subscriber.reader(other.topic("Legs", Quote), **keep)
    writer.wait_for_matched(1, timeout=30)
    with publisher.coherent():
        writer.write(Quote("A", 1.0))
        writer.write(Quote("B", 2.0))
        writer.wait_for_acknowledgments(30)
        assert not reader.has_data
    assert [sample.data.symbol for sample in take(reader, 2)] == ["A", "B"]
    with subscriber.access():
        assert reader.take() == []
    with publisher.suspended(), publisher.suspended():
        writer.write_all(Quote("C", float(n)) for n in range(10))
    publisher.flush()
    assert len(take(reader, 10)) == 10


def test_partitions_keep_apart(participant, other):
    topic, theirs = participant.topic("Parts", Quote), other.topic("Parts", Quote)
    writer = participant.writer(topic, partition="A", reliability="reliable")
    apart = other.reader(theirs, partition=["B"], reliability="reliable")
    same = other.subscriber(partition=["A*"]).reader(theirs, reliability="reliable")
    writer.wait_for_matched(1, timeout=30)
    writer.write(Quote("A", 1.0))
    assert len(take(same, 1)) == 1 and apart.matched_publications() == []


def test_settings_by_keyword(participant):
    topic = participant.topic("Settings", Quote)
    writer = participant.writer(
        topic,
        reliability=("reliable", 0.25),
        history={"kind": "keep_last", "depth": 3},
        durability="transient_local",
        deadline=timedelta(seconds=2),
        lifespan=None,
        liveliness=("manual_by_topic", 1.5),
        resource_limits_max_samples=100,
        ownership="exclusive",
        ownership_strength=-5,
        user_data=b"\x00\xff",
        representation=["xcdr1"],
        writer_data_lifecycle_autodispose_unregistered_instances=False,
        max_unacknowledged=1 << 16,
        partition=["A", "B"],
        topic_data=b"t",
        latency_budget=0.001,
    )
    (found,) = [it for it in participant.discovered_endpoints() if it["guid"] == writer.guid]
    assert found["partition"] == ["A", "B"] and found["durability"] == "transient_local"
    writer.set_qos(deadline=3, lifespan=1)
    for wrong, text in [
        ({"relaibility": "reliable"}, "did you mean `reliability`"),
        ({"reliability": "relible"}, "reliable"),
        ({"reliability": 5}, "reliab"),
        ({"history": ("keep_last", 0)}, "whole number"),
        ({"deadline": -1}, "deadline"),
        ({"deadline": "soon"}, "soon"),
        ({"deadline": object()}, "deadline"),
        ({"time_based_filter": 1}, "setting of `reader`"),
        ({"domain": 5}, "participant"),
        ({"resource_limits": {"max_samples": 1, "max_samples_per_instance": 5}}, "max_samples"),
        ({"partition": ["a\nb"]}, "control"),
        ({"history.depth\n": 5}, "history"),
        ({"durability": "\ud800"}, "UTF-8"),
    ]:
        with pytest.raises(tw.QosError, match=text):
            participant.writer(topic, **wrong)
    with pytest.raises(tw.QosError, match="HISTORY"):
        writer.set_qos(history=("keep_last", 9))
    assert any(key == "history.depth" for key, *_ in tw.settings("reader"))


def test_profiles(tmp_path, monkeypatch):
    file = tmp_path / "qos.toml"
    file.write_text(
        """
        [profiles.fast]
        participant.domain = 78
        participant.name = "desk"
        writer.reliability = "best_effort"
        [profiles.slow.writer]
        reliability = "reliable"
        partition = ["wrong"]
        """
    )
    with pytest.raises(tw.QosError, match="partition"):
        tw.Profile(file)
    file.write_text(file.read_text().replace('partition = ["wrong"]', ""))
    profile = tw.Profile(file, "fast")
    assert profile.names == ["fast", "slow"] and profile.settings("participant")["domain"] == "78"
    with tw.Participant(qos=profile) as participant:
        assert participant.domain == 78
        topic = participant.topic("Profiled", Quote)
        writers = participant.writer(topic, qos=profile), participant.writer(topic, qos=profile, reliability="reliable")
        kinds = {it["guid"]: it["reliability"] for it in participant.discovered_endpoints()}
        assert [kinds[writer.guid] for writer in writers] == ["best_effort", "reliable"]
    with pytest.raises(tw.QosError, match="slow"):
        tw.Profile(file, "slwo")
    with pytest.raises(tw.QosError, match="none of the QoS profiles"):
        tw.Profile(file)
    with pytest.raises(tw.QosError):
        tw.Profile(tmp_path / "none.toml")
    monkeypatch.setenv("TICKWIRE_QOS_FILE", str(file))
    monkeypatch.setenv("TICKWIRE_QOS_PROFILE", "fast")
    with tw.Participant(qos=tw.Profile.from_env(), domain=77) as participant:
        assert participant.domain == 77
    with tw.Participant(qos=tw.Profile.parse('[profiles.p.participant]\nname = "x"')):
        pass
    with pytest.raises(tw.QosError):
        tw.Participant(qos=tw.Profile.parse("[profiles.p]"), no_such_setting=1)


def test_time_outs(participant, pair):
    topic = participant.topic("Times", Quote)
    writer, reader = participant.writer(topic), participant.reader(topic)
    for wait in [
        lambda: reader.wait_for_data(0.001),
        lambda: reader.wait_for_data(0),
        lambda: writer.wait_for_matched(5, timeout=0.001),
        lambda: reader.wait_for_matched(5, timeout=0.001),
    ]:
        with pytest.raises(tw.TimeoutError) as caught:
            wait()
        assert isinstance(caught.value, TimeoutError)
    for wrong in [-1, float("nan"), "soon"]:
        with pytest.raises((ValueError, TypeError)):
            reader.wait_for_data(wrong)


def test_a_write_that_finds_no_room_times_out(participant, pair):
    writer, reader = pair(
        participant.topic("Full", Quote),
        {"reliability": ("reliable", 0), "resource_limits": {"max_samples": 2, "max_samples_per_instance": 2}},
        {"resource_limits": {"max_samples": 1, "max_samples_per_instance": 1}},
    )
    with pytest.raises(tw.TimeoutError, match="no room"):
        for number in range(100):
            writer.write(Quote("A", float(number)))


def test_iteration_waits_and_ends(participant, pair):
    writer, reader = pair(participant.topic("Iterated", Quote))
    writer.write_all(Quote("A", float(n)) for n in range(5))
    assert [sample.data.price for sample in reader.iter(timeout=30, max=3)] == [0.0, 1.0, 2.0]
    thread = threading.Thread(target=lambda: [writer.write(Quote("A", 5.0)), writer.wait_for_acknowledgments(30)])
    found = []
    for sample in reader:
        found.append(sample.data.price)
        if len(found) == 2:
            thread.start()
        if len(found) == 3:
            break
    thread.join()
    assert found == [3.0, 4.0, 5.0] and list(reader.iter(timeout=0)) == []
    closer = threading.Thread(target=reader.close)
    walk = iter(reader)
    closer.start()
    assert list(walk) == []
    closer.join()


def test_who_leaves_an_iteration_leaves_the_rest(participant, pair):
    writer, reader = pair(participant.topic("Left", Quote))
    writer.write_all(Quote("A", float(n)) for n in range(6))
    writer.wait_for_acknowledgments(30)
    for sample in reader:
        break
    with pytest.raises(ZeroDivisionError):
        for sample in reader.iter(timeout=30):
            1 / (sample.data.price - 1.0)
    assert [sample.data.price for sample in reader.iter(timeout=30, max=2)] == [2.0, 3.0]
    assert [sample.data.price for sample in reader.take()] == [4.0, 5.0]


def test_what_is_closed_says_so(participant, pair):
    topic = participant.topic("Closed", Quote)
    writer, reader = pair(topic)
    with writer, reader:
        pass
    assert writer.closed and reader.closed
    writer.close(), reader.close()
    for use in [
        lambda: writer.write(Quote("A", 1.0)),
        lambda: reader.take(),
        lambda: reader.has_data,
        lambda: reader.wait_for_data(1),
        lambda: writer.counters,
        lambda: reader.listen(print),
    ]:
        with pytest.raises(tw.ClosedError):
            use()
    participant.close()
    assert topic.closed and participant.closed
    for use in [lambda: participant.topic("Closed", Quote), lambda: participant.publisher(), lambda: participant.guid]:
        with pytest.raises(tw.ClosedError):
            use()


def test_a_topic_has_one_type(participant):
    participant.topic("One", Quote)
    kept = participant.topic("One", Quote)
    with pytest.raises(tw.TypeDescriptionError, match="has the type Quote"):
        participant.topic("One", Everything)
    for wrong in ["", "a\0b", "x" * 300]:
        with pytest.raises(tw.TypeDescriptionError):
            participant.topic(wrong, Quote)
    assert kept.name == "One" and kept.type_name == "Quote" and kept.type is not None


def test_wrong_arguments_are_errors(participant):
    topic = participant.topic("Wrong", Quote)
    for call in [
        lambda: tw.Participant("zero"),
        lambda: tw.Participant(-1),
        lambda: tw.Participant(1 << 40),
        lambda: participant.writer("Wrong"),
        lambda: participant.writer(None),
        lambda: participant.reader(participant),
        lambda: tw.Writer(topic, topic),
        lambda: tw.Reader(None, topic),
        lambda: tw.WaitSet(5),
        lambda: participant.topic(5, Quote),
        lambda: participant.writer(topic, qos="file.toml"),
        lambda: participant.writer(topic).write(),
        lambda: participant.reader(topic).take(-1),
    ]:
        with pytest.raises((TypeError, ValueError, OverflowError, tw.Error)):
            call()
    with pytest.raises(tw.Error, match="233|ports"):
        tw.Participant(domain=300)
    with pytest.raises(tw.Error):
        tw.Participant(interface="no-such-interface")


def test_polled_driving(other):
    with tw.Participant(domain=77, driving="polled") as polled:
        reader = polled.reader(polled.topic("Polled", Quote), reliability="reliable")
        writer = other.writer(other.topic("Polled", Quote), reliability="reliable")
        while not writer.publication_matched_status.current_count:
            polled.poll(0.01)
        writer.write(Quote("A", 1.0))
        while not reader.has_data:
            polled.poll(0.01)
        assert reader.take()[0].data.price == 1.0
    with pytest.raises(tw.Error, match="threads of its own"):
        other.poll()


def test_many_threads_write_and_read(participant, pair):
    writer, reader = pair(participant.topic("Threads", Quote))

    def write(thread):
        for number in range(200):
            writer.write(Quote(f"T{thread}", float(number)))

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(4)]
    heard = []
    for thread in threads:
        thread.start()
    while len(heard) < 800:
        reader.wait_for_data(30)
        heard += [sample.data for sample in reader.take()]
    for thread in threads:
        thread.join()
    for thread in range(4):
        assert [quote.price for quote in heard if quote.symbol == f"T{thread}"] == [float(n) for n in range(200)]


def test_listeners_and_writers_of_many_threads_do_not_stop_each_other(participant, other):
    topic, theirs = participant.topic("Busy", Quote), other.topic("Busy", Quote)
    keep = {"reliability": ("reliable", 30), "history": "keep_all"}
    heard = []
    enough = threading.Event()

    def on_data(reader):
        heard.extend(reader.take())
        if len(heard) >= 1200:
            enough.set()

    readers = [other.reader(theirs, listener=on_data, **keep) for _ in range(2)]
    writers = [participant.writer(topic, **keep) for _ in range(3)]
    for writer in writers:
        writer.wait_for_matched(2, timeout=30)
    threads = [
        threading.Thread(target=lambda writer=writer: [writer.write(Quote("A", float(n))) for n in range(200)])
        for writer in writers
    ]
    for thread in threads:
        thread.start()
    assert enough.wait(60)
    for thread in threads:
        thread.join()
    for reader in readers:
        reader.close()


def test_entities_that_nobody_keeps_end(participant):
    topic = participant.topic("Forgotten", Quote)
    reader = participant.reader(topic, listener=lambda reader: None)
    guid = reader.guid
    del reader
    gc.collect()
    assert guid not in [found["guid"] for found in participant.discovered_endpoints()]


@pytest.mark.parametrize(
    "end",
    ["", "sys.exit(3)", "raise KeyError", "participant.close()", "del participant, writer, reader", "os._exit(3)"],
)
def test_programs_end_whatever_is_open(end):
    program = f"""
import os, sys, threading
import tickwire as tw
from market import Quote
participant = tw.Participant(domain=77)
topic = participant.topic("Exit", Quote)
heard = threading.Event()
reader = participant.reader(topic, listener=lambda reader: (reader.take(), heard.set()), reliability="reliable")
writer = participant.writer(topic)
writer.wait_for_matched(1, timeout=30)
for n in range(500):
    writer.write(Quote("A", float(n)))
heard.wait(30)
{end}
"""
    result = run(program)
    expected = 3 if "3" in end else 1 if "raise" in end else 0
    assert result.returncode == expected, result.stderr
    assert "Fatal" not in result.stderr and "panicked" not in result.stderr, result.stderr


@pytest.mark.parametrize(
    "wait",
    [
        "reader.wait_for_data()",
        "while True: writer.write(Quote('A', 1.0))",
        "while True: polled.poll(60)",
        "participant.topic('Nevre', timeout=60)",
    ],
)
def test_ctrl_c_ends_a_wait(wait):
    program = f"""
import os, signal, threading
import tickwire as tw
from market import Quote
with tw.Participant(domain=77) as participant, tw.Participant(domain=77, driving="polled") as polled:
    topic = participant.topic("Never", Quote)
    few = dict(history="keep_all", resource_limits=dict(max_samples=1, max_samples_per_instance=1))
    reader, full = participant.reader(topic), participant.reader(topic, reliability="reliable", **few)
    writer = participant.writer(topic, reliability=("reliable", 60), **few)
    writer.wait_for_matched(2, timeout=30)
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        {wait}
    except KeyboardInterrupt:
        print("heard")
"""
    result = run(program)
    assert result.stdout.strip() == "heard", result.stderr


def test_who_closes_a_writer_ends_its_wait_for_room(participant, pair):
    few = {"resource_limits": {"max_samples": 1, "max_samples_per_instance": 1}}
    writer, reader = pair(participant.topic("Waits", Quote), {"reliability": ("reliable", None), **few}, few)
    ends = []

    def write():
        try:
            while True:
                writer.write(Quote("A", 1.0))
        except tw.Error as error:
            ends.append(type(error))

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    # One for the reader, one for the writer, and no room for a third.
    while writer.counters["written"] < 2:
        reader.wait_for_data(30)
    writer.close()
    thread.join(60)
    assert ends == [tw.ClosedError]


def test_who_takes_while_another_thread_closes_is_told(participant, pair):
    writer, reader = pair(participant.topic("Shut", Quote))
    ends, begun = [], threading.Barrier(4)

    def take_all(act):
        begun.wait(30)
        try:
            while True:
                act()
        except tw.Error as error:
            ends.append(type(error))

    acts = [reader.take, reader.arrow, lambda: writer.write(Quote("A", 1.0))]
    threads = [threading.Thread(target=take_all, args=[act], daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    begun.wait(30)
    reader.close()
    writer.close()
    for thread in threads:
        thread.join(60)
    assert ends == [tw.ClosedError] * 3


def test_a_sample_that_waited_for_room_was_made_before(participant, pair):
    few = {"resource_limits": {"max_samples": 1, "max_samples_per_instance": 1}}
    writer, reader = pair(participant.topic("Patient", Quote), {"reliability": ("reliable", 60), **few}, few)
    writer.write(Quote("A", 0.0))
    thread = threading.Thread(target=lambda: [writer.write(Quote("A", float(n))) for n in range(1, 6)])
    thread.start()
    found = [take(reader, 1)[0] for _ in range(6)]
    thread.join()
    assert [sample.data.price for sample in found] == [float(n) for n in range(6)]
    times = [sample.info.source_timestamp for sample in found]
    assert times == sorted(times)
    writer.set_qos(reliability=("reliable", 60), lifespan=5)
    with pytest.raises(tw.QosError, match="RELIABILITY"):
        writer.set_qos(reliability=("reliable", 61))


def test_a_topic_is_not_waited_for_any_longer_than_said(participant):
    with tw.Participant(domain=77, driving="polled") as silent:
        writer = silent.writer(silent.topic("Silent", Quote))
        while writer.guid not in [found["guid"] for found in participant.discovered_endpoints()]:
            silent.poll(0.01)
        with pytest.raises(tw.UnknownTopicError, match="Quote is not known.* 0(ns|s)"):
            participant.topic("Silent", timeout=0)


def test_help_teaches():
    assert "tw.key[str]" in tw.__doc__ and all(getattr(tw, name) is not None for name in tw.__all__)
    for entity in (tw.Participant, tw.Writer, tw.Reader, tw.Topic, tw.Publisher, tw.Subscriber, tw.WaitSet, tw.Sample):
        assert entity.__doc__
        for name in dir(entity):
            if not name.startswith("_"):
                assert getattr(entity, name).__doc__, f"{entity.__name__}.{name}"
    assert tw.Error in tw.TimeoutError.__mro__ and os.path.exists(Path(tw.__file__).with_name("py.typed"))
