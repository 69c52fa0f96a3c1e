// A late joiner: a reader that comes when everything is written gets the last state of each instance, and then what changes.

using System;
using market;
using Tickwire;

static class LateJoiner
{
    static void Main()
    {
        var kept = Qos.Parse(@"
            [profiles.kept.writer]
            durability = 'transient_local'
            [profiles.kept.reader]
            durability = 'transient_local'
            reliability = 'reliable'");
        using (var risk = new DomainParticipant(0))
        using (var desk = new DomainParticipant(0))
        using (var writer = risk.CreateWriter(risk.CreateTopic<Limit>("Limits"), kept))
        {
            foreach (string trader in new[] { "ann", "bob" })
                for (int limit = 100; limit <= 300; limit += 100)
                    writer.Write(new Limit { trader = trader, limit = limit });

            using (var reader = desk.CreateReader(desk.CreateTopic<Limit>("Limits"), kept))
            {
                reader.WaitForMatched(1, TimeSpan.FromSeconds(5));
                reader.WaitForHistoricalData(TimeSpan.FromSeconds(5));
                foreach (var sample in reader.Take())
                    Console.WriteLine("late: " + sample.Data.trader + " " + sample.Data.limit);

                writer.Write(new Limit { trader = "bob", limit = 50 });
                foreach (var sample in reader.TakeEach(TimeSpan.FromSeconds(5)))
                {
                    Console.WriteLine("new: " + sample.Data.trader + " " + sample.Data.limit);
                    break;
                }
            }
        }
    }
}
