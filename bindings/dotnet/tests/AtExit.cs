// Ends while other threads write, read and wait, as background threads do: it says so, and has not failed.

using System;
using System.Threading;
using kinds;
using Tickwire;

static class AtExit
{
    static int Main(string[] arguments)
    {
        var participant = new DomainParticipant(0);
        var topic = participant.CreateTopic<All>("All");
        var reliable = new Qos { Reader = { Reliability = Reliability.Reliable } };
        var writer = participant.CreateWriter(topic);
        var reader = participant.CreateReader(topic, reliable);
        var idle = participant.CreateReader(participant.CreateTopic<All>("Idle"));
        writer.WaitForMatched(1, TimeSpan.FromSeconds(20));
        int called = 0;
        reader.DataAvailable += _ =>
        {
            // As a handler may.
            writer.Write(new All { symbol = "B" });
            Interlocked.Increment(ref called);
        };
        var begun = new CountdownEvent(4);
        Action<Action> begin = action =>
        {
            var thread = new Thread(() =>
            {
                action();
                begun.Signal();
                for (;;)
                    action();
            });
            thread.IsBackground = true;
            thread.Start();
        };
        begin(() => writer.Write(new All { symbol = "A" }));
        begin(() => writer.Write(new All { symbol = "C" }));
        begin(() => reader.Take());
        begin(() => idle.WaitForData(TimeSpan.FromMilliseconds(1)));
        begun.Wait();
        while (Volatile.Read(ref called) == 0)
            Thread.Yield();
        Console.WriteLine("ends");
        if (arguments.Length > 0)
            Environment.Exit(0);
        return 0;
    }
}
