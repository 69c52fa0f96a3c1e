// A service and a client in C# of the interface Desk (services.py says what they do).

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using market;
using market.QuotesTypes;
using Tickwire;
using Tickwire.Rpc;

/// Knows one security.
sealed class Book : Desk
{
    int _depth;
    readonly HashSet<string> _subscribed = new HashSet<string>();

    public string get_version() { return "1.2"; }

    public void ping() { }

    public double price(string securityID)
    {
        switch (securityID)
        {
            case "TICK": return 101.25;
            case "OLD": throw new Closed { reason = "delisted" };
            case "": throw new RemoteException(RemoteExceptionCode.InvalidArgument);
            case "FAULT": throw new InvalidOperationException("a fault");
        }
        if (!_subscribed.Contains(securityID + " last"))
            throw new Unknown();
        return 1;
    }

    public List<Level> levels(string securityID, Side side, ref int count, out bool more)
    {
        if (securityID != "TICK")
            throw new Unknown();
        int sign = side == Side.BID ? -1 : 1;
        int given = Math.Max(Math.Min(count, 2), 0);
        more = given < count;
        count = given;
        return Enumerable.Range(0, given).Select(i => new Level { price = 101.25 + sign * i / 4.0, size = 100 }).ToList();
    }

    public void subscribe(string securityID, string type) { _subscribed.Add(securityID + " " + type); }

    public byte type(byte self) { return (byte)(self + 1); }

    public int get_depth() { return _depth; }

    public void set_depth(int depth) { _depth = depth; }

    public ulong now() { throw new RemoteException(RemoteExceptionCode.Unsupported); }

    public void halt(bool all)
    {
        if (!all)
            throw new Closed();
    }
}

static class Program
{
    /// Longer than a program takes to start.
    static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    /// What comes of a call, as text.
    static string Outcome(Func<object> ask)
    {
        try
        {
            return Convert.ToString(ask(), CultureInfo.InvariantCulture);
        }
        catch (Closed closed)
        {
            return "Closed(" + closed.reason + ")";
        }
        catch (Unknown)
        {
            return "Unknown";
        }
        catch (RemoteException remote)
        {
            return "remote " + (int)remote.Code;
        }
    }

    static string Outcome(Action ask)
    {
        return Outcome(() =>
        {
            ask();
            return "done";
        });
    }

    static string Levels(Desk desk, string security)
    {
        int count = 5;
        bool more;
        var levels = desk.levels(security, Side.BID, ref count, out more);
        return string.Join(" ", levels.Select(level => level.price.ToString(CultureInfo.InvariantCulture) + "x" + level.size)) +
               " " + count + " " + more;
    }

    /// Calls every operation, in every way that it can end.
    static string Call(DomainParticipant participant, string name)
    {
        using (var desk = new DeskClient(participant, "Desk_" + name, Patience))
        {
            string[][] outcomes =
            {
                new[] { "1.2", Outcome(() => desk.get_version()) },
                new[] { "done", Outcome(() => desk.ping()) },
                new[] { "done", Outcome(() => desk.set_depth(7)) },
                new[] { "7", Outcome(() => (object)desk.get_depth()) },
                new[] { "101.25", Outcome(() => (object)desk.price("TICK")) },
                new[] { "Closed(delisted)", Outcome(() => (object)desk.price("OLD")) },
                new[] { "Unknown", Outcome(() => (object)desk.price("X")) },
                new[] { "remote 2", Outcome(() => (object)desk.price("")) },
                new[] { "remote 5", Outcome(() => (object)desk.price("FAULT")) },
                new[] { "101.25x100 101x100 2 True", Outcome(() => Levels(desk, "TICK")) },
                new[] { "Unknown", Outcome(() => Levels(desk, "X")) },
                new[] { "done", Outcome(() => desk.subscribe("csharp", "last")) },
                new[] { "1", Outcome(() => (object)desk.price("csharp")) },
                new[] { "5", Outcome(() => (object)desk.type(4)) },
                new[] { "remote 1", Outcome(() => (object)desk.now()) },
                new[] { "done", Outcome(() => desk.halt(true)) },
                new[] { "Closed()", Outcome(() => desk.halt(false)) }
            };
            foreach (string[] pair in outcomes)
                if (pair[1] != pair[0])
                    return pair[1] + ", not " + pair[0];
        }
        return "ok";
    }

    static void Main(string[] arguments)
    {
        // Faults are what is tried.
        ListeningObject.EventFailed += delegate { };
        using (var participant = new DomainParticipant(0))
        {
            if (arguments[0] == "serve")
            {
                using (new DeskService(participant, "Desk_" + arguments[1], new Book()))
                    Console.In.ReadToEnd();
                return;
            }
            foreach (string name in arguments[1].Split(','))
                Console.WriteLine(name + " " + Call(participant, name));
        }
    }
}
