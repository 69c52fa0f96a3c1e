// Writes or reads the topics of matrix.idl, as matrix.py says.

using System;
using System.Collections.Generic;
using System.Linq;
using matrix;
using Tickwire;

static class Program
{
    const int Count = 4;
    /// Whose instance is disposed of that a sample of this number has.
    static readonly string[] Ending = { "Keyed", "Sides" };
    const int Disposed = 1;
    static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    /// Who has waited in vain once looks at what is there, and says how much that is.
    static TimeSpan _patience = Patience;

    static readonly List<Action> Rest = new List<Action>();
    static DomainParticipant _participant;
    static Qos _qos;
    static string[] _arguments;

    static void Main(string[] arguments)
    {
        _arguments = arguments;
        _qos = Qos.Load();
        using (_participant = new DomainParticipant(0, _qos))
        {
            Topic("Numbers", Numbers);
            Topic("Texts", Texts);
            Topic("Wides", Wides);
            Topic("Named", Named);
            Topic("Masks", Masks);
            Topic("Aliases", Aliases);
            Topic("Choices", Choices);
            Topic("Letters", Letters);
            Topic("Mutables", Mutables);
            Topic("Collections", Collections);
            Topic("Maps", Maps);
            Topic("Codes", Codes);
            Topic("Absent", Absent);
            Topic("Derived", Derived);
            Topic("DerivedMutable", DerivedMutable);
            Topic("DerivedFinal", DerivedFinal);
            Topic("Keyed", Keyed);
            Topic("Flowing", Flowing);
            Topic("Hashed", Hashed);
            Topic("Tree", Tree);
            Topic("Bitsets", Bitsets);
            Topic("Sides", Sides);
            Topic("Words", Words);
            foreach (Action rest in Rest)
                rest();
            if (arguments[0] == "write")
                Console.In.ReadToEnd();
        }
    }

    static void Topic<T>(string name, Func<int, T> of) where T : class, ITopicType<T>, new()
    {
        if (!_arguments[1].Split(',').Contains(name))
            return;
        if (_arguments[0] == "write")
        {
            var writer = _participant.CreateWriter(_participant.CreateTopic<T>(name + "_" + _arguments[2]), _qos);
            int readers = int.Parse(_arguments[3]);
            Rest.Add(() =>
            {
                if (!writer.WaitForMatched(readers, Patience))
                    throw new Exception("not all read " + name);
                for (int n = 0; n < Count; n++)
                    writer.Write(of(n));
                if (Ending.Contains(name))
                    writer.DisposeInstance(of(Disposed));
                writer.WaitForAcknowledgments(Patience);
            });
            return;
        }
        foreach (string other in _arguments[2].Split(','))
        {
            var reader = _participant.CreateReader(_participant.CreateTopic<T>(name + "_" + other), _qos);
            Rest.Add(() => Console.WriteLine(name + " " + other + " " + Verdict(reader, name, of)));
        }
    }

    static string Verdict<T>(DataReader<T> reader, string name, Func<int, T> of) where T : class, ITopicType<T>, new()
    {
        int n = 0;
        bool ended = !Ending.Contains(name);
        string wrong = "ok";
        while (n < Count || !ended)
        {
            if (!reader.WaitForData(_patience))
            {
                _patience = TimeSpan.Zero;
                return n + " samples came, the end of an instance: " + ended;
            }
            foreach (var sample in reader.Take())
            {
                if (sample.Data != null)
                {
                    if (!sample.Data.Equals(of(n)))
                        wrong = "sample " + n + " is not equal";
                    n++;
                }
                else if ((sample.Info.States & SampleStates.Disposed) != 0)
                {
                    ended = true;
                    if (!sample.Info.Instance.Equals(reader.LookupInstance(of(Disposed))))
                        wrong = "another instance ended";
                }
            }
        }
        return wrong;
    }

    static Numbers Numbers(int n)
    {
        return new Numbers
        {
            truth = n % 2 == 1,
            eight_bits = (byte)(n + 1),
            letter = (char)('a' + n),
            i8 = (sbyte)-n,
            u8 = (byte)(200 + n),
            i16 = (short)(-1000 * n),
            u16 = (ushort)(60000 + n),
            i32 = -100000 * n,
            u32 = 4000000000 + (uint)n,
            i64 = -(1L << 40) * n,
            u64 = (1UL << 63) + (ulong)n,
            f32 = n + 0.5f,
            f64 = n * 1e100
        };
    }

