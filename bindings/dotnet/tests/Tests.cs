// Tests of the API: a function each, told by its name, in the files beside this one. Nothing there can fail by timing: what is
// waited for comes, or a wait of many seconds has failed.

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
}
