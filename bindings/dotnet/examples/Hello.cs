// The smallest whole program: a writer and a reader of one topic. See README.md of how it is compiled and run.

using System;
using market;
using Tickwire;

static class Hello
{
    static void Main()
    {
        using (var participant = new DomainParticipant())
        {
            var quotes = participant.CreateTopic<Quote>("Quotes");
            using (var writer = participant.CreateWriter(quotes))
            using (var reader = participant.CreateReader(quotes))
            {
                writer.WaitForMatched(1, TimeSpan.FromSeconds(5));
                writer.Write(new Quote { symbol = "TICK", price = 101.25, size = 7 });
                foreach (var sample in reader.TakeEach(TimeSpan.FromSeconds(5)))
                {
                    Console.WriteLine(sample.Data.symbol + " " + sample.Data.price.ToString("0.00"));
                    break;
                }
            }
        }
    }
}
