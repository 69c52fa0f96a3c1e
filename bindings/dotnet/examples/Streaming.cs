// Objects there and back: the publisher writes nine of MarketData for each QuoteRequest, one at a time, and the subscriber echoes
// them. Prints the mean of half the time that a round trip takes.
//
//     Streaming subscriber [-num N]
//     Streaming publisher [-num N]

using System;
using System.Diagnostics;
using System.Threading;
using MiddlewareNewsBrief;
using Tickwire;

static class Streaming
{
    static int Main(string[] arguments)
    {
        int count = 10000;
        for (int i = 1; i + 1 < arguments.Length; i++)
            if (arguments[i] == "-num")
                count = int.Parse(arguments[i + 1]);
        switch (arguments.Length == 0 ? "" : arguments[0])
        {
            case "publisher": return new Publisher().Run(count);
            case "subscriber": return new Subscriber().Run(count);
            default:
                Console.Error.WriteLine("usage: Streaming publisher|subscriber [-num N]");
                return 2;
        }
    }

    /// Both topics: what is written, and what the other side writes.
    abstract class Side : IDisposable
    {
        protected readonly DomainParticipant Participant = new DomainParticipant(0);
        protected readonly DataWriter<MarketData> MarketDataWriter;
        protected readonly DataWriter<QuoteRequest> QuoteRequestWriter;
        protected readonly DataReader<MarketData> MarketDataReader;
        protected readonly DataReader<QuoteRequest> QuoteRequestReader;

        protected Side(string wanted)
        {
            var all = new Qos
            {
                Writer = { History = History.KeepAll },
                Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
            };
            var marketData = Participant.CreateTopic<MarketData>("MarketData");
            var quoteRequests = Participant.CreateTopic<QuoteRequest>("QuoteRequest");
            MarketDataWriter = Participant.CreateWriter(marketData, all);
            QuoteRequestWriter = Participant.CreateWriter(quoteRequests, all);
            MarketDataReader = Participant.CreateReader(marketData.Filter("is_echo = " + wanted), all);
            QuoteRequestReader = Participant.CreateReader(quoteRequests.Filter("is_echo = " + wanted), all);
        }

        /// Until the other side has both topics: the readers of this one match, too.
        protected void WaitForOther()
        {
            bool there = MarketDataWriter.WaitForMatched(2, TimeSpan.FromSeconds(30))
                && QuoteRequestWriter.WaitForMatched(2, TimeSpan.FromSeconds(30))
                && MarketDataReader.WaitForMatched(2, TimeSpan.FromSeconds(30))
                && QuoteRequestReader.WaitForMatched(2, TimeSpan.FromSeconds(30));
            if (!there)
                throw new TimeoutException("the other side is not there");
        }

        public void Dispose() { Participant.Dispose(); }
    }

    sealed class Publisher : Side
    {
        readonly SemaphoreSlim _echoed = new SemaphoreSlim(0);
        readonly MarketData _marketDataEcho = new MarketData();
        readonly QuoteRequest _quoteRequestEcho = new QuoteRequest();
        uint _counter;
        int _wrong;

        public Publisher() : base("TRUE")
        {
            // What comes is read into one value again and again.
            MarketDataReader.DataAvailable += reader =>
            {
                SampleInfo info;
                while (reader.TryTake(_marketDataEcho, out info))
                    if (info.ValidData)
                        Echoed(_marketDataEcho.is_echo, _marketDataEcho.counter);
            };
            QuoteRequestReader.DataAvailable += reader =>
            {
                SampleInfo info;
                while (reader.TryTake(_quoteRequestEcho, out info))
                    if (info.ValidData)
                        Echoed(_quoteRequestEcho.is_echo, _quoteRequestEcho.counter);
            };
        }

        void Echoed(bool isEcho, uint counter)
        {
            if (!isEcho || counter != _counter)
                Interlocked.Increment(ref _wrong);
            _echoed.Release();
        }

