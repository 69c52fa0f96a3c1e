// A bridge of the shape that programs with their own serialization have: writers by the name of a topic, bytes, one event for all
// data, and a word at the end. Topics are raw: what they carry is between the programs.

using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;
using Tickwire;

sealed class PubSubProxy
{
    const string DoneTopic = "Done";

    readonly DomainParticipant _participant = new DomainParticipant(0);
    readonly List<DataWriter<byte[]>> _writers = new List<DataWriter<byte[]>>();
    readonly List<string> _names = new List<string>();
    readonly ManualResetEvent _done = new ManualResetEvent(false);
    readonly Qos _qos = new Qos
    {
        Writer = { History = History.KeepAll },
        Reader = { Reliability = Reliability.Reliable, History = History.KeepAll }
    };
    readonly DataWriter<byte[]> _word;

    /// Data of a topic, by the handle of its writer, as bytes.
    public delegate void EventHandler(object sender, int dataWriterHandle, byte[] buffer);

    public event EventHandler ProcessNotification;

    public PubSubProxy()
    {
        var done = _participant.CreateBytesTopic(DoneTopic);
        _word = _participant.CreateWriter(done, _qos);
        _participant.CreateReader(done, _qos).DataAvailable += reader =>
        {
            if (reader.Take().Exists(sample => sample.ValidData))
                _done.Set();
        };
    }

    /// A handle for writing to a topic, and for telling whose data have come.
    public int createDataWriter(string topicName)
    {
        var topic = _participant.CreateBytesTopic(topicName);
        int handle = _writers.Count;
        _writers.Add(_participant.CreateWriter(topic, _qos));
        _names.Add(topicName);
        _participant.CreateReader(topic, _qos).DataAvailable += reader =>
        {
            foreach (var sample in reader.Take())
            {
                var handlers = ProcessNotification;
                if (handlers != null && sample.ValidData)
                    handlers(this, handle, sample.Data);
            }
        };
        return handle;
    }

    public string TopicName(int handle) { return _names[handle]; }

    public bool WaitForPeers(int handle, int count, TimeSpan timeout)
    {
        return _writers[handle].WaitForMatched(count, timeout) && _word.WaitForMatched(count, timeout);
    }

    /// The bytes are the caller's again when this returns; nothing but the library copies them.
    public void write(int handle, byte[] buffer) { _writers[handle].Write(buffer); }

    public void writeDone() { _word.Write(new byte[] { 1 }); }

    /// Whether the other side has said its word.
    public bool isDone() { return _done.WaitOne(0); }

    public bool WaitUntilDone(TimeSpan timeout) { return _done.WaitOne(timeout); }

    public void fini()
    {
        _participant.Dispose();
        _qos.Dispose();
    }
}

static class Proxy
{
    static void Main()
    {
        var here = new PubSubProxy();
        var there = new PubSubProxy();
        int quotes = here.createDataWriter("QuoteRequest");
        there.createDataWriter("QuoteRequest");
        var left = new CountdownEvent(3);
        there.ProcessNotification += (sender, handle, buffer) =>
        {
            Console.WriteLine(there.TopicName(handle) + ": " + Encoding.UTF8.GetString(buffer));
            left.Signal();
        };
        // Each has a reader of its own, too.
        here.WaitForPeers(quotes, 2, TimeSpan.FromSeconds(5));
        for (int i = 1; i <= 3; i++)
            here.write(quotes, Encoding.UTF8.GetBytes("request " + i));
        here.writeDone();
        // Samples of one topic keep their order; those of two topics may overtake each other.
        left.Wait(TimeSpan.FromSeconds(5));
        there.WaitUntilDone(TimeSpan.FromSeconds(5));
        Console.WriteLine(there.isDone() ? "done" : "not done");
        here.fini();
        there.fini();
    }
}
