// The command line that all programs of the lab understand, by the contract in lab/CONTRACT.md.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;

namespace Lab
{
    /// <summary>An option that nobody knows, or a value that cannot be done.</summary>
    sealed class BadOption : Exception
    {
        public BadOption(string message) : base(message) { }
    }

    /// <summary>What a process does.</summary>
    enum Job { Ping, Pong, Send, Receive, Codec, Broker }

    /// <summary>What messages are.</summary>
    enum Payload { Bytes, Typed, Floats, Structs }

    /// <summary>Which typed messages there are, and how often.</summary>
    enum Mix { Equal, Published, MarketData, QuoteRequest }

    /// <summary>Which subscribers echo.</summary>
    enum Responders { All, One }

    /// <summary>How a process waits for messages.</summary>
    enum Wait { Block, Poll }

    /// <summary>What carries the messages.</summary>
    enum Transport
    {
        Tcp, ZeroMq,
        /// <summary>Tickwire's topics of bytes, and of its own types.</summary>
        Raw, Typed,
    }

    /// <summary>How long nothing may come, in milliseconds: until the first message, and after it.</summary>
    struct Idle
    {
        public int First, Between;
    }

    /// <summary>What the runner asks of the program.</summary>
    sealed class Options
    {
        /// <summary>How long the other side may take to come, in milliseconds.</summary>
        public const int Patience = 30000;

        public string System;
        public Job Job;
        /// <summary>Length of a payload in bytes.</summary>
        public int Size = 64;
        public Payload Payload = Payload.Bytes;
        public Mix Mix = Mix.Equal;
        /// <summary>Messages to measure, and before them.</summary>
        public ulong Count = 10000, Warmup = 1000;
        public int Publishers = 1, Subscribers = 1;
        /// <summary>Which one of its kind this is.</summary>
        public int Index;
        public Responders Responders = Responders.All;
        /// <summary>Messages in a burst; after each the sender waits for one answer.</summary>
        public ulong? Demand;
        /// <summary>Messages a second, by the clock.</summary>
        public ulong? Rate;
        public Wait Wait = Wait.Block;
        public int? Threads;
        public int? Core;
        /// <summary>The first of 20 free ports.</summary>
        public int FirstPort = 17000;
        /// <summary>This process's own address, where it listens, and that of the other side.</summary>
        public IPAddress Here = IPAddress.Loopback, There = IPAddress.Loopback;
        /// <summary>An empty folder of this run.</summary>
        public string Dir = ".";
        /// <summary>Seconds without a message after which the rest counts as lost.</summary>
        public int IdleSeconds = 2;
        public Transport Transport = Transport.Tcp;

        /// <summary>Whether it is there first, and hears before it sends.</summary>
        public bool IsPassive { get { return Job == Job.Pong || Job == Job.Receive; } }

        /// <summary>Whether anything goes back to the publishers.</summary>
        public bool HasAnswers
        {
            get { return Job == Job.Ping || Job == Job.Pong || Demand.HasValue; }
        }

        /// <summary>How many echoes a ping waits for.</summary>
        public int Echoes { get { return Responders == Responders.All ? Subscribers : 1; } }

        /// <summary>Whether this process echoes pings, or answers bursts.</summary>
        public bool Responds
        {
            get { return Index == 0 || (Job == Job.Pong && Responders == Responders.All); }
        }

        /// <summary>Messages of one publisher, warm-up included.</summary>
        public ulong Total { get { return Warmup + Count; } }

        public Idle Idle { get { return new Idle { First = Patience, Between = IdleSeconds * 1000 }; } }

        /// <summary>Port number <c>at</c> of this run.</summary>
        public int Port(int at)
        {
            if (at >= 20 || FirstPort + at > 65535) throw new BadOption("needs more than 20 ports");
            return FirstPort + at;
        }

