"""Feeds of FAST messages as Arrow batches: files, lines, and what cannot be decoded."""

import socket
from decimal import Decimal
from pathlib import Path

import polars
import pyarrow
import pytest

import tickwire as tw

TEMPLATES = Path(__file__).with_name("feed.xml")
# A packet a line: quotes of AAA and BBB with decimals of two digits, and a halt.
PACKETS = [
    "e0 81 41 41 c1 fe 00 4e 90 8b",
    "e0 81 42 42 c2 fe 00 4e 9a 80",
    "c0 82 41 41 c1",
    "e0 81 41 41 c1 fe 00 4e 92 8d 80 fe 00 4e 93 80",
]
QUOTES = [
    {"Symbol": "AAA", "Bid": Decimal("100.00"), "Size": 10},
    {"Symbol": "BBB", "Bid": Decimal("100.10"), "Size": None},
    {"Symbol": "AAA", "Bid": Decimal("100.02"), "Size": 12},
    {"Symbol": "AAA", "Bid": Decimal("100.03"), "Size": None},
]


@pytest.fixture
def hex_file(tmp_path):
    def make(packets=PACKETS):
        path = tmp_path / "feed.hex"
        path.write_text("\n".join(packets))
        return path

    return make


def rows(batch):
    made = pyarrow.record_batch(batch)
    made.validate(full=True)
    return made.to_pylist()


def test_a_file_is_batches_of_each_message(hex_file):
    with tw.decode_feed(hex_file(), TEMPLATES, framing="hex", decimals=2) as feed:
        assert feed.messages == ["Quote", "Halt"] and feed.unmapped == {}
        batches = {batch.name: batch for batch in feed}
        assert rows(batches["Quote"]) == QUOTES and rows(batches["Halt"]) == [{"Symbol": "AAA"}]
        assert list(feed) == []
        found = {name: feed.counters[name] for name in ("packets", "messages", "rows", "malformed", "skipped")}
        assert found == {"packets": 4, "messages": 5, "rows": 5, "malformed": 0, "skipped": 0}


def test_batches_have_so_many_rows(hex_file):
    feed = tw.decode_feed(hex_file(PACKETS * 50), TEMPLATES, framing="hex", message="Quote", rows=64)
    assert [len(batch) for batch in feed] == [64, 64, 64, 8]
    assert feed.counters["skipped"] == 50
    with pytest.raises(ValueError):
        tw.decode_feed(hex_file(), TEMPLATES, rows=0)


def test_one_message_is_a_stream(hex_file):
    def feed(**how):
        return tw.decode_feed(hex_file(), TEMPLATES, framing="hex", decimals=2, rows=3, **how)

    assert polars.DataFrame(feed(message="Quote"))["Size"].to_list() == [10, None, 12, None]
    reader = pyarrow.RecordBatchReader.from_stream(feed(message="Quote"))
    assert reader.read_all().to_pylist() == QUOTES
    taken = feed(message="Halt")
    assert pyarrow.table(taken).num_rows == 1
    with pytest.raises(tw.ClosedError):
        pyarrow.table(taken)
    with pytest.raises(tw.Error, match="say which by `message`"):
        feed().__arrow_c_stream__()


def test_what_cannot_be_decoded_is_raised_or_counted(hex_file):
    path = hex_file([PACKETS[0], "e0 87 41", *PACKETS[1:]])
    feed = tw.decode_feed(path, TEMPLATES, framing="hex", decimals=2)
    assert rows(next(feed)) == QUOTES[:1]
    with pytest.raises(tw.DecodeError, match="packet 1"):
        next(feed)
    assert list(feed) == []
    feed = tw.decode_feed(path, TEMPLATES, framing="hex", errors="count", decimals=2)
    assert [row for batch in feed if batch.name == "Quote" for row in rows(batch)] == QUOTES
    assert feed.counters["malformed"] == 1 and feed.counters["rows"] == 5
    with pytest.raises(pyarrow.ArrowException, match="packet 1"):
        stream = tw.decode_feed(path, TEMPLATES, framing="hex", message="Quote")
        pyarrow.RecordBatchReader.from_stream(stream).read_all()


def test_decimals_that_do_not_fit_are_raised_or_counted(hex_file):
    with pytest.raises(tw.DecodeError, match="Quote.Bid: 10000E-2 does not fit|10010E-2 does not fit"):
        list(tw.decode_feed(hex_file([PACKETS[1]]), TEMPLATES, framing="hex", decimals=0))
    (batch,) = tw.decode_feed(hex_file([PACKETS[1]]), TEMPLATES, framing="hex", decimals=0, errors="count")
    assert (len(batch), batch.undecodable) == (0, 1) and "Quote.Bid" in batch.errors[0]


@pytest.mark.parametrize(
    "how, told",
    [
        ({"message": "Trade"}, "no template is called Trade; there are Quote, Halt"),
        ({"venue": "nowhere"}, "there is no venue \"nowhere\"; there are"),
        ({"framing": "xml"}, "there is no framing \"xml\"; there are u32le"),
        ({"preamble": "x"}, "there is no preamble"),
        ({"reset": "x"}, "there is no reset"),
        ({"errors": "x"}, "there is no errors"),
        ({"to": "224.0.0.1"}, "expected a port"),
        ({"to": "5000", "framing": "u32le"}, "is no capture"),
        ({"default_template": "Trade"}, "no template is called Trade"),
        ({"enums": "x"}, "enums are"),
    ],
)
def test_what_is_wrong_is_said_before_it_begins(hex_file, how, told):
    with pytest.raises(tw.Error, match=told):
        tw.decode_feed(hex_file(), TEMPLATES, **how)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(tw.Error, match="cannot read .*none.dat"):
        tw.decode_feed(tmp_path / "none.dat", TEMPLATES)
    with pytest.raises(tw.Error, match="cannot read .*none.xml"):
        tw.decode_feed(TEMPLATES, tmp_path / "none.xml")
    with pytest.raises(tw.Error, match="line 1"):
        tw.decode_feed(TEMPLATES, TEMPLATES, framing="hex")


def test_who_leaves_a_feed_ends_its_thread(hex_file):
    feed = tw.decode_feed(hex_file(PACKETS * 5000), TEMPLATES, framing="hex", rows=1)
    assert len(next(feed)) == 1
    feed.close()
    assert list(feed) == []
    del feed


def test_a_line_is_batches_till_it_is_done():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = f"127.0.0.1:{port}"
    with tw.receive_feed(line, TEMPLATES, done="Halt", every=0.01, decimals=2) as feed, socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as sender:
        found = []
        for packet in [PACKETS[0], PACKETS[1], PACKETS[3]]:
            sender.sendto(bytes.fromhex(packet), ("127.0.0.1", port))
            found += rows(next(feed))
        sender.sendto(bytes.fromhex(PACKETS[2]), ("127.0.0.1", port))
        assert found == QUOTES and [batch.name for batch in feed] == ["Halt"]
        assert feed.counters["packets"] == 4


def test_a_line_that_is_silent_ends():
    assert list(tw.receive_feed("127.0.0.1:0", TEMPLATES, silence=0)) == []
    for how, told in [
        ({"line_b": "127.0.0.1:0"}, "numbers of their packets"),
        ({"interface": "nowhere0"}, "nowhere0"),
    ]:
        with pytest.raises(tw.Error, match=told):
            tw.receive_feed("127.0.0.1:0", TEMPLATES, **how)
    with pytest.raises(tw.Error, match="an address and its port"):
        tw.receive_feed("nowhere", TEMPLATES)
