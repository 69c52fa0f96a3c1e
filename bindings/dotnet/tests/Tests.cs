// Tests of the API: a function each, told by its name. Nothing here can fail by timing: what is waited for comes, or a wait of many
// seconds has failed.

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
    static readonly TimeSpan Long = TimeSpan.FromSeconds(20);
    static readonly Qos Reliable = new Qos
    {
        Writer = { History = History.KeepAll },
        Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
    };

    /// All tests, or those whose names contain an argument.
    static int Main(string[] wanted)
    {
        var tests = typeof(Tests).GetMethods(System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.NonPublic)
            .Where(method => method.Name.StartsWith("Test") && (wanted.Length == 0 || wanted.Any(method.Name.Contains)));
        int failed = 0;
        int passed = 0;
        foreach (var test in tests)
        {
            try
            {
                ((Action)Delegate.CreateDelegate(typeof(Action), test))();
                passed++;
            }
            catch (Exception thrown)
            {
                Console.WriteLine("FAILED " + test.Name + ": " + thrown);
                failed++;
            }
        }
        Console.WriteLine(passed + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    static void Is<T>(T found, T expected, string what = null)
    {
        if (!EqualityComparer<T>.Default.Equals(found, expected))
            throw new Exception((what ?? "it") + " is " + found + " instead of " + expected);
    }

    static void True(bool holds, string what)
    {
        if (!holds)
            throw new Exception("not so: " + what);
    }

    static TException Throws<TException>(Action action) where TException : Exception
    {
        try
        {
            action();
        }
        catch (TException thrown)
        {
            return thrown;
        }
        throw new Exception("no " + typeof(TException).Name);
    }

    /// A participant with a writer and a reader that match.
    sealed class Pair : IDisposable
    {
        internal readonly DomainParticipant Participant;
        internal readonly Topic<All> Topic;
        internal readonly DataWriter<All> Writer;
        internal readonly DataReader<All> Reader;

        internal Pair(Qos qos = null)
        {
            Participant = new DomainParticipant(0);
            Topic = Participant.CreateTopic<All>("All");
            Writer = Participant.CreateWriter(Topic, qos ?? Reliable);
            Reader = Participant.CreateReader(Topic, qos ?? Reliable);
            True(Writer.WaitForMatched(1, Long), "they match");
        }

        internal All Next()
        {
            True(Reader.WaitForData(Long), "there are data");
            return Reader.Take(1)[0].Data;
        }

        public void Dispose() { Participant.Dispose(); }
    }

    static All Value(string symbol, int seven = 7)
    {
        var all = new All
        {
            symbol = symbol, side = Side.BUY, phases = Phases.OPEN | Phases.AUCTION, maybe = -4, maybe_text = "é\u20ac\U0001f4c8",
            seven = seven, letter = 'ÿ', ratio = double.NaN
        };
        all.bits.low = 5;
        all.bits.signed_one = -16;
        all.choice.limit = 1.5;
        all.level.price = 2.5;
        all.levels.Add(new Level { price = 3 });
        all.grid[1, 2] = 9;
        all.names[1] = "abc";
        all.counts["x"] = 1;
        return all;
    }

    // -- Types --

    static void TestValuesBeginAsTheirTypesSay()
    {
        var all = new All();
        Is(all.symbol, "");
        Is(all.side, Side.SELL);
        Is(all.seven, 7);
        Is(all.maybe, null);
        Is(all.names[0], "");
        Is(all.grid.Length, 6);
        Is(all.choice.Discriminator, Side.BUY);
        Is(new Bits(0xff).signed_one, (short)-1);
        Is((byte)new Bits { low = 7, signed_one = 1 }, (byte)15);
    }

    static void TestUnionsHaveOneMember()
    {
        var choice = new Choice { limit = 2 };
        Throws<InvalidOperationException>(() => choice.texts.Add("x"));
        choice.Discriminator = Side.SELL;
        choice.texts.Add("x");
        Throws<InvalidOperationException>(() => choice.limit++);
        choice.limit = 3;
        Is(choice.Discriminator, Side.BUY);
        Is(choice, new Choice { limit = 3 });
        True(!choice.Equals(new Choice { limit = 4 }), "others differ");
    }

    static void TestEqualityIsThatOfMembers()
    {
        Is(Value("A"), Value("A"));
        Is(Value("A").GetHashCode(), Value("A").GetHashCode());
        True(!Value("A").Equals(Value("B")), "keys differ");
        Base one = Value("A");
        Base other = Value("A", 8);
        True(!one.Equals(other), "members of the derived class differ");
        other = new Base { symbol = "A" };
        True(!one.Equals(other) && !other.Equals(one), "classes differ");
        var changed = Value("A");
        changed.grid[0, 0] = 1;
        True(!changed.Equals(Value("A")), "arrays differ");
        changed = Value("A");
        changed.counts["x"] = 2;
        True(!changed.Equals(Value("A")), "maps differ");
    }

    static void TestNamesOfMembersAreTheirOwn()
    {
        Func<int, Names> make = changed => new Names
        {
            other = changed == 1 ? 9 : 1, hash = changed == 2 ? "y" : "x",
            a0 = { changed == 3 ? "y" : "x" }, b0 = { { "b", new Level { price = changed == 4 ? 9 : 1 } } },
            scope = { [1, 1] = (byte)(changed == 5 ? 9 : 1) }, @this = { price = changed == 6 ? 9 : 1 },
            v1 = changed == 7 ? null : "v", i1 = { other = changed == 8 ? "y" : "x" }
        };
        for (int i = 1; i <= 8; i++)
        {
            True(!make(i).Equals(make(0)) && !make(0).Equals(make(i)), "member " + i + " differs");
            byte[] payload = NamesSupport.Instance.ToPayload(make(i), CdrVersion.Xcdr2);
            Is(NamesSupport.Instance.FromPayload(payload), make(i));
        }
        Is(make(0), make(0));
        Is(make(1).GetHashCode(), make(1).GetHashCode());
        True(make(1).GetHashCode() != make(0).GetHashCode(), "keys differ");
    }

    static void TestPayloadsTakeMemoryInProportion()
    {
        // It is there, and that is all.
        byte[] payload = { 0, 9, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
        Is(Throws<CdrException>(() => FarSupport.Instance.FromPayload(payload)).Status, CdrStatus.TooLarge);
        // A member that comes again and again, by turns the one and the other of a union, without what is in it.
        var again = new List<byte> { 0, 11, 0, 0, 128, 2, 0, 0 };
        for (byte i = 0; i < 40; i++)
            again.AddRange(new byte[] { 0, 0, 0, 0x50, 8, 0, 0, 0, (byte)(1 + i % 2), 0, 0, 0, 0, 0, 0, 0 });
        var thrown = Throws<CdrException>(() => AgainSupport.Instance.FromPayload(again.ToArray()));
        Is(thrown.Status, CdrStatus.TooLarge);
        Is(thrown.Member, "kinds::Again.either");
        again.RemoveRange(8 + 16, again.Count - 8 - 16);
        again[4] = 16;
        again[5] = 0;
        Is(AgainSupport.Instance.FromPayload(again.ToArray()), new Again { either = { one = new Wide() } });
        var far = new Far { levels = new Level[1, 100000] };
        for (int i = 0; i < 100000; i++)
            far.levels[0, i] = new Level { price = i };
        Is(FarSupport.Instance.FromPayload(FarSupport.Instance.ToPayload(far, CdrVersion.Xcdr2)), far);
    }

    static void TestKeysOfMapsAreHashedInSecret()
    {
        byte[] payload = AllSupport.Instance.ToPayload(Value("A"), CdrVersion.Xcdr2);
        var into = new All { counts = new Dictionary<string, int>() };
        AllSupport.Instance.FromPayload(payload, into);
        Is(into, Value("A"));
        foreach (var all in new[] { into, new All(), AllSupport.Instance.FromPayload(payload) })
            Is(all.counts.Comparer, MapKeys.String);
        // Of their own hashes all are 0.
        True(Enumerable.Range(0, 1000).Select(i => MapKeys.Int64.GetHashCode((long)i << 32 | (uint)i)).Distinct().Count() > 990,
            "others differ");
        foreach (var keys in new[] { new[] { "", "\0" }, new[] { "ab", "ba" }, new[] { "\0a", "a" } })
            True(MapKeys.String.GetHashCode(keys[0]) != MapKeys.String.GetHashCode(keys[1]), "others differ");
        Is(MapKeys.String.GetHashCode("abc"), MapKeys.String.GetHashCode(string.Concat("a", "bc")));
    }

    static void TestPayloadsGoBothWays()
    {
        foreach (var version in new[] { CdrVersion.Xcdr1, CdrVersion.Xcdr2 })
        {
            byte[] payload = AllSupport.Instance.ToPayload(Value("A"), version);
            Is(AllSupport.Instance.FromPayload(payload), Value("A"));
            byte[] key = AllSupport.Instance.ToPayload(Value("A"), version, true);
            Is(AllSupport.Instance.FromPayload(key, true).symbol, "A");
        }
    }

    static void TestWhatCannotBeWrittenIsNamed()
    {
        Action<Action<All>, CdrStatus, string> refused = (change, status, member) =>
        {
            var value = Value("A");
            change(value);
            var thrown = Throws<CdrException>(() => AllSupport.Instance.ToPayload(value, CdrVersion.Xcdr2));
            Is(thrown.Status, status);
            Is(thrown.Member, member);
            True(thrown.Message.StartsWith(member), thrown.Message);
        };
        refused(value => value.symbol = "123456789", CdrStatus.Length, "kinds::All.symbol");
        refused(value => value.symbol = "ééééé", CdrStatus.Length, "kinds::All.symbol");
        refused(value => value.symbol = null, CdrStatus.Null, "kinds::All.symbol");
        refused(value => value.symbol = "a\0b", CdrStatus.Text, "kinds::All.symbol");
        refused(value => value.symbol = "\ud800", CdrStatus.Text, "kinds::All.symbol");
        refused(value => value.side = (Side)7, CdrStatus.Literal, "kinds::All.side");
        refused(value => value.level = null, CdrStatus.Null, "kinds::All.level");
        refused(value => value.levels = null, CdrStatus.Null, "kinds::All.levels");
        refused(value => value.levels.AddRange(new[] { new Level(), new Level() }), CdrStatus.Length, "kinds::All.levels");
        refused(value => value.levels[0] = null, CdrStatus.Null, "kinds::All.levels");
        refused(value => value.grid = new int[3, 2], CdrStatus.Length, "kinds::All.grid");
        refused(value => value.names = new string[1], CdrStatus.Length, "kinds::All.names");
        refused(value => value.letter = '\u0100', CdrStatus.Text, "kinds::All.letter");
        refused(value => value.counts = null, CdrStatus.Null, "kinds::All.counts");
    }

    static void TestWhatIsNoValueIsNamedWithItsPlace()
    {
        byte[] payload = AllSupport.Instance.ToPayload(Value("A"), CdrVersion.Xcdr2);
        payload[8] = 200;
        var thrown = Throws<CdrException>(() => AllSupport.Instance.FromPayload(payload));
        Is(thrown.Status, CdrStatus.Length);
        Is(thrown.Message, "kinds::All.symbol, byte 12 of the payload: " +
            "longer than its bound, or than the bytes that there are, or an array of another shape");
        Is(Throws<CdrException>(() => AllSupport.Instance.FromPayload(new byte[3])).Status, CdrStatus.End);
        Is(Throws<CdrException>(() => AllSupport.Instance.FromPayload(new byte[8] { 0, 99, 0, 0, 0, 0, 0, 0 })).Status,
            CdrStatus.Encapsulation);
    }

    static void TestReadingIntoAValueKeepsWhatIsTheSame()
    {
        var value = Value("A");
        byte[] payload = AllSupport.Instance.ToPayload(Value("A", 8), CdrVersion.Xcdr2);
        string symbol = value.symbol;
        var levels = value.levels;
        var level = value.levels[0];
        AllSupport.Instance.FromPayload(payload, value);
        Is(value, Value("A", 8));
        True(ReferenceEquals(symbol, value.symbol), "the string");
        True(ReferenceEquals(levels, value.levels) && ReferenceEquals(level, value.levels[0]), "the list");
    }

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

    // -- Waiting --

    static void TestWaitSetsWaitForAnyCondition()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var unread = pair.Reader.CreateReadCondition(SampleStates.NotRead))
        using (var waits = new WaitSet(guard, unread))
        {
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            guard.Set(true);
            Is(waits.Wait(Long).Single(), (Condition)guard);
            guard.Set(false);
            pair.Writer.Write(Value("A"));
            Is(waits.Wait(Long).Single(), (Condition)unread);
            True(unread.Holds && !guard.Holds, "they hold");
            waits.Detach(unread);
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            using (var matched = pair.Writer.CreateStatusCondition(Statuses.PublicationMatched))
            {
                waits.Attach(matched);
                Is(waits.Wait(Long).Single(), matched);
                Is(pair.Writer.PublicationMatchedStatus.CurrentCount, 1u);
            }
        }
    }

    static void TestConditionsThatAreGoneCanBeDetached()
    {
        using (var pair = new Pair())
        {
            var waits = new WaitSet();
            var one = pair.Reader.CreateReadCondition(SampleStates.Any);
            var two = pair.Reader.CreateReadCondition(SampleStates.Any);
            waits.Attach(one);
            waits.Attach(two);
            one.Dispose();
            pair.Reader.Dispose();
            waits.Detach(one);
            waits.Detach(two);
            Is(waits.Wait(TimeSpan.Zero).Count, 0);
            waits.Dispose();
            Throws<ObjectDisposedException>(() => waits.Detach(two));
        }
    }

    static void TestQueriesAndFilters()
    {
        using (var pair = new Pair())
        using (var some = pair.Reader.CreateQueryCondition(SampleStates.Any, "seven > %0 ORDER BY seven", "1"))
        using (var filtered = pair.Participant.CreateReader(pair.Topic.Filter("symbol = %0", "'B'"), Reliable))
        {
            True(pair.Writer.WaitForMatched(2, Long), "they match");
            foreach (int seven in new[] { 3, 1, 2 })
                pair.Writer.Write(Value("A", seven));
            pair.Writer.Write(Value("B", 0));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            Is(string.Join(" ", pair.Reader.Read(some).Select(sample => sample.Data.seven)), "2 3");
            some.SetParameters("2");
            Is(pair.Reader.Take(some).Single().Data.seven, 3);
            Is(pair.Reader.Take().Count, 3);
            Is(filtered.Take().Single().Data, Value("B", 0));
        }
    }

    static void TestDisposingOfWhatIsWaitedForEndsTheWait()
    {
        Action<Pair, IDisposable, Action> ends = (pair, disposed, wait) =>
        {
            using (var begun = new ManualResetEventSlim())
            {
                var waits = Task.Run(() =>
                {
                    begun.Set();
                    wait();
                });
                True(begun.Wait(Long), "it waits");
                disposed.Dispose();
                var thrown = Throws<AggregateException>(() => True(waits.Wait(Long), "it ends")).InnerException;
                True(thrown is ObjectDisposedException, thrown.ToString());
            }
        };
        var forEver = Timeout.InfiniteTimeSpan;
        using (var pair = new Pair())
        using (var waits = new WaitSet(new GuardCondition()))
        {
            ends(pair, waits, () => waits.Wait(forEver));
            ends(pair, pair.Reader, () => pair.Reader.WaitForData(forEver));
            ends(pair, pair.Writer, () => pair.Writer.WaitForMatched(5, forEver));
        }
        using (var pair = new Pair())
            ends(pair, pair.Participant, () => pair.Reader.WaitForMatched(5, forEver));
        using (var pair = new Pair())
            ends(pair, pair.Participant, () => pair.Reader.TakeEach(forEver).ToList());
        using (var pair = new Pair())
        {
            True(!pair.Reader.WaitForData(TimeSpan.FromMilliseconds(120)), "there is none");
            pair.Writer.Write(Value("A"));
            True(pair.Reader.WaitForData(forEver), "there is one");
        }
    }

    static void TestTasksCompleteWithDataAndEndWithTheReader()
    {
        using (var pair = new Pair())
        {
            var waiting = pair.Reader.TakeAsync();
            True(!waiting.IsCompleted, "nothing is there");
            pair.Writer.Write(Value("A"));
            True(waiting.Wait(Long), "data");
            Is(waiting.Result.Single().Data, Value("A"));
            pair.Writer.Write(Value("B"));
            True(pair.Reader.WaitAsync().Wait(Long), "data");
            pair.Reader.Take();

            var cancel = new CancellationTokenSource();
            var cancelled = pair.Reader.WaitAsync(cancel.Token);
            cancel.Cancel();
            True(Throws<AggregateException>(() => cancelled.Wait(Long)).InnerException is OperationCanceledException, "cancelled");

            var ended = pair.Reader.WaitAsync();
            pair.Reader.Dispose();
            True(Throws<AggregateException>(() => ended.Wait(Long)).InnerException is ObjectDisposedException, "ended");
        }
    }

    static void TestManyTasksWaitForOneReader()
    {
        using (var pair = new Pair())
        {
            var all = Enumerable.Range(0, 8).Select(_ => pair.Reader.TakeAsync(1)).ToArray();
            for (int i = 0; i < 8; i++)
                pair.Writer.Write(Value("A", i));
            True(Task.WaitAll(all, Long), "all have one");
            Is(all.Select(task => task.Result.Single().Data.seven).Distinct().Count(), 8);
        }
    }

    static void TestWhoPollsDrivesTheParticipant()
    {
        using (var participant = new DomainParticipant(0, new Qos { ["participant.driving"] = "polled" }))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            int called = 0;
            reader.DataAvailable += _ => called = Thread.CurrentThread.ManagedThreadId;
            writer.Write(Value("A"));
            while (called == 0)
                participant.Poll(Long);
            Is(called, Thread.CurrentThread.ManagedThreadId);
            Is(reader.Take().Single().Data, Value("A"));
        }
    }

    // -- Events --

    static void TestEventsTellOfDataAndMatches()
    {
        using (var pair = new Pair())
        using (var data = new SemaphoreSlim(0))
        using (var matched = new SemaphoreSlim(0))
        {
            pair.Reader.SubscriptionMatched += (reader, status) =>
            {
                if (reader == pair.Reader && status.CurrentCount == 2)
                    matched.Release();
            };
            Action<DataReader<All>> count = reader => data.Release();
            pair.Reader.DataAvailable += count;
            pair.Writer.Write(Value("A"));
            True(data.Wait(Long), "data");
            using (pair.Participant.CreateWriter(pair.Topic, Reliable))
                True(matched.Wait(Long), "matched");
            pair.Reader.DataAvailable -= count;
        }
    }

    static void TestTheFirstHandlerIsToldOfWhatCameBefore()
    {
        // The library's thread is as fast as the one that adds a handler, or is not: some of many times it was.
        for (int i = 0; i < 30; i++)
            using (var pair = new Pair())
            using (var data = new SemaphoreSlim(0))
            {
                pair.Writer.Write(Value("A"));
                True(pair.Reader.WaitForData(Long), "it has come");
                pair.Reader.DataAvailable += reader => data.Release();
                True(data.Wait(Long), "data " + i);
            }
    }

    static void TestWhatHandlersThrowIsReported()
    {
        using (var told = new ManualResetEvent(false))
        {
            object reader = null;
            Action<object, Exception> report = (about, thrown) =>
            {
                if (about == reader && thrown.Message == "on purpose")
                    told.Set();
            };
            ListeningObject.EventFailed += report;
            using (var pair = new Pair())
            {
                reader = pair.Reader;
                pair.Reader.DataAvailable += _ => { throw new Exception("on purpose"); };
                pair.Writer.Write(Value("A"));
                True(told.WaitOne(Long), "told");
                Is(pair.Next(), Value("A"));
            }
            ListeningObject.EventFailed -= report;
        }
    }

    static void TestWhoDoesNotMatchIsToldWhy()
    {
        using (var participant = new DomainParticipant(0))
        using (var told = new SemaphoreSlim(0))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = participant.CreateWriter(topic, new Qos { Writer = { Reliability = Reliability.BestEffort } });
            string why = "";
            writer.OfferedIncompatibleQos += (_, status) =>
            {
                why = status.Why;
                told.Release();
            };
            var reader = participant.CreateReader(topic, Reliable);
            True(told.Wait(Long), "told");
            True(why.Contains("RELIABILITY"), why);
            Is(reader.RequestedIncompatibleQosStatus.TotalCount, 1u);
        }
    }

    static void TestTopicsOfOneNameAreToldEachOfWhatDoesNotFit()
    {
        using (var participant = new DomainParticipant(0))
        using (var one = new SemaphoreSlim(0))
        using (var two = new SemaphoreSlim(0))
        {
            var topics = new[] { participant.CreateTopic<All>("Twice"), participant.CreateTopic<All>("Twice") };
            Action<Topic<All>, CountStatus> tell = (topic, status) => (topic == topics[0] ? one : two).Release();
            topics[0].InconsistentTopic += tell;
            topics[1].InconsistentTopic += tell;
            participant.CreateReader(topics[0], Reliable);
            using (var other = new DomainParticipant(0))
            using (other.CreateWriter(other.CreateTopic<Names>("Twice"), Reliable))
            {
                True(one.Wait(Long), "the first is told");
                True(two.Wait(Long), "the second is told");
            }
            topics[1].InconsistentTopic -= tell;
            using (var other = new DomainParticipant(0))
            using (other.CreateWriter(other.CreateTopic<Far>("Twice"), Reliable))
                True(one.Wait(Long), "the first is told again");
            Is(two.CurrentCount, 0);
        }
    }

    static void TestDeadlinesAndLivelinessAreTold()
    {
        var qos = new Qos
        {
            Writer = { Deadline = TimeSpan.FromMilliseconds(20), ["liveliness.kind"] = "manual_by_topic",
                ["liveliness.lease_duration"] = "20ms" },
            Reader = { Deadline = TimeSpan.FromMilliseconds(20), Reliability = Reliability.Reliable }
        };
        using (var pair = new Pair(qos))
        using (var missed = new SemaphoreSlim(0))
        using (var lost = new SemaphoreSlim(0))
        {
            pair.Reader.RequestedDeadlineMissed += (_, status) => missed.Release();
            pair.Writer.OfferedDeadlineMissed += (_, status) => missed.Release();
            pair.Writer.LivelinessLost += (_, status) => lost.Release();
            pair.Writer.Write(Value("A"));
            True(missed.Wait(Long) && missed.Wait(Long), "missed");
            True(lost.Wait(Long), "lost");
            pair.Writer.AssertLiveliness();
        }
    }

    static void TestHandlersMayDoAnything()
    {
        using (var pair = new Pair())
        using (var done = new SemaphoreSlim(0))
        {
            int left = 100;
            pair.Reader.DataAvailable += reader =>
            {
                if (left == 0)
                    return;
                foreach (var sample in reader.Take())
                {
                    if (--left > 0)
                        pair.Writer.Write(sample.Data);
                    else
                        done.Release();
                }
                // Other handlers come meanwhile.
                reader.SampleLost += (_, status) => { };
            };
            pair.Writer.Write(Value("A"));
            True(done.Wait(Long), "all came");
        }
    }

    static void TestCoherentSetsComeWhole()
    {
        var qos = new Qos
        {
            Writer = { History = History.KeepAll },
            Reader = { Reliability = Reliability.Reliable, History = History.KeepAll },
            ["publisher.presentation.coherent_access"] = "true", ["publisher.presentation.access_scope"] = "topic",
            ["subscriber.presentation.coherent_access"] = "true", ["subscriber.presentation.access_scope"] = "topic"
        };
        using (var participant = new DomainParticipant(0))
        using (var publisher = participant.CreatePublisher(qos))
        using (var subscriber = participant.CreateSubscriber(qos))
        {
            var topic = participant.CreateTopic<All>("All");
            var writer = publisher.CreateWriter(topic, qos);
            var reader = subscriber.CreateReader(topic, qos);
            True(writer.WaitForMatched(1, Long), "they match");
            publisher.BeginCoherent();
            writer.Write(Value("A"));
            writer.Write(Value("B"));
            publisher.Flush();
            publisher.EndCoherent();
            True(reader.WaitForData(Long), "data");
            Is(reader.Take().Count, 2);
        }
    }

    static void TestReadersEndWithTheLastWhoIsToldOfThem()
    {
        using (var pair = new Pair())
        {
            Action<DataReader<All>> handler = _ => { };
            var left = new List<WeakReference>();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    reader.DataAvailable += handler;
                    reader.DataAvailable -= handler;
                    reader.SampleLost += (_, status) => { };
                    if (i % 2 == 0)
                        left.Add(new WeakReference(reader));
                }
            });
            Apart(Collect);
            Is(left.Count(each => each.IsAlive), 10, "who has handlers");
            left.Clear();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    reader.DataAvailable += handler;
                    var cancel = new CancellationTokenSource();
                    var waits = reader.WaitAsync(cancel.Token);
                    cancel.Cancel();
                    Throws<AggregateException>(() => waits.Wait(Long));
                    reader.DataAvailable -= handler;
                    left.Add(new WeakReference(reader));
                }
            });
            Apart(Collect);
            FewLive(left);
        }
    }

    static void TestWhatIsDisposedOfIsKeptByNobody()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var waits = new WaitSet())
        {
            var left = new List<WeakReference>();
            int told = 0;
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var reader = pair.Participant.CreateReader(pair.Topic, Reliable);
                    var condition = reader.CreateReadCondition(SampleStates.Any);
                    waits.Attach(condition);
                    (i % 2 == 0 ? (IDisposable)condition : reader).Dispose();
                    left.Add(new WeakReference(reader));
                    // Topics of one name share what the participant keeps.
                    var topic = pair.Participant.CreateTopic<All>("All");
                    topic.InconsistentTopic += (_, status) => told++;
                    topic.Dispose();
                    Throws<ObjectDisposedException>(() => topic.InconsistentTopic += (_, status) => told++);
                    left.Add(new WeakReference(topic));
                }
            });
            Apart(Collect);
            FewLive(left);
            waits.Attach(guard);
        }
    }

    static void TestWaitSetsLetGoOfConditionsThatAreGone()
    {
        using (var pair = new Pair())
        using (var guard = new GuardCondition())
        using (var waits = new WaitSet(guard))
        {
            var left = new List<WeakReference>();
            Apart(() =>
            {
                for (int i = 0; i < 20; i++)
                {
                    var subscriber = pair.Participant.CreateSubscriber();
                    var reader = subscriber.CreateReader(pair.Topic, Reliable);
                    var condition = reader.CreateReadCondition(SampleStates.Any);
                    waits.Attach(condition);
                    new TickwireObject[] { condition, reader, subscriber }[i % 3].Dispose();
                    left.Add(new WeakReference(condition));
                }
            });
            Apart(Collect);
            FewLive(left);
            guard.Set(true);
            Is(waits.Wait(Long).Single(), (Condition)guard, "it has what is left");
        }
    }

    /// The stacks of threads that have ended keep nothing.
    static void Apart(Action action)
    {
        var thread = new Thread(() => action());
        thread.Start();
        thread.Join();
    }

    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
    }

    /// Mono looks at stacks by guess.
    static void FewLive(List<WeakReference> left)
    {
        int live = left.Count(each => each.IsAlive);
        True(live <= 5, live + " live");
    }

    static void TestWhatNobodyHasIsCollected()
    {
        for (int i = 0; i < 3; i++)
            new DomainParticipant(0).CreateTopic<All>("All");
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        using (var pair = new Pair())
        {
            pair.Reader.TakeRaw();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            pair.Writer.Write(Value("A"));
            Is(pair.Next(), Value("A"));
        }
    }

