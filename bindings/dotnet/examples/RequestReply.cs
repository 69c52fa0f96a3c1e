// Request and reply: an interface of IDL, a service that implements it, and a client that calls it.

using System;
using System.Threading.Tasks;
using desk;
using Tickwire;

static class RequestReply
{
    /// Answers on a thread of its service's.
    sealed class Exchange : Desk
    {
        bool _isClosed;

        public double cost(string symbol, int quantity)
        {
            if (symbol != "TICK" || _isClosed)
                throw new UnknownSecurity { symbol = symbol };
            return 101.25 * quantity;
        }

        public void close_of_trading() { _isClosed = true; }
    }

    static void Ask(Desk desk, string symbol, int quantity)
    {
        try
        {
            Console.WriteLine(quantity + " cost " + desk.cost(symbol, quantity));
        }
        catch (UnknownSecurity unknown)
        {
            Console.WriteLine("unknown: " + unknown.symbol);
        }
    }

    /// Several at once, without a thread that waits.
    static async Task AskAtOnce(DeskClient desk)
    {
        var costs = await Task.WhenAll(desk.costAsync("TICK", 2), desk.costAsync("TICK", 4));
        Console.WriteLine("2 cost " + costs[0] + ", 4 cost " + costs[1]);
    }

    static void Main()
    {
        using (var exchange = new DomainParticipant(0))
        using (var trader = new DomainParticipant(0))
        using (new DeskService(exchange, "Desk", new Exchange()))
        using (var desk = new DeskClient(trader, "Desk", TimeSpan.FromSeconds(20)))
        {
            Ask(desk, "TICK", 1);
            Ask(desk, "TICK", 100);
            AskAtOnce(desk).Wait();
            Ask(desk, "TOCK", 1);
            desk.close_of_trading();
            Ask(desk, "TICK", 1);
        }
    }
}