    static Texts Texts(int n)
    {
        return new Texts { free = n == 0 ? "" : "text " + n + " é€📈", most8 = "m" + n };
    }

    static Wides Wides(int n)
    {
        return new Wides
        {
            wide = "wide " + n + " é€📈",
            wide8 = "w" + n,
            letter = (char)(0x20ac + n),
            more = Enumerable.Repeat("é", n).ToList()
        };
    }

    static Side Side(int n) { return n % 2 == 1 ? matrix.Side.SELL : matrix.Side.BUY; }

    static Named Named(int n)
    {
        return new Named
        {
            side = Side(n),
            state = n % 2 == 1 ? State.OPENED : State.CLOSED,
            flags = ((n & 1) != 0 ? Flags.OPEN : 0) | ((n & 2) != 0 ? Flags.HALTED : 0),
            sizes = Enumerable.Range(0, n).ToArray(),
            venue = Constants.VENUE,
            tick = Constants.TICK * n,
            depth = Constants.DEPTH,
            mark = Constants.MARK,
            live = Constants.LIVE
        };
    }

    static Masks Masks(int n)
    {
        Narrow narrow = ((n & 1) != 0 ? Narrow.LOW16 : 0) | ((n & 2) != 0 ? Narrow.HIGH16 : 0);
        return new Masks
        {
            narrow = narrow,
            usual = ((n & 1) != 0 ? Usual.LOW32 : 0) | ((n & 2) != 0 ? Usual.HIGH32 : 0),
            broad = ((n & 1) != 0 ? Broad.LOW64 : 0) | (n == 3 ? Broad.MIDDLE64 : 0) | ((n & 2) != 0 ? Broad.HIGH64 : 0),
            more = Enumerable.Repeat(narrow, n).ToList()
        };
    }

    static int[] Row(int n, int i) { return Several(3, j => n * 100 + i * 10 + j).ToArray(); }