        /// <summary>Reads <c>--name value</c> and <c>--name=value</c>.</summary>
        public static Options Read(string[] arguments)
        {
            var options = new Options();
            var known = options.Known();
            var missing = new List<string> { "job", "system" };
            for (int at = 0; at < arguments.Length; ++at)
            {
                string name = arguments[at], value;
                if (!name.StartsWith("--")) throw new BadOption("unexpected argument '" + name + "'");
                name = name.Substring(2);
                int equals = name.IndexOf('=');
                if (equals >= 0)
                {
                    value = name.Substring(equals + 1);
                    name = name.Substring(0, equals);
                }
                else if (++at < arguments.Length)
                {
                    value = arguments[at];
                }
                else
                {
                    throw new BadOption("a value is required for '--" + name + "'");
                }
                Action<string> set;
                if (!known.TryGetValue(name, out set))
                {
                    throw new BadOption("unexpected argument '--" + name + "'");
                }
                try
                {
                    set(value);
                }
                catch (FormatException)
                {
                    throw new BadOption("invalid value '" + value + "' for '--" + name + "'");
                }
                missing.Remove(name);
            }
            if (missing.Count > 0) throw new BadOption("'--" + missing[0] + "' is required");
            options.Check();
            return options;
        }

        /// <summary>Refuses what .NET's programs cannot do.</summary>
        void Check()
        {
            if (Job == Job.Broker) throw new BadOption("cannot do '--job broker'");
            if (Payload != Payload.Bytes && Payload != Payload.Typed)
            {
                throw new BadOption("can do '--payload bytes' and '--payload typed' only");
            }
            if (Job == Job.Codec && Payload == Payload.Bytes)
            {
                throw new BadOption("can do '--payload typed' only");
            }
            if (Wait == Wait.Poll) throw new BadOption("cannot do '--wait poll'");
            if (Threads > 1 && Transport != Transport.ZeroMq)
            {
                throw new BadOption("cannot do '--threads': it has no such option");
            }
            if (Publishers > 1 && (Payload == Payload.Typed || Size < Bytes.HeaderLen))
            {
                throw new BadOption("messages of several publishers need 16 bytes for their numbers");
            }
            if (Publishers > 1 && HasAnswers && Transport == Transport.ZeroMq)
            {
                throw new BadOption("cannot answer several publishers");
            }
        }

        Dictionary<string, Action<string>> Known()
        {
            return new Dictionary<string, Action<string>>
            {
                { "system", text => System = text },
                { "job", text => Job = Choice<Job>(text) },
                { "size", text => Size = (int)Number(text, 1, 0x7fffffc7) },
                { "payload", text => Payload = Choice<Payload>(text) },
                { "mix", text => Mix = Choice<Mix>(text) },
                { "count", text => Count = Number(text) },
                { "warmup", text => Warmup = Number(text) },
                { "publishers", text => Publishers = (int)Number(text, 1, 255) },
                { "subscribers", text => Subscribers = (int)Number(text, 1, 255) },
                { "index", text => Index = (int)Number(text, 0, 255) },
                { "responders", text => Responders = Choice<Responders>(text) },
                { "demand", text => Demand = Number(text, 1) },
                { "rate", text => Rate = Number(text, 1, 1000000000) },
                { "wait", text => Wait = Choice<Wait>(text) },
                { "threads", text => Threads = (int)Number(text, 1, 1024) },
                { "core", text => Core = (int)Number(text, 0, 1023) },
                { "port", text => FirstPort = (int)Number(text, 0, 65535) },
                { "here", text => Here = IPAddress.Parse(text) },
                { "there", text => There = IPAddress.Parse(text) },
                { "dir", text => Dir = text },
                { "idle", text => IdleSeconds = (int)Number(text, 0, 1000000) },
                { "transport", text => Transport = Choice<Transport>(text) },
            };
        }

        static ulong Number(string text, ulong min = 0, ulong max = ulong.MaxValue >> 1)
        {
            ulong number;
            bool isNumber = text.Length > 0 && text.All(each => each >= '0' && each <= '9');
            if (!isNumber || !ulong.TryParse(text, out number) || number < min || number > max)
            {
                throw new FormatException();
            }
            return number;
        }

        /// <summary>Choices are the names of the values, in lower case.</summary>
        static Value Choice<Value>(string text)
        {
            foreach (Value value in Enum.GetValues(typeof(Value)))
            {
                if (value.ToString().ToLowerInvariant() == text) return value;
            }
            throw new FormatException();
        }
    }
}
