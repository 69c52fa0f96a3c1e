// What the program does, whatever it sends with.

using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;

namespace Lab
{
    /// <summary>One side of a conversation.</summary>
    interface IPeer : IDisposable
    {
        /// <summary>Waits until the other side is there, all of it.</summary>
        void Meet();

        /// <summary>Sends a message to everybody on the other side; waits for room.</summary>
        void Send(ulong number, ulong time);

        /// <summary>Sends the message that was read last back to where it came from.</summary>
        void Echo();

        /// <summary>Calls <c>take</c> for each message, until that says that it was the last or nothing
        /// came for so long. What comes while nobody runs waits for the next call.</summary>
        void Run(Idle idle, Func<IContent, bool> take);

        /// <summary>Mean length of what the transport got.</summary>
        ulong? EncodedBytes { get; }

        /// <summary>Options of the system that the program sets.</summary>
        SortedDictionary<string, string> Settings { get; }
    }

    /// <summary>What a job has seen so far.</summary>
    sealed class Findings
    {
        public ulong Sent, Received, Lost, OutOfOrder, Wrong;
        public string Error;
        public readonly Meter Meter = new Meter();
        public Samples Samples = new Samples(0);
        /// <summary>How late messages were sent, against the clock.</summary>
        public Samples Late = new Samples(0);
        /// <summary>Messages received since the publishers began, and how long that took.</summary>
        public ulong Taken, TakenNs;

        /// <summary>Remembers the first error.</summary>
        public void Fail(string what) { Error = Error ?? what; }

        /// <summary>A message was not what had been sent.</summary>
        public void Corrupt(ulong number)
        {
            ++Wrong;
            Fail("message " + number + " is not what was sent");
        }
    }

    /// <summary>Does the job of the options with a peer.</summary>
    sealed class Work
    {
        /// <summary>The highest byte of a number is the publisher's index.</summary>
        const int PublisherShift = 56;
        const ulong OwnNumber = (1UL << PublisherShift) - 1;
        /// <summary>Of these, a stream has one compared whole.</summary>
        const ulong CheckEvery = 64;
        /// <summary>Messages that are encoded, then decoded.</summary>
        const ulong Batch = 100;
        /// <summary>Those that are compared whole: of both types in every mix.</summary>
        static readonly ulong[] Compared = { Batch - 5, Batch - 1 };
        /// <summary>How far ahead the start is of who comes last.</summary>
        const ulong Lead = 20000000;
        /// <summary>How long the answer to a burst may take.</summary>
        static readonly Idle Answer = new Idle { First = 100, Between = 100 };

        readonly Options options;
        readonly IPeer peer;
        readonly Findings findings = new Findings();
        /// <summary>When the messages of the warm-up came.</summary>
        Samples warmed;

        public Work(Options options, IPeer peer)
        {
            this.options = options;
            this.peer = peer;
        }

        public Findings Do()
        {
            switch (options.Job)
            {
                case Job.Ping: Ping(); break;
                case Job.Pong: Pong(); break;
                case Job.Send: Send(); break;
                default: Receive(); break;
            }
            return findings;
        }

        /// <summary>Sends a message, waits for its echoes, sends the next.</summary>
        void Ping()
        {
            findings.Samples = new Samples(options.Count);
            ulong number = 0, sentAt = 0;
            int echoes = 0;
            Action begin = () =>
            {
                if (number >= options.Warmup)
                {
                    findings.Meter.Begin();
                    ++findings.Sent;
                }
                echoes = 0;
                sentAt = Clock.Now();
                peer.Send(number, sentAt);
            };
            if (options.Total > 0)
            {
                begin();
                peer.Run(options.Idle, echo =>
                {
                    ulong at = Clock.Now();
                    if (echo.Number(number) != number || !echo.IsIntact(number)) findings.Corrupt(number);
                    if (++echoes < options.Echoes) return false;
                    if (number >= options.Warmup)
                    {
                        findings.Samples.Add(at - sentAt);
                        ++findings.Received;
                    }
                    if (++number == options.Total)
                    {
                        findings.Meter.End(at);
                        return true;
                    }
                    begin();
                    return false;
                });
            }
            if (number < options.Total)
            {
                findings.Lost = options.Total - number;
                findings.Fail("no echo of message " + number);
            }
        }

