// What encoding, decoding and a round trip cost, with the messages of the streaming example. `bench/run` runs it.

using System;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using MiddlewareNewsBrief;
using Tickwire;
using Tickwire.Cdr;

static class Cost
{
    const int Rounds = 5;

    static void Main(string[] arguments)
    {
        Codec("MarketData", MarketDataSupport.Instance, Streaming.Values.MarketData());
        Codec("QuoteRequest", QuoteRequestSupport.Instance, Streaming.Values.QuoteRequest());
        foreach (bool waits in new[] { false, true })
            Ping(waits);
    }

    static void Codec<T>(string name, TopicSupport<T> support, T value) where T : class
    {
        const int count = 100000;
        using (var writer = new CdrWriter())
        {
            byte[] payload = support.ToPayload(value, CdrVersion.Xcdr2);
            double encode = Median(() =>
            {
                for (int i = 0; i < count; i++)
                    support.ToPayload(value, CdrVersion.Xcdr2, writer);
            }) / count;
            double fresh = Median(() =>
            {
                for (int i = 0; i < count; i++)
                    support.FromPayload(payload);
            }) / count;
            T again = support.Create();
            double same = Median(() =>
            {
                for (int i = 0; i < count; i++)
                    support.FromPayload(payload, again);
            }) / count;
            if (!again.Equals(value))
                throw new Exception("it is another one");
            Console.WriteLine("{0}: {1} B, encode {2:0} ns, decode {3:0} ns, into the same object {4:0} ns",
                name, payload.Length, encode, fresh, same);
        }
    }

    /// Nanoseconds.
    static double Median(Action action)
    {
        action();
        double[] times = new double[Rounds];
        for (int i = 0; i < Rounds; i++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            action();
            times[i] = watch.Elapsed.TotalMilliseconds * 1e6;
        }
        Array.Sort(times);
        return times[Rounds / 2];
    }

    /// Between two participants of this process.
    static void Ping(bool waits)
    {
        const int warmup = 20000;
        const int count = 20000;
        var all = new Qos
        {
            Writer = { History = History.KeepAll },
            Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
        };
        using (var here = new DomainParticipant(0))
        using (var there = new DomainParticipant(0))
        {
            var ping = here.CreateWriter(here.CreateTopic<MarketData>("Ping"), all);
            var pong = here.CreateReader(here.CreateTopic<MarketData>("Pong"), all);
            var echo = there.CreateWriter(there.CreateTopic<MarketData>("Pong"), all);
            var heard = there.CreateReader(there.CreateTopic<MarketData>("Ping"), all);
            ping.WaitForMatched(1, TimeSpan.FromSeconds(10));
            echo.WaitForMatched(1, TimeSpan.FromSeconds(10));
            var echoed = new MarketData();
            heard.DataAvailable += reader =>
            {
                SampleInfo info;
                while (reader.TryTake(echoed, out info))
                    if (info.ValidData)
                        echo.Write(echoed);
            };
            var data = Streaming.Values.MarketData();
            var came = new MarketData();
            long[] ticks = new long[count];
            for (int i = -warmup; i < count; i++)
            {
                SampleInfo info;
                data.counter = (uint)i;
                long begin = Stopwatch.GetTimestamp();
                ping.Write(data);
                while (!pong.TryTake(came, out info))
                    if (waits)
                        pong.WaitForData(TimeSpan.FromSeconds(10));
                if (i >= 0)
                    ticks[i] = Stopwatch.GetTimestamp() - begin;
                if (came.counter != (uint)i)
                    throw new Exception("it is another one");
            }
            Array.Sort(ticks);
            double unit = 1e6 / Stopwatch.Frequency / 2;
            Console.WriteLine("half a round trip of MarketData, reader {0}: p50 {1:0.0} us, p99 {2:0.0} us",
                waits ? "waits" : "asks again and again", ticks[count / 2] * unit, ticks[count * 99 / 100] * unit);
        }
    }
}
