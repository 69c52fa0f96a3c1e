// Tests of samples on their way, of settings, and of failures.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using kinds;
using Tickwire;
using Tickwire.Cdr;

static partial class Tests
{
    // -- Samples --

    static void TestSamplesArriveAsTheyWere()
    {
        using (var pair = new Pair())
        {
            for (int i = 0; i < 100; i++)
                pair.Writer.Write(Value("A", i));
            for (int i = 0; i < 100; i++)
                Is(pair.Next(), Value("A", i));
            Is(pair.Reader.Take().Count, 0);
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            True(pair.Writer.Counters["written"] == 100, "counted");
            True(pair.Reader.Counters["stored"] == 100, "counted");
            True(pair.Participant.Counters["malformed"] == 0, "counted");
            Is(pair.Writer.MatchedReaders.Length, 1);
            Is(pair.Reader.MatchedWriters[0].Guid, pair.Writer.Guid);
            True(pair.Participant.Explain().Contains("All"), "explained");
        }
    }

    static void TestOneValueTakesThemAll()
    {
        using (var pair = new Pair())
        {
            var value = new All();
            SampleInfo info;
            True(!pair.Reader.TryTake(value, out info), "there is none");
            pair.Writer.Write(Value("A"), new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc));
            pair.Writer.DisposeInstance(Value("A"));
            True(pair.Reader.WaitForData(Long), "data");
            True(pair.Reader.TryTake(value, out info), "there is one");
            Is(value, Value("A"));
            Is(info.SourceTimestamp, new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc));
            Is(info.Writer, pair.Writer.Guid);
            while (!pair.Reader.TryTake(value, out info))
                True(pair.Reader.WaitForData(Long), "data");
            True(!info.ValidData && (info.States & SampleStates.Disposed) != 0, "it is disposed of");
            Is(value.symbol, "A");
        }
    }

    static void TestInstancesAreTold()
    {
        using (var pair = new Pair())
        {
            pair.Writer.Write(Value("A"));
            pair.Writer.Write(Value("B", 1));
            pair.Writer.Write(Value("B", 2));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            var b = pair.Reader.LookupInstance(Value("B")).Value;
            Is(b, pair.Writer.RegisterInstance(Value("B")));
            Is(pair.Reader.KeyValue(b).symbol, "B");
            Is(pair.Reader.LookupInstance(Value("C")), null);
            Is(pair.Reader.Read(0, SampleStates.Any, b).Count, 2);
            Is(pair.Reader.Read(0, SampleStates.NotRead).Single().Data.symbol, "A");
            var seen = new List<string>();
            InstanceHandle? previous = null;
            for (;;)
            {
                var next = pair.Reader.TakeNextInstance(previous);
                if (next.Count == 0)
                    break;
                previous = next[0].Info.Instance;
                seen.Add(next[0].Data.symbol + next.Count);
            }
            seen.Sort();
            Is(string.Join(" ", seen), "A1 B2");
            pair.Writer.UnregisterInstance(Value("B"));
            True(pair.Reader.WaitForData(Long), "data");
            Is(pair.Reader.Take().Single().Key.symbol, "B");
        }
    }

    static void TestBytesTravelAsTheyAre()
    {
        using (var participant = new DomainParticipant(0))
        {
            var topic = participant.CreateBytesTopic("Raw", "media::Frame", "pixels");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            writer.Write(new byte[] { 1, 2, 3 });
            writer.WriteRaw(new ArraySegment<byte>(new byte[] { 0, 4, 5, 0 }, 1, 2));
            writer.Write(new byte[0]);
            using (var loan = writer.Loan(10))
            {
                loan.CopyFrom(new byte[] { 6, 7 }, 0, 0, 2);
                loan.Write(2);
            }
            writer.Loan(3).Dispose();
            True(writer.WaitForAcknowledgments(Long), "acknowledged");
            Is(BitConverter.ToString(reader.Take(1)[0].Data), "01-02-03");
            RawSamples raw = reader.TakeRaw();
            Is(raw.Count, 3);
            Is(BitConverter.ToString(raw[0].ToArray()), "04-05");
            Is(raw[1].Length, 0);
            Is(BitConverter.ToString(raw[2].ToArray()), "06-07");
            raw.Dispose();
            Throws<ObjectDisposedException>(() => raw[0].ToArray());
        }
    }

    static void TestLoansStayUntilTheyAreGivenBack()
    {
        var lending = new Qos
        {
            Writer = { ["max_loan"] = "64KiB" }, Reader = { Reliability = Reliability.Reliable },
            ["participant.trusts_lenders"] = "true"
        };
        using (var two = new DomainParticipant(0, lending))
        {
            var one = new DomainParticipant(0, lending);
            var reader = two.CreateReader(two.CreateBytesTopic("Loans"), lending);
            var writer = one.CreateWriter(one.CreateBytesTopic("Loans"), lending);
            True(writer.WaitForMatched(1, Long), "they match");
            // Readers begin to follow the writer's log.
            for (int i = 0; i < 1000 && one.Counters["shm_loans_sent"] == 0; i++)
            {
                writer.Loan(1).Write(1);
                True(writer.WaitForAcknowledgments(Long), "acknowledged");
                reader.Take();
            }
            True(one.Counters["shm_loans_sent"] > 0, "it is lent");
            var written = writer.Loan(50000);
            var dropped = writer.Loan(50000);
            one.Dispose();
            byte[] bytes = Enumerable.Repeat((byte)7, 50000).ToArray();
            written.CopyFrom(bytes, 0, 0, bytes.Length);
            dropped.CopyFrom(bytes, 0, 0, bytes.Length);
            Throws<ObjectDisposedException>(() => written.Write(1));
            Throws<ObjectDisposedException>(() => written.CopyFrom(bytes, 0, 0, 1));
            dropped.Dispose();
            Throws<ObjectDisposedException>(() => dropped.Write(1));
            True(reader.Take().All(sample => !sample.ValidData || sample.Data.Length == 1), "it is not written");
        }
    }

    static void TestRawSamplesStayWhileAThreadLooksAtThem()
    {
        using (var participant = new DomainParticipant(0))
        {
            var topic = participant.CreateBytesTopic("Looked at");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            // Long ones, so that looking takes a while, and by turns others, which get the memory that is given back.
            var all = new[] { new byte[8000000], Enumerable.Repeat((byte)1, 8000000).ToArray() };
            writer.Write(all[0]);
            for (int i = 0; i < 20; i++)
            {
                True(reader.WaitForData(Long), "data");
                var samples = reader.TakeRaw();
                int value = i % 2;
                using (var looked = new ManualResetEventSlim())
                {
                    var looks = Task.Run(() =>
                    {
                        var copy = new byte[all[0].Length];
                        try
                        {
                            for (;;)
                            {
                                samples[0].CopyTo(copy, 0);
                                looked.Set();
                                for (int at = 0; at < copy.Length; at += 1000)
                                    Is((int)copy[at], value, "what is looked at");
                            }
                        }
                        catch (ObjectDisposedException)
                        {
                        }
                    });
                    True(looked.Wait(Long), "it looks");
                    samples.Dispose();
                    writer.Write(all[1 - value]);
                    True(looks.Wait(Long), "it has ended");
                }
            }
        }
    }

    static void TestWhatAWriterSendsWronglyIsToldWhenItIsAskedFor()
    {
        using (var pair = new Pair())
        {
            byte[] payload = AllSupport.Instance.ToPayload(Value("A"), pair.Writer.Version);
            // The side, behind the length and "A".
            payload[16] = 9;
            pair.Writer.WriteRaw(new ArraySegment<byte>(payload));
            pair.Writer.Write(Value("B"));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            var samples = pair.Reader.Take();
            Is(samples.Last().Data, Value("B"));
            if (samples.Count == 2)
                Is(Throws<CdrException>(() => samples[0].Data.ToString()).Member, "kinds::All.side");
            else
                True(pair.Reader.Counters["undecodable"] == 1, "counted");
        }
    }

    // -- Settings and failures --

    static void TestQosIsWhatWasSet()
    {
        var qos = new Qos { Writer = { Durability = Durability.TransientLocal, HistoryDepth = 3 } };
        Is(qos.Writer.Durability, Durability.TransientLocal);
        Is(qos.Writer.HistoryDepth, 3);
        Is(qos.Reader.Reliability, Reliability.BestEffort);
        qos.Reader.Deadline = TimeSpan.FromMilliseconds(5);
        Is(qos["reader.deadline"], "\"5ms\"");
        var thrown = Throws<TickwireException>(() => qos["writer.relaibility.kind"] = "reliable");
        Is(thrown.Result, Result.BadArgument);
        True(thrown.Message.Contains("reliability"), thrown.Message);
        Is(Throws<TickwireException>(() => Qos.Parse("[profiles.a]", "b")).Result, Result.NotFound);
    }

    static void TestFailuresSayWhy()
    {
        using (var pair = new Pair())
        {
            Is(Throws<TickwireException>(() => pair.Topic.Filter("nothing = 1")).Result, Result.BadArgument);
            Is(Throws<TickwireException>(() => pair.Participant.CreateBytesTopic("All")).Result, Result.Precondition);
            True(!pair.Reader.WaitForData(TimeSpan.Zero), "there is none");
            True(!pair.Reader.WaitForMatched(2, TimeSpan.Zero), "there is one alone");
            var xcdr1 = new byte[] { 0, 1, 0, 0, 0, 0, 0, 0 };
            Is(Throws<TickwireException>(() => pair.Writer.WriteRaw(new ArraySegment<byte>(xcdr1))).Result, Result.BadSample);
            Throws<ArgumentNullException>(() => pair.Participant.CreateWriter<All>(null));
            pair.Writer.Dispose();
            pair.Writer.Dispose();
            Throws<ObjectDisposedException>(() => pair.Writer.Write(Value("A")));
            pair.Participant.Dispose();
            Throws<ObjectDisposedException>(() => pair.Reader.Take());
        }
    }

    static void TestRepresentationIsThatOfTheWriter()
    {
        using (var pair = new Pair(new Qos
        {
            Writer = { ["representation"] = "xcdr1" },
            Reader = { ["representation"] = "xcdr1", Reliability = Reliability.Reliable }
        }))
        {
            Is(pair.Writer.Version, CdrVersion.Xcdr1);
            pair.Writer.Write(Value("A"));
            Is(pair.Next(), Value("A"));
        }
    }
}