        /// <summary>Echoes what comes, if it is to; else only takes it.</summary>
        void Pong()
        {
            ulong taken = 0;
            bool responds = options.Responds;
            if (options.Total > 0)
            {
                peer.Run(options.Idle, message =>
                {
                    ulong number = taken;
                    if (responds) peer.Echo();
                    if (message.Number(number) != number) findings.Corrupt(number);
                    if (number >= options.Warmup)
                    {
                        findings.Meter.Begin();
                        ++findings.Received;
                        if (responds) ++findings.Sent;
                    }
                    if (++taken < options.Total) return false;
                    findings.Meter.End(Clock.Now());
                    return true;
                });
            }
            findings.Lost = options.Total - taken;
            if (findings.Lost > 0) findings.Fail(findings.Lost + " messages have not come");
        }

        /// <summary>Sends as fast as it can, in bursts that are answered, or by the clock.</summary>
        void Send()
        {
            ulong publisher = (ulong)options.Index << PublisherShift;
            // The schedule of a rate has no room for a pause after the warm-up.
            ulong first = options.Rate.HasValue ? 0 : options.Warmup;
            if (options.Rate.HasValue) findings.Late = new Samples(options.Count);
            ulong begin = 0;
            for (ulong number = 0; number < options.Total; ++number)
            {
                if (number == first)
                {
                    TellStart();
                    begin = Clock.Now();
                }
                bool isMeasured = number >= options.Warmup;
                ulong time = 0;
                if (options.Rate.HasValue)
                {
                    time = begin + Due(number);
                    ulong at = WaitUntil(time);
                    if (isMeasured) findings.Late.Add(at - time);
                }
                if (isMeasured) findings.Meter.Begin();
                peer.Send(publisher | number, time);
                if (isMeasured) ++findings.Sent;
                if (options.Demand.HasValue && (number + 1) % options.Demand.Value == 0)
                {
                    // What does not come is missing where it is received.
                    peer.Run(Answer, _ => true);
                }
            }
            findings.Meter.End(Clock.Now());
        }

        /// <summary>When message <c>number</c> is to be sent, after the first.</summary>
        ulong Due(ulong number)
        {
            ulong rate = options.Rate.Value, second = 1000000000;
            return number / rate * second + number % rate * second / rate;
        }

        /// <summary>Leaves the processor to others until then, as threads of the system are bound to the
        /// same core; returns when it was so far.</summary>
        static ulong WaitUntil(ulong time)
        {
            for (;;)
            {
                ulong at = Clock.Now();
                if (at >= time) return at;
                Thread.Yield();
            }
        }

        string StartFile(int index) { return Path.Combine(options.Dir, "start." + index); }

        /// <summary>Tells the run when this publisher begins, which is now; several of them wait until all
        /// are warm, and begin together.</summary>
        void TellStart()
        {
            bool isAlone = options.Publishers == 1;
            ulong own = Clock.Now() + (isAlone ? 0 : Lead);
            ulong deadline = own + (ulong)options.Idle.First * 1000000;
            string name = StartFile(options.Index);
            File.WriteAllText(name + ".new", own.ToString());
            File.Move(name + ".new", name);
            while (!isAlone)
            {
                ulong? start = AgreedStart();
                ulong time = Clock.Now();
                if (start <= time) return;
                if (!start.HasValue && time > deadline)
                {
                    throw new InvalidOperationException("not all publishers came to the start");
                }
                Thread.Sleep(1);
            }
        }

        /// <summary>When the publishers begin, if all have told: the latest of their times.</summary>
        ulong? AgreedStart()
        {
            ulong latest = 0;
            for (int index = 0; index < options.Publishers; ++index)
            {
                string name = StartFile(index);
                if (!File.Exists(name)) return null;
                latest = Math.Max(latest, ulong.Parse(File.ReadAllText(name)));
            }
            return latest;
        }

        /// <summary>Receives all messages, and looks at each.</summary>
        void Receive()
        {
            var publishers = new Received[options.Publishers];
            for (int each = 0; each < publishers.Length; ++each) publishers[each] = new Received();
            if (options.Rate.HasValue)
            {
                findings.Samples = new Samples(options.Count * (ulong)options.Publishers);
            }
            warmed = new Samples(options.Warmup * (ulong)options.Publishers);
            peer.Run(options.Idle, message => Take(message, publishers));
            ulong? start = AgreedStart();
            if (findings.Meter.Ended > start)
            {
                findings.Taken = findings.Received + warmed.CountSince(start.Value);
                findings.TakenNs = findings.Meter.Ended - start.Value;
            }
            foreach (Received received in publishers)
            {
                findings.Lost += received.Lost(options.Total);
                findings.OutOfOrder += received.OutOfOrder;
                findings.Wrong += received.Repeated;
            }
            if (findings.Lost > 0) findings.Fail(findings.Lost + " messages have not come");
        }

