// Keyed market data: books of several securities, whose instances come and go, read without a thread that waits.

using System;
using System.Linq;
using System.Threading.Tasks;
using market;
using Tickwire;

static class MarketData
{
    static void Main()
    {
        Run().GetAwaiter().GetResult();
    }

    static async Task Run()
    {
        var all = new Qos
        {
            Writer = { History = History.KeepAll },
            Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
        };
        using (var participant = new DomainParticipant(0))
        {
            var books = participant.CreateTopic<Book>("Books");
            using (var writer = participant.CreateWriter(books, all))
            using (var reader = participant.CreateReader(books, all))
            {
                writer.WaitForMatched(1, TimeSpan.FromSeconds(5));
                var following = Follow(reader, 2);
                Publish(writer);
                await following;
            }
        }
    }

    /// Prints what happens to so many instances, until they are disposed of.
    static async Task Follow(DataReader<Book> reader, int count)
    {
        while (count > 0)
        {
            foreach (var sample in await reader.TakeAsync())
            {
                var book = sample.Data;
                if (book == null)
                {
                    Console.WriteLine(sample.Key.symbol + " is " + (sample.Info.States & SampleStates.Disposed));
                    count--;
                }
                else
                {
                    string last = book.last == null ? "none" : book.last.Value.ToString("0.0");
                    Console.WriteLine("{0} {1} last {2} bid {3:0.0} ask {4:0.0}",
                        book.symbol, book.state, last, book.bids.Max(), book.asks.Min());
                }
            }
        }
    }

    static void Publish(DataWriter<Book> writer)
    {
        for (int tick = 0; tick < 2; tick++)
        {
            foreach (string symbol in new[] { "AAA", "BBB" })
            {
                double price = (symbol == "AAA" ? 100 : 200) + tick;
                writer.Write(new Book
                {
                    symbol = symbol,
                    last = tick == 0 ? (double?)null : price,
                    bids = new[] { price - 0.5, price - 1 },
                    asks = new[] { price + 0.5, price + 1 }
                });
            }
        }
        foreach (string symbol in new[] { "AAA", "BBB" })
            writer.DisposeInstance(new Book { symbol = symbol });
    }
}
