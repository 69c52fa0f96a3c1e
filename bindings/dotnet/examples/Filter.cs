// Content filters: the writer keeps back what a reader does not want.

using System;
using market;
using Tickwire;

static class Filter
{
    static void Main()
    {
        var all = new Qos
        {
            Writer = { History = History.KeepAll },
            Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
        };
        using (var exchange = new DomainParticipant(0))
        using (var desk = new DomainParticipant(0))
        using (var writer = exchange.CreateWriter(exchange.CreateTopic<Quote>("Trades"), all))
        {
            var large = desk.CreateTopic<Quote>("Trades").Filter("symbol LIKE %0 AND size >= %1", "'EUR%'", "100");
            using (var reader = desk.CreateReader(large, all))
            using (var dear = reader.CreateQueryCondition(SampleStates.Any, "price > %0", "1.15"))
            {
                writer.WaitForMatched(1, TimeSpan.FromSeconds(5));
                foreach (int size in new[] { 50, 150, 250 })
                {
                    writer.Write(new Quote { symbol = "EURUSD", price = 1.1, size = size });
                    writer.Write(new Quote { symbol = "EURGBP", price = 1.2, size = size });
                    writer.Write(new Quote { symbol = "GBPUSD", price = 1.3, size = size });
                }
                writer.WaitForAcknowledgments(TimeSpan.FromSeconds(5));

                foreach (var sample in reader.Take(dear))
                    Console.WriteLine("dear: " + sample.Data.symbol + " " + sample.Data.size);
                foreach (var sample in reader.Take())
                    Console.WriteLine("other: " + sample.Data.symbol + " " + sample.Data.size);
                Console.WriteLine("kept back by the writer: " + writer.Counters["filtered"]);
            }
        }
    }
}