#if NETCOREAPP
    // -- What .NET Core has besides --

    static void TestSpansAreWrittenAndRead()
    {
        using (var participant = new DomainParticipant(0))
        {
            var topic = participant.CreateBytesTopic("Spans");
            var writer = participant.CreateWriter(topic, Reliable);
            var reader = participant.CreateReader(topic, Reliable);
            True(writer.WaitForMatched(1, Long), "they match");
            Span<byte> bytes = stackalloc byte[3] { 1, 2, 3 };
            writer.WriteRaw(bytes);
            using (var loan = writer.Loan(4))
            {
                loan.Span.Fill(9);
                loan.Write(4);
            }
            True(writer.WaitForAcknowledgments(Long), "acknowledged");
            using (var samples = reader.TakeRaw())
            {
                True(samples[0].Span.SequenceEqual(bytes), "the same bytes");
                Is(samples[1].Span[3], (byte)9);
            }
        }
    }

    static void TestStreamsBeginWithWhatWasReadBefore()
    {
        using (var pair = new Pair())
        {
            for (int i = 0; i < 3; i++)
                pair.Writer.Write(Value("A", i));
            True(pair.Writer.WaitForAcknowledgments(Long), "acknowledged");
            Is(pair.Reader.Read().Count, 3);
            var seen = new List<int>();
            Func<Task> follow = async () =>
            {
                await foreach (var sample in pair.Reader.StreamAsync())
                {
                    seen.Add(sample.Data.seven);
                    if (seen.Count == 3)
                        break;
                }
            };
            True(follow().Wait(Long), "all came");
            Is(string.Join(" ", seen), "0 1 2");
        }
    }

    static void TestStreamsGoOnUntilTheyAreCancelled()
    {
        using (var pair = new Pair())
        {
            var seen = new List<int>();
            var cancel = new CancellationTokenSource();
            Func<Task> follow = async () =>
            {
                await foreach (var sample in pair.Reader.StreamAsync(cancel.Token))
                {
                    seen.Add(sample.Data.seven);
                    if (seen.Count == 3)
                        cancel.Cancel();
                }
            };
            var following = follow();
            for (int i = 0; i < 3; i++)
                pair.Writer.Write(Value("A", i));
            Throws<AggregateException>(() => following.Wait(Long));
            Is(string.Join(" ", seen), "0 1 2");
        }
    }
#endif
}
