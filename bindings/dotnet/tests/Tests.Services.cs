// Clients and services of interfaces.

using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using kinds;
using kinds.PricesTypes;
using Tickwire;
using Tickwire.Cdr;
using Tickwire.Rpc;

static partial class Tests
{
    class Book : Twice
    {
        internal readonly List<string> Noted = new List<string>();
        internal readonly SemaphoreSlim Waits = new SemaphoreSlim(0);
        internal readonly SemaphoreSlim Goes = new SemaphoreSlim(0);
        int _depth = 2;

        public string get_name() { return "book"; }
        public int get_depth() { return _depth; }
        public void set_depth(int depth) { _depth = depth; }

        public double price(string symbol)
        {
            switch (symbol)
            {
                case "closed": throw new Closed { reason = "holiday", Message_ = 7 };
                case "unknown": throw new Unknown();
                case "unsupported": throw new RemoteException(RemoteExceptionCode.Unsupported);
                case "fault": throw new InvalidOperationException("a fault");
                default: return symbol.Length;
            }
        }

        public Row all(Kind kind, ref List<Row> rows, out int[,] grid, out Choice choice, ref string text)
        {
            rows.Add(new Row { price = (int)kind });
            grid = new[,] { { 1, 2 }, { 3, 4 } };
            choice = new Choice { limit = 1.5 };
            text = text == "none" ? null : text + "!";
            return rows[0];
        }

        public virtual void wait()
        {
            Waits.Release();
            True(Goes.Wait(Long), "it goes on");
        }

        public void note(string text) { Noted.Add(text); }

        public int Dispose_(int w, ref int r, out int value)
        {
            value = w + r;
            r = w;
            return 3;
        }

        public void ToString_(All @this, out All _call_) { _call_ = @this; }
        public void Words_() { }

        public int many(
            int cancel, out int result, out string Equals, out List<Names> names, out int a, out int b, ref int c)
        {
            result = cancel + 1;
            Equals = "two";
            names = new List<Names>();
            a = cancel + 4;
            b = cancel + 5;
            c = c + 6;
            return cancel;
        }

        public void call(out int value) { value = 9; }
        public void halt() { }
    }

    /// A service, what it is of, and a client.
    sealed class Served : IDisposable
    {
        internal readonly DomainParticipant One = new DomainParticipant(0), Two = new DomainParticipant(0);
        internal readonly Book Book;
        internal readonly TwiceService Service;
        internal readonly TwiceClient Client;

        internal Served(Book book = null)
        {
            Book = book ?? new Book();
            Service = new TwiceService(One, "Prices", Book);
            Client = new TwiceClient(Two, "Prices", Long);
        }

        internal ulong Count(string what) { return Service.Counters[what]; }

        public void Dispose()
        {
            One.Dispose();
            Two.Dispose();
        }
    }

    static void TestClientsCallServices()
    {
        using (var it = new Served())
        {
            True(it.Client.WaitForService(Long), "there is a service");
            Is(it.Client.price("TICK"), 4.0);
            Is(it.Client.get_name(), "book");
            it.Client.set_depth(9);
            Is(it.Client.get_depth(), 9);
            Named named = it.Client;
            Is(named.get_name(), "book");
            it.Client.note("x");
            it.Client.halt();
            Is(string.Join(",", it.Book.Noted), "x", "what was noted before");
            var rows = new List<Row> { new Row { price = 5 } };
            int[,] grid;
            Choice choice;
            string text = "abc";
            Is(it.Client.all(Kind.BEST, ref rows, out grid, out choice, ref text), new Row { price = 5 });
            Is(rows.Count, 2);
            Is(rows[1].price, 1.0);
            Is(grid[1, 0], 3);
            Is(choice.limit, 1.5);
            Is(text, "abc!");
            int r = 4, value;
            Is(it.Client.Dispose_(10, ref r, out value), 3);
            Is(r, 10);
            Is(value, 14);
            All back;
            it.Client.ToString_(Value("A"), out back);
            Is(back, Value("A"));
            it.Client.Words_();
            int result, a, b, c = 100;
            string two;
            List<Names> names;
            Is(it.Client.many(10, out result, out two, out names, out a, out b, ref c), 10);
            Is(two, "two");
            Is(string.Join(" ", result, names.Count, a, b, c), "11 0 14 15 106");
            it.Client.call(out value);
            Is(value, 9);
            Is(Constants.DEPTH, 3);
            it.Service.Dispose();
            Is(it.Count("requests"), 13UL);
            Is(it.Count("returned"), 12UL);
            Is(it.Count("told"), 1UL);
            foreach (string none in new[] { "raised", "unknown_operations", "refused", "failures", "unsent", "undecodable" })
                Is(it.Count(none), 0UL, none);
        }
    }

