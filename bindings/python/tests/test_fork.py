"""The child of a fork has no threads of the engine: what it has of its parent says so, and nothing waits for them."""

from conftest import run

PARENT = """
import gc, os, sys, threading
import tickwire as tw
from market import Quote

def child(act):
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

participant = tw.Participant(domain=77)
topic = participant.topic("Forked", Quote)
reader = participant.reader(topic, listener=lambda reader: None, reliability="reliable")
writer = participant.writer(topic)
writer.wait_for_matched(1, timeout=30)
writer.write(Quote("A", 1.0))
(sample,) = reader.iter(timeout=30, max=1)
"""


def test_the_child_is_told_and_may_make_its_own():
    program = (
        PARENT
        + """
def act():
    uses = [
        lambda: writer.write(Quote("B", 2.0)),
        lambda: reader.take(),
        lambda: reader.wait_for_data(),
        lambda: reader.arrow(),
        lambda: participant.topic("Other", Quote),
        lambda: participant.counters,
    ]
    for use in uses:
        try:
            use()
        except tw.ClosedError as error:
            assert "forked" in str(error), error
        else:
            raise AssertionError("no error")
    assert participant.closed and reader.closed and sample.data == Quote("A", 1.0)
    with tw.Participant(domain=78) as own:
        quotes = own.topic("Own", Quote)
        with own.writer(quotes) as mine, own.reader(quotes, reliability="reliable") as heard:
            mine.wait_for_matched(1, timeout=30)
            mine.write(Quote("C", 3.0))
            assert [sample.data.price for sample in heard.iter(timeout=30, max=1)] == [3.0]

child(act)
writer.write(Quote("B", 2.0))
assert [sample.data.price for sample in reader.iter(timeout=30, max=1)] == [2.0]
print("both")
"""
    )
    result = run(program)
    assert result.stdout.strip() == "both", result.stderr


def test_the_child_ends_whatever_is_open():
    program = (
        PARENT
        + """
def act():
    global participant, topic, reader, writer, sample
    writer.close(), participant.close()
    del participant, topic, reader, writer, sample
    gc.collect()

child(act)
pid = os.fork()
if pid == 0:
    sys.exit(5)  # As it ends by itself, `atexit` included.
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
assert not participant.closed
print("both")
"""
    )
    result = run(program)
    assert result.stdout.strip() == "both", result.stderr


def test_a_feed_is_its_parents():
    program = (
        PARENT
        + """
feed = tw.receive_feed("127.0.0.1:0", "feed.xml")

def act():
    global feed
    try:
        next(feed)
    except tw.ClosedError as error:
        assert "forked" in str(error), error
    feed.close()
    del feed
    gc.collect()

child(act)
feed.close()
assert list(feed) == []
print("both")
"""
    )
    result = run(program)
    assert result.stdout.strip() == "both", result.stderr
