// Request and reply: two topics, and what a reply says of the request that it answers. A request is known by its writer, which
// every sample names, and a number that the client gives it; the reply repeats both. The client reads replies to its own requests
// alone, as their writer is the key.

using System;
using market;
using Tickwire;

static class RequestReply
{
    static readonly Qos Kept = new Qos
    {
        Writer = { History = History.KeepAll },
        Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
    };
    // A reply that is written before its client's reader is known waits for it.
    static readonly Qos KeptReplies = new Qos
    {
        Writer = { History = History.KeepAll, Durability = Durability.TransientLocal, ["lifespan"] = "10s" },
        Reader = { Reliability = Reliability.Reliable, History = History.KeepAll, Durability = Durability.TransientLocal }
    };

    /// Answers on a thread of its participant's.
    sealed class Server
    {
        readonly DataWriter<Reply> _replies;

        internal Server(DomainParticipant participant)
        {
            _replies = participant.CreateWriter(participant.CreateTopic<Reply>("Replies"), KeptReplies);
            var requests = participant.CreateReader(participant.CreateTopic<Request>("Requests"), Kept);
            requests.DataAvailable += Answer;
        }

        void Answer(DataReader<Request> requests)
        {
            foreach (var sample in requests.Take())
            {
                if (!sample.ValidData)
                    continue;
                Request asked = sample.Data;
                _replies.Write(new Reply
                {
                    client = sample.Info.Writer.ToString(), number = asked.number, price = 101.25 * asked.quantity
                });
            }
        }
    }

    sealed class Client
    {
        readonly DataWriter<Request> _requests;
        readonly DataReader<Reply> _replies;
        uint _asked;

        internal Client(DomainParticipant participant)
        {
            _requests = participant.CreateWriter(participant.CreateTopic<Request>("Requests"), Kept);
            var mine = participant.CreateTopic<Reply>("Replies").Filter("client = %0", "'" + _requests.Guid + "'");
            _replies = participant.CreateReader(mine, KeptReplies);
            _requests.WaitForMatched(1, TimeSpan.FromSeconds(5));
        }

        internal Reply Ask(string symbol, uint quantity, TimeSpan timeout)
        {
            uint number = ++_asked;
            _requests.Write(new Request { number = number, symbol = symbol, quantity = quantity });
            foreach (var sample in _replies.TakeEach(timeout))
                if (sample.ValidData && sample.Data.number == number)
                    return sample.Data;
            throw new TimeoutException("no reply to request " + number);
        }
    }

    static void Main()
    {
        using (var exchange = new DomainParticipant(0))
        using (var desk = new DomainParticipant(0))
        {
            new Server(exchange);
            var client = new Client(desk);
            foreach (uint quantity in new[] { 1u, 100u })
                Console.WriteLine(quantity + " cost " + client.Ask("TICK", quantity, TimeSpan.FromSeconds(5)).price);
        }
    }
}