    static void TestWhatServicesRaiseIsThrown()
    {
        using (var it = new Served())
        {
            object about = null;
            Exception failure = null;
            Action<object, Exception> report = (of, thrown) =>
            {
                about = of;
                failure = thrown;
            };
            ListeningObject.EventFailed += report;
            var closed = Throws<Closed>(() => it.Client.price("closed"));
            Is(closed.reason, "holiday");
            Is(closed.Message_, 7);
            Throws<Unknown>(() => it.Client.price("unknown"));
            Is(Throws<RemoteException>(() => it.Client.price("unsupported")).Code, RemoteExceptionCode.Unsupported);
            True(failure == null, "none of them is a failure");
            var remote = Throws<RemoteException>(() => it.Client.price("fault"));
            Is(remote.Code, RemoteExceptionCode.UnknownException);
            Is(failure.Message, "a fault");
            True(about == it.Service, "it is the service that has failed");
            var rows = new List<Row> { new Row() };
            int[,] grid;
            Choice choice;
            string text = "none";
            remote = Throws<RemoteException>(() => it.Client.all(Kind.BEST, ref rows, out grid, out choice, ref text));
            Is(remote.Code, RemoteExceptionCode.UnknownException);
            True(failure is CdrException, "what cannot be written is a failure");
            Is(rows.Count, 1, "the list that was passed");
            ListeningObject.EventFailed -= report;
            Is(it.Client.price("TICK"), 4.0, "what it goes on with");
            it.Service.Dispose();
            Is(it.Count("raised"), 2UL);
            Is(it.Count("refused"), 1UL);
            Is(it.Count("failures"), 2UL);
        }
    }

    static void TestArgumentsAreCheckedBeforeAnythingIsSent()
    {
        using (var it = new Served())
        {
            Is(Throws<CdrException>(() => it.Client.price(null)).Member, "kinds::Prices.price.symbol");
            var rows = new List<Row>();
            int[,] grid;
            Choice choice;
            string text = "longer than 8";
            Throws<CdrException>(() => it.Client.all(Kind.BEST, ref rows, out grid, out choice, ref text));
            Throws<CdrException>(() => it.Client.all((Kind)7, ref rows, out grid, out choice, ref text));
            it.Client.halt();
            it.Service.Dispose();
            Is(it.Count("requests"), 1UL);
        }
    }

    static void TestCallsEndInTime()
    {
        using (var it = new Served())
        using (var nobodys = new TwiceClient(it.Two, new ServiceTopics("asked", "answered"), TimeSpan.FromMilliseconds(1)))
        using (var hasty = new TwiceClient(it.Two, "Prices", TimeSpan.FromMilliseconds(1)))
        {
            var late = Throws<TickwireException>(() => nobodys.halt());
            Is(late.Result, Result.Timeout);
            True(late.Message.Contains("nobody reads `asked`, and nobody writes `answered`"), late.Message);
            Is(Throws<TickwireException>(() => nobodys.note("x")).Result, Result.Timeout);
            True(!nobodys.WaitForService(TimeSpan.Zero), "there is none");
            True(hasty.WaitForService(Long), "there is one");
            late = Throws<TickwireException>(() => hasty.wait());
            Is(late.Result, Result.Timeout);
            True(late.Message.Contains("no reply after 1ms"), late.Message);
            it.Book.Goes.Release();
            Throws<ArgumentOutOfRangeException>(() => new TwiceClient(it.Two, "Prices", TimeSpan.FromSeconds(-2)));
            Throws<ArgumentNullException>(() => new TwiceClient(null, "Prices", Long));
            Throws<ArgumentNullException>(() => new TwiceService(it.One, "Prices", null));
        }
    }

    static void TestCallsEndWithTheirClient()
    {
        using (var it = new Served())
        {
            var calls = Task.Run(() => it.Client.wait());
            True(it.Book.Waits.Wait(Long), "it was asked");
            it.Client.Dispose();
            Throws<ObjectDisposedException>(() => calls.GetAwaiter().GetResult());
            Throws<ObjectDisposedException>(() => it.Client.halt());
            it.Book.Goes.Release();
        }
    }