        public int Run(int count)
        {
            MarketData marketData = Values.MarketData();
            QuoteRequest quoteRequest = Values.QuoteRequest();
            WaitForOther();
            Console.WriteLine("1 Subscribers, " + count + " messages");
            Stopwatch watch = Stopwatch.StartNew();
            for (int i = 0; i < count; i++)
            {
                _counter = (uint)i;
                if (i % 10 == 5)
                {
                    quoteRequest.counter = _counter;
                    QuoteRequestWriter.Write(quoteRequest);
                }
                else
                {
                    marketData.counter = _counter;
                    MarketDataWriter.Write(marketData);
                }
                if (!_echoed.Wait(TimeSpan.FromSeconds(10)))
                    throw new TimeoutException("message " + i + " was not echoed");
            }
            double micros = watch.Elapsed.TotalMilliseconds * 1000 / count / 2;
            Console.WriteLine("Your average latency is {0:0.00} [us]", micros);
            Console.WriteLine(_wrong + " echoes were wrong");
            Dispose();
            return _wrong == 0 ? 0 : 1;
        }
    }

    sealed class Subscriber : Side
    {
        readonly ManualResetEvent _done = new ManualResetEvent(false);
        int _left;

        public Subscriber() : base("FALSE") { }

        public int Run(int count)
        {
            MarketData marketData = new MarketData();
            QuoteRequest quoteRequest = new QuoteRequest();
            _left = count;
            // Echoes reach nobody whom this side does not know yet. What comes meanwhile waits for its handler.
            WaitForOther();
            MarketDataReader.DataAvailable += reader =>
            {
                SampleInfo info;
                while (reader.TryTake(marketData, out info))
                {
                    if (!info.ValidData)
                        continue;
                    marketData.is_echo = true;
                    MarketDataWriter.Write(marketData);
                    Count();
                }
            };
            QuoteRequestReader.DataAvailable += reader =>
            {
                SampleInfo info;
                while (reader.TryTake(quoteRequest, out info))
                {
                    if (!info.ValidData)
                        continue;
                    quoteRequest.is_echo = true;
                    QuoteRequestWriter.Write(quoteRequest);
                    Count();
                }
            };
            Console.WriteLine("Ready to receive...");
            bool done = _done.WaitOne(TimeSpan.FromSeconds(60));
            Console.WriteLine(done ? "Done..." : "not all have come");
            Dispose();
            return done ? 0 : 1;
        }

        void Count()
        {
            if (Interlocked.Decrement(ref _left) == 0)
                _done.Set();
        }
    }

    /// What the messages say.
    internal static class Values
    {
        internal static MarketData MarketData()
        {
            var data = new MarketData
            {
                securityID = 2112, applVersionID = "1.0", messageType = "100", senderCompID = "Test Exchange",
                msgSeqNum = 4, sendingTime = 58781, tradeDate = 20100422
            };
            for (int i = 0; i < 3; i++)
                data.mdEntries.Add(new MarketDataEntry
                {
                    mdUpdateAction = 1, mdPriceLevel = 2, mdEntryType = "7", openCloseSettleFlag = 3,
                    securityIDSource = 9, securityID = 99, rptSeq = 2, mdEntryPx = 100.0, mdEntryTime = 12345,
                    mdEntrySize = 50, numberOfOrders = 10, tradingSessionID = "2", netChgPrevDay = 10.0,
                    tradeVolume = 30, tradeCondition = "W", tickDirection = "0", quoteCondition = "C",
                    aggressorSide = 2, matchEventIndicator = "1"
                });
            return data;
        }

        internal static QuoteRequest QuoteRequest()
        {
            var request = new QuoteRequest
            {
                securityID = 2112, applVersionID = "1.0", messageType = "100", senderCompID = "Test Exchange",
                msgSeqNum = 4, sendingTime = 58781, quoteReqID = "R"
            };
            for (int i = 0; i < 3; i++)
                request.related.Add(new RelatedSym
                {
                    symbol = "GOOG", orderQuantity = 25, side = 1, transactTime = 14235263, quoteType = 1,
                    securityID = 99, securityIDSource = 9
                });
            return request;
        }
    }
}
