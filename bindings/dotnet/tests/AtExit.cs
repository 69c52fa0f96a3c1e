// Ends while other threads write, read and wait, as background threads do: it says so, and has not failed.

using System;
using System.Collections.Generic;
using System.Threading;
using kinds;
using Tickwire;

static class AtExit
{
    sealed class Idle : Words
    {
        public int Dispose_(int w, ref int r, out int value) { return value = 0; }
        public void ToString_(All @this, out All _call_) { _call_ = @this; }
        internal readonly ManualResetEventSlim Asked = new ManualResetEventSlim();
        internal WordsService Service;

        /// Never answers.
        public void Words_()
        {
            Service.Dispose();
            Asked.Set();
        }

        public int many(
            int cancel, out int result, out string Equals, out List<Names> names, out int a, out int b, ref int c)
        {
            Equals = "";
            names = new List<Names>();
            return result = a = b = 0;
        }

        public void call(out int value) { value = 0; }
    }

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
        var waits = new WaitSet(new GuardCondition());
        var service = new Idle();
        service.Service = new WordsService(participant, "Idle", service);
        var client = new WordsClient(participant, "Nobody", TimeSpan.FromSeconds(20));
        // Tasks that do not end before the program does.
        var other = new WordsClient(participant, "Idle", TimeSpan.FromSeconds(20));
        var tasks = new[] { client.Words_Async(), other.Words_Async() };
        var begun = new CountdownEvent(7);
        var waiting = new List<Thread>();
        // Who waits has left the library when that has ended, and sleeps.
        AppDomain.CurrentDomain.ProcessExit += delegate
        {
            foreach (var each in waiting)
                if ((each.ThreadState & ThreadState.WaitSleepJoin) == 0)
                    Console.WriteLine("a thread still waits: " + each.ThreadState);
        };
        Action<Action, bool> begin = (action, hasEnd) =>
        {
            var thread = new Thread(() =>
            {
                if (hasEnd)
                    action();
                begun.Signal();
                for (;;)
                    action();
            });
            thread.IsBackground = true;
            thread.Start();
            if (!hasEnd)
                waiting.Add(thread);
        };
        var longer = TimeSpan.FromSeconds(20);
        begin(() => writer.Write(new All { symbol = "A" }), true);
        begin(() => writer.Write(new All { symbol = "C" }), true);
        begin(() => reader.Take(), true);
        begin(() => idle.WaitForData(TimeSpan.FromMilliseconds(1)), true);
        begin(() => idle.WaitForData(longer), false);
        begin(() => writer.WaitForMatched(5, longer), false);
        begin(() => client.Words_(), false);
        new Thread(() => waits.Wait(longer)) { IsBackground = true }.Start();
        begun.Wait();
        service.Asked.Wait();
        while (Volatile.Read(ref called) == 0)
            Thread.Yield();
        foreach (var task in tasks)
            if (task.IsCompleted)
                Console.WriteLine("a task has ended: " + task.Status);
        Console.WriteLine("ends");
        if (arguments.Length > 0)
            Environment.Exit(0);
        return 0;
    }
}