    static void TestAServiceEndsAfterTheRequestThatItIsAt()
    {
        using (var it = new Served())
        {
            var calls = Task.Run(() => it.Client.wait());
            True(it.Book.Waits.Wait(Long), "it was asked");
            var ends = Task.Run(() => it.Service.Dispose());
            it.Book.Goes.Release();
            True(calls.Wait(Long), "there is a reply");
            True(ends.Wait(Long), "it ends");
            Is(it.Count("returned"), 1UL);
            it.Service.Dispose();
        }
    }

    /// Ends the service in an operation of its own.
    sealed class Ending : Book
    {
        internal TwiceService Service;

        public override void wait() { Service.Dispose(); }
    }

    static void TestAnOperationMayEndItsService()
    {
        var book = new Ending();
        using (var it = new Served(book))
        using (var hasty = new TwiceClient(it.Two, "Prices", TimeSpan.FromMilliseconds(200)))
        {
            book.Service = it.Service;
            True(hasty.WaitForService(Long), "there is one");
            Throws<TickwireException>(() => hasty.wait());
            it.Service.Dispose();
            Is(it.Count("unsent"), 1UL);
        }
    }

    static void TestAServiceEndsWithItsParticipant()
    {
        using (var it = new Served())
        {
            it.Client.halt();
            it.One.Dispose();
            // Returns when its thread has ended.
            it.Service.Dispose();
            Is(it.Count("requests"), 1UL);
        }
    }

    static void TestManyThreadsCall()
    {
        using (var it = new Served())
        {
            var calls = new Task<double>[8];
            for (int i = 0; i < calls.Length; i++)
            {
                string symbol = new string('x', i);
                calls[i] = Task.Run(() => it.Client.price(symbol));
            }
            for (int i = 0; i < calls.Length; i++)
                Is(calls[i].GetAwaiter().GetResult(), (double)i);
        }
    }

    /// Requests for the interface Words that no client makes: none of its operations, two at once, bytes that are none.
    sealed class Raw : ITopicType<Raw>
    {
        internal byte[] Bytes;

        public TopicSupport<Raw> Support { get { return new RawSupport(); } }
    }

    sealed class RawSupport : TopicSupport<Raw>
    {
        public override string TypeName { get { return "kinds::detail::Named_Request"; } }
        public override bool HasKey { get { return false; } }
        public override Extensibility Extensibility { get { return Extensibility.Mutable; } }
        public override string Idl
        {
            get
            {
                return "module kinds { module detail { @final @nested struct Named_get_name_In {}; @mutable struct Named_Request " +
                       "{ @hashid @optional Named_get_name_In get_name; }; }; };";
            }
        }

        public override Raw Create() { return new Raw(); }
        public override bool Write(Raw value, CdrWriter w) { return w.WriteAll(value.Bytes); }
        public override bool Read(Raw value, CdrReader r) { return false; }
        public override bool WriteKey(Raw value, CdrWriter w) { return true; }
        public override bool ReadKey(Raw value, CdrReader r) { return true; }
    }

    sealed class OnlyNamed : Named
    {
        public string get_name() { return "only"; }
    }

    static void TestStrangeRequestsAreCounted()
    {
        using (var one = new DomainParticipant(0))
        using (var two = new DomainParticipant(0))
        using (var service = new NamedService(one, "Named", new OnlyNamed()))
        using (var client = new NamedClient(two, "Named", Long))
        {
            Is(client.get_name(), "only");
            var qos = new Qos { Writer = { History = History.KeepAll }, ["writer.representation"] = "xcdr2" };
            var writer = two.CreateWriter(two.CreateTopic<Raw>("Named_Request"), qos);
            True(writer.WaitForMatched(1, Long), "they match");
            writer.Write(new Raw { Bytes = new byte[4] });
            // A member of an id that no operation has, with four bytes.
            writer.Write(new Raw { Bytes = new byte[] { 8, 0, 0, 0, 1, 0, 0, 0x20, 0, 0, 0, 0 } });
            // The same, which is indispensable.
            writer.Write(new Raw { Bytes = new byte[] { 8, 0, 0, 0, 1, 0, 0, 0xa0, 0, 0, 0, 0 } });
            writer.Write(new Raw { Bytes = new byte[] { 99, 0, 0, 0 } });
            True(writer.WaitForAcknowledgments(Long), "they have come");
            Is(client.get_name(), "only", "what it goes on with");
            service.Dispose();
            Is(service.Counters["requests"], 4UL);
            Is(service.Counters["unknown_operations"], 2UL);
            Is(service.Counters["undecodable"], 2UL);
        }
    }
}