    static int[,] Grid(int n, int from = 0)
    {
        var of = new int[2, 3];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++)
                of[i, j] = n * 100 + (from + i) * 10 + j;
        return of;
    }

    static Aliases Aliases(int n)
    {
        return new Aliases
        {
            row = Row(n, 0),
            grid = Grid(n),
            rows = Grid(n, 2),
            more = Several(n, i => Row(n, i)),
            grids = Several(n, i => Grid(i))
        };
    }

    static Bitsets Bitsets(int n)
    {
        var bits = new Bits { low = (byte)n, flag = n % 2 == 1, below_zero = (short)-n };
        return new Bitsets { bits = bits, more = Enumerable.Repeat(bits, n).ToList() };
    }

    static Point Point(int n, int at) { return new Point { x = n + 0.5, n = at }; }

    static Level Level(int n) { return new Level { price = n + 0.25, size = (uint)n }; }

    static Choice Choice(int n)
    {
        switch (n % 3)
        {
            case 0: return new Choice { level = Level(n) };
            case 1: return new Choice { price = n + 0.5 };
            default: return new Choice { text = "t" + n };
        }
    }

    static Letters Letters(int n)
    {
        switch (n)
        {
            case 1: return new Letters { by_letter = new ByLetter { large = 1L << 40 } };
            case 2: return new Letters { by_letter = new ByLetter { Discriminator = '\0' } };
            default: return new Letters { by_letter = new ByLetter { small = (short)n } };
        }
    }

    static Choices Choices(int n)
    {
        return new Choices
        {
            choice = Choice(n),
            by_side = n % 2 == 1
                ? new BySide { texts = Enumerable.Repeat("s", n).ToList() }
                : new BySide { number = n * 10 },
            choices = Several(n, Choice)
        };
    }

    static Mutables Mutables(int n)
    {
        return new Mutables { by_bool = n % 2 == 1 ? new ByBool { point = Point(n, n) } : new ByBool { plain = (byte)n } };
    }

    static Collections Collections(int n)
    {
        return new Collections
        {
            numbers = Eighths(n),
            levels = Several(n, Level),
            texts = Several(n, i => Enumerable.Repeat("s", i).ToList()),
            truths = Several(n, i => i % 2 == 1).ToArray(),
            sides = Several(n, Side),
            blob = Several(n, i => (byte)i).ToArray(),
            digest = Several(4, i => (byte)(n + i)).ToArray(),
            grid = Grid(n),
            points = new[] { Point(n, 0), Point(n, 1) },
            names = new[] { "n" + n, "" },
            spread = new[] { Several(n, i => Point(i, i)), new List<Point>() }
        };
    }

    static Maps Maps(int n)
    {
        return new Maps
        {
            by_name = Enumerable.Range(0, n).ToDictionary(i => "k" + i),
            by_number = Enumerable.Range(0, n).ToDictionary(i => i - 1, Level),
            bounded = Enumerable.Range(0, n).ToDictionary(i => (short)i, Eighths),
            by_side = Enumerable.Range(0, Math.Min(n, 2)).ToDictionary(Side, i => i == 0),
            octets = Enumerable.Range(0, n).ToDictionary(i => (byte)i, i => (byte)(200 + i)),
            blobs = Enumerable.Range(0, n).ToDictionary(i => "k" + i, i => Several(i, j => (byte)j).ToArray())
        };
    }

    static Codes Codes(int n)
    {
        return new Codes
        {
            by_octet = n % 2 == 1 ? new ByOctet { number = -n } : new ByOctet { plain = (byte)n },
            by_wide = n == 2 ? new ByWide { Discriminator = '\0' } : new ByWide { price = n + 0.5 }
        };
    }

    static Absent Absent(int n)
    {
        var of = new Absent { apart = Level(n) };
        if (n % 2 == 1)
        {
            of.number = n;
            of.text = "";
            of.level = Level(n);
            of.numbers = Eighths(n);
            of.far = Level(n);
            of.seven = n;
            of.note = "x";
        }
        return of;
    }

    static Derived Derived(int n) { return new Derived { symbol = "S" + n, venue = n, price = n + 0.25 }; }

    static DerivedMutable DerivedMutable(int n)
    {
        return new DerivedMutable { symbol = "S" + n, venue = n, price = n + 0.25, note = n % 2 == 1 ? "note" : null };
    }

    static DerivedFinal DerivedFinal(int n) { return new DerivedFinal { symbol = "S" + n, venue = n, price = n + 0.25 }; }

    static Sides Sides(int n)
    {
        return new Sides { sided = n % 2 == 1 ? new Sided { text = "t" + n } : new Sided { number = n }, price = n + 0.25 };
    }

    static Words Words(int n)
    {
        return new Words
        {
            @class = n,
            type = "t" + n,
            self = n + 0.5,
            from = n % 2 == 1 ? pass.raise : pass.@is,
            register = new lambda { def = -n },
            @namespace = n % 2 == 1 ? new except { yield = "y" + n } : new except { @finally = n }
        };
    }

    static Keyed Keyed(int n)
    {
        return new Keyed
        {
            symbol = "S" + n,
            place = new Place { venue = n, note = "note" },
            side = Side(n),
            price = n + 0.25
        };
    }

    static Flowing Flowing(int n)
    {
        return new Flowing
        {
            number = n,
            price = n + 0.25,
            text = "t" + n,
            level = Level(n),
            loose = Several(n, i => new Loose { a = (byte)i, s = i % 2 == 1 ? "s" : null }),
            point = n % 2 == 1 ? Point(n, n) : null,
            choice = Choice(n),
            shorts = Several(n, i => (short)-i).ToArray()
        };
    }

    static Hashed Hashed(int n) { return new Hashed { price = n, text = "t" + n }; }

    static Tree Tree(int n)
    {
        return new Tree { value = n, children = Several(n, Tree), next = n % 2 == 1 ? Tree(n - 1) : null };
    }

    static double[] Eighths(int n) { return Several(n, i => i / 8.0).ToArray(); }

    static List<T> Several<T>(int count, Func<int, T> of) { return Enumerable.Range(0, count).Select(of).ToList(); }
}
