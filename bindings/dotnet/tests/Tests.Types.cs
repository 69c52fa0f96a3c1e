// Tests of types made of IDL, and of their payloads.

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

    static void TestWhatDoesNotTravelBeginsAnew()
    {
        var cached = new Cached { id = 3, rank = 8, note = "mine", age = 4, levels = { new Level() } };
        byte[] payload = CachedSupport.Instance.ToPayload(cached, CdrVersion.Xcdr1);
        Is(payload.Length, 8);
        Is(CachedSupport.Instance.FromPayload(payload), new Cached { id = 3 });
        CachedSupport.Instance.FromPayload(payload, cached);
        Is(cached, new Cached { id = 3 });
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
}
