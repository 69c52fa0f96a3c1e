"""Readers in event loops."""

import asyncio
import threading

import pytest

import tickwire as tw
from market import Quote


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def test_a_stream_has_every_sample(participant, pair):
    writer, reader = pair(participant.topic("Streamed", Quote))

    async def main():
        thread = threading.Thread(target=lambda: writer.write_all(Quote("A", float(n)) for n in range(300)))
        asyncio.get_running_loop().call_soon(thread.start)
        found = []
        async for sample in reader.stream():
            found.append(sample.data.price)
            if len(found) == 300:
                break
        thread.join()
        return found

    assert run(main()) == [float(n) for n in range(300)]


def test_who_leaves_a_stream_leaves_the_rest(participant, pair):
    writer, reader = pair(participant.topic("Abandoned", Quote))
    writer.write_all(Quote("A", float(n)) for n in range(5))
    writer.wait_for_acknowledgments(30)

    async def main():
        async for sample in reader.stream():
            break
        reached = asyncio.Event()

        async def walk():
            async for sample in reader.stream():
                reached.set()
                await asyncio.Event().wait()

        walking = asyncio.ensure_future(walk())
        await reached.wait()
        walking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await walking

    run(main())
    assert [sample.data.price for sample in reader.take()] == [2.0, 3.0, 4.0]


def test_a_stream_that_never_ends_lets_others_run(participant, pair):
    writer, reader = pair(participant.topic("Endless", Quote))
    writer.write(Quote("A", 0.0))
    reader.wait_for_data(30)

    async def main():
        turns = 0

        async def other():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        count = 0
        async for sample in reader.stream():
            count += 1
            if turns > 3 or count > 5000:
                break
            writer.write(sample.data)
            reader.wait_for_data(30)
        task.cancel()
        return turns

    assert run(main()) > 3


def test_waiting_ends_with_data_and_with_time(participant, pair):
    writer, reader = pair(participant.topic("Awaited", Quote))

    async def main():
        with pytest.raises(TimeoutError):
            await reader.wait(timeout=0.001)
        assert [sample async for sample in reader.stream(timeout=0)] == []
        waits = [asyncio.ensure_future(reader.wait()) for _ in range(3)]
        await asyncio.sleep(0)
        writer.write(Quote("A", 1.0))
        await asyncio.gather(*waits)
        await reader.wait(timeout=0)
        assert [sample.data.price for sample in reader.take()] == [1.0]
        cancelled = asyncio.ensure_future(reader.wait())
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        writer.write(Quote("A", 2.0))
        await reader.wait()

    run(main())
    reader.take()

    async def again():
        writer.write(Quote("A", 3.0))
        await reader.wait()
        return reader.take()[0].data.price

    assert run(again()) == 3.0, "in another event loop, after the first one"


def test_a_reader_that_is_closed_ends_its_stream(participant, pair):
    writer, reader = pair(participant.topic("Ended", Quote))

    async def main():
        async def walk():
            return [sample async for sample in reader.stream()]

        walking = asyncio.ensure_future(walk())
        waiting = asyncio.ensure_future(reader.wait())
        await asyncio.sleep(0)
        threading.Thread(target=reader.close).start()
        with pytest.raises(tw.ClosedError):
            await waiting
        return await walking

    assert run(main()) == []


def test_a_listener_and_a_stream_hear_the_same(participant, pair):
    writer, reader = pair(participant.topic("Both", Quote))
    told = threading.Event()
    reader.listen(lambda reader: told.set())

    async def main():
        waiting = asyncio.ensure_future(reader.wait())
        await asyncio.sleep(0)
        writer.write(Quote("A", 1.0))
        await waiting

    run(main())
    assert told.wait(30)
    reader.listen()

    async def more():
        reader.take()
        waiting = asyncio.ensure_future(reader.wait())
        await asyncio.sleep(0)
        writer.write(Quote("A", 2.0))
        await waiting

    run(more())


def test_ping_pong_in_one_loop(participant, pair):
    to, here = pair(participant.topic("There", Quote))
    back, there = pair(participant.topic("Back", Quote))

    async def main():
        async def answer():
            async for sample in here.stream():
                back.write(sample.data)
                if sample.data.price == 49.0:
                    return

        answering = asyncio.ensure_future(answer())
        for number in range(50):
            to.write(Quote("A", float(number)))
            await there.wait()
            assert there.take()[0].data.price == number
        await answering

    run(main())