        bool Take(IContent message, Received[] publishers)
        {
            ulong number = message.Number(publishers[0].Next);
            ulong publisher = number >> PublisherShift, own = number & OwnNumber;
            if (publisher >= (ulong)publishers.Length)
            {
                findings.Corrupt(number);
                return false;
            }
            Received received = publishers[publisher];
            bool isLate = own < received.Next;
            received.Take(own);
            if (own % CheckEvery == 0 && !message.IsIntact(number)) findings.Corrupt(number);
            if (own >= options.Warmup)
            {
                findings.Meter.Begin();
                ++findings.Received;
                if (options.Rate.HasValue && message.Time.HasValue)
                {
                    ulong at = Clock.Now(), time = message.Time.Value;
                    findings.Samples.Add(at > time ? at - time : 0);
                }
            }
            else
            {
                warmed.Add(Clock.Now());
            }
            bool isBurstEnd = options.Demand.HasValue && (own + 1) % options.Demand.Value == 0;
            if (isBurstEnd && options.Responds) peer.Echo();
            bool isLast = own + 1 >= options.Total;
            if (!isLast && !isLate) return false;
            bool isOver = Array.TrueForAll(
                publishers, each => each.Next >= options.Total && each.Lost(options.Total) == 0);
            if (isLast || isOver) findings.Meter.End(Clock.Now());
            return isOver;
        }

        /// <summary>What it costs to encode and decode, without sending: 100 messages, and so
        /// on.</summary>
        public static Answer Codec(Options options, IContent content)
        {
            var findings = new Findings();
            Samples encoding = new Samples(options.Count / Batch + 1), decoding = new Samples(options.Count / Batch + 1);
            var stream = new MemoryStream();
            var ends = new int[Batch];
            ulong bytes = 0;
            for (ulong number = 0; number + Batch <= options.Total; number += Batch)
            {
                bool isMeasured = number >= options.Warmup;
                if (isMeasured) findings.Meter.Begin();
                stream.SetLength(0);
                ulong begin = Clock.Now();
                for (ulong each = 0; each < Batch; ++each)
                {
                    content.Write(stream, number + each, 0);
                    ends[each] = (int)stream.Position;
                }
                ulong middle = Clock.Now();
                int from = 0;
                foreach (int end in ends)
                {
                    content.Read(stream.GetBuffer(), from, end - from);
                    from = end;
                }
                ulong after = Clock.Now();
                foreach (ulong each in Compared)
                {
                    from = ends[each - 1];
                    content.Read(stream.GetBuffer(), from, ends[each] - from);
                    if (!content.IsIntact(number + each)) findings.Corrupt(number + each);
                }
                if (!isMeasured) continue;
                encoding.Add((middle - begin) / Batch);
                decoding.Add((after - middle) / Batch);
                bytes += (ulong)ends[Batch - 1];
            }
            findings.Meter.End(Clock.Now());
            findings.Sent = findings.Received = encoding.Count * Batch;
            return new Answer(options, findings)
            {
                PayloadBytes = 0,
                EncodedBytes = findings.Sent > 0 ? bytes / findings.Sent : (ulong?)null,
                SampleFile = encoding.Save(options, "codec.encode.ns"),
                DecodeFile = decoding.Save(options, "codec.decode.ns"),
            };
        }
    }

    /// <summary>The messages of one publisher: what has come, what has not, what came twice or
    /// late.</summary>
    sealed class Received
    {
        /// <summary>A larger gap is counted, but not looked into when something of it comes
        /// late.</summary>
        const ulong MaxMissing = 1 << 20;

        readonly HashSet<ulong> missing = new HashSet<ulong>();
        ulong givenUp;

        public ulong OutOfOrder, Repeated;

        /// <summary>The number that comes next if nothing is lost.</summary>
        public ulong Next { get; private set; }

        public void Take(ulong number)
        {
            if (number >= Next)
            {
                ulong gap = number - Next;
                if (gap > MaxMissing)
                {
                    givenUp += gap;
                }
                else
                {
                    for (ulong each = Next; each < number; ++each) missing.Add(each);
                }
                Next = number + 1;
            }
            else if (missing.Remove(number))
            {
                ++OutOfOrder;
            }
            else
            {
                ++Repeated;
            }
        }

        /// <summary>How many of the messages before <c>end</c> have not come.</summary>
        public ulong Lost(ulong end)
        {
            return (ulong)missing.Count + givenUp + (end > Next ? end - Next : 0);
        }
    }
}
