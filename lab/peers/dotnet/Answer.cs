// The clock that all processes of the machine share, what a process costs, and the answer.

using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

namespace Lab
{
    /// <summary>What the C library has, and .NET has not.</summary>
    static class Native
    {
        const string C = "libc.so.6";

        [StructLayout(LayoutKind.Sequential)]
        public struct Time
        {
            public long Seconds, Rest;
        }

        [StructLayout(LayoutKind.Sequential)]
        public struct Usage
        {
            public Time User, System;
            public long MaxRss, Ixrss, Idrss, Isrss, MinorFaults, MajorFaults, Swaps, BlocksIn, BlocksOut,
                        MessagesSent, MessagesReceived, Signals, Voluntary, Involuntary;
        }

        [DllImport(C)] public static extern int clock_gettime(int clock, out Time time);
        [DllImport(C)] public static extern int getrusage(int who, out Usage usage);
        [DllImport(C)] public static extern int sched_setaffinity(int thread, IntPtr size, ulong[] set);
    }

    static class Clock
    {
        const int Monotonic = 1;

        /// <summary>CLOCK_MONOTONIC in nanoseconds.</summary>
        public static ulong Now()
        {
            Native.Time time;
            Native.clock_gettime(Monotonic, out time);
            return (ulong)time.Seconds * 1000000000 + (ulong)time.Rest;
        }
    }

    /// <summary>Measured times, in memory that was touched before.</summary>
    sealed class Samples
    {
        readonly ulong[] times;

        public Samples(ulong count)
        {
            times = new ulong[count];
            for (int at = 0; at < times.Length; at += 512) times[at] = 1;
        }

        public ulong Count { get; private set; }

        public void Add(ulong time)
        {
            if (Count < (ulong)times.Length) times[Count++] = time;
        }

        /// <summary>How many are not before that time.</summary>
        public ulong CountSince(ulong time)
        {
            ulong count = 0;
            for (ulong at = 0; at < Count; ++at) count += times[at] >= time ? 1UL : 0;
            return count;
        }

        /// <summary>Writes them into a file of the run; returns its name if there are any.</summary>
        public string Save(Options options, string name)
        {
            if (Count == 0) return null;
            var bytes = new byte[Count * 8];
            Buffer.BlockCopy(times, 0, bytes, 0, bytes.Length);
            File.WriteAllBytes(Path.Combine(options.Dir, name), bytes);
            return name;
        }
    }

    /// <summary>What the process used from the first measured message to the last.</summary>
    sealed class Meter
    {
        const int OfProcess = 0;

        Native.Usage before;
        ulong begun, ended;

        public ulong UserNs, SystemNs, Voluntary, Involuntary, ResidentKb, Threads;

        /// <summary>When it ended, 0 if it has not.</summary>
        public ulong Ended { get { return ended; } }

        public ulong ElapsedNs { get { return ended > begun ? ended - begun : 0; } }

        /// <summary>Begins, unless it has.</summary>
        public void Begin()
        {
            if (begun > 0) return;
            begun = Clock.Now();
            Native.getrusage(OfProcess, out before);
        }

        /// <summary>Ends; <c>at</c> is the time of the last message.</summary>
        public void End(ulong at)
        {
            if (begun == 0) return;
            ended = at;
            Native.Usage after;
            Native.getrusage(OfProcess, out after);
            UserNs = Ns(after.User) - Ns(before.User);
            SystemNs = Ns(after.System) - Ns(before.System);
            Voluntary = (ulong)(after.Voluntary - before.Voluntary);
            Involuntary = (ulong)(after.Involuntary - before.Involuntary);
            foreach (string line in File.ReadAllLines("/proc/self/status"))
            {
                string[] words = line.Split(new[] { ' ', '\t' }, StringSplitOptions.RemoveEmptyEntries);
                if (words[0] == "VmRSS:") ResidentKb = ulong.Parse(words[1]);
                if (words[0] == "Threads:") Threads = ulong.Parse(words[1]);
            }
        }

        static ulong Ns(Native.Time time)
        {
            return (ulong)time.Seconds * 1000000000 + (ulong)time.Rest * 1000;
        }
    }

    /// <summary>The answer of the program, one line of JSON.</summary>
    sealed class Answer
    {
        readonly Options options;
        readonly Findings findings;

        public ulong PayloadBytes;
        public ulong? EncodedBytes;
        public string SampleFile, DecodeFile;
        public SortedDictionary<string, string> Settings = new SortedDictionary<string, string>();

        public Answer(Options options, Findings findings)
        {
            this.options = options;
            this.findings = findings;
            PayloadBytes = (ulong)options.Size;
        }

        public string Json(string version)
        {
            var out_ = new StringBuilder("{\"system\":" + Text(options.System));
            Action<string, string> add = (name, value) => out_.Append(",\"" + name + "\":" + value);
            Meter meter = findings.Meter;
            add("version", Text(version));
            add("job", Text(options.Job.ToString().ToLowerInvariant()));
            add("index", options.Index.ToString());
            add("sent", findings.Sent.ToString());
            add("received", findings.Received.ToString());
            add("lost", findings.Lost.ToString());
            add("out_of_order", findings.OutOfOrder.ToString());
            add("wrong", findings.Wrong.ToString());
            add("error", Text(findings.Error));
            add("elapsed_ns", meter.ElapsedNs.ToString());
            if (findings.Taken > 0)
            {
                add("taken", findings.Taken.ToString());
                add("taken_ns", findings.TakenNs.ToString());
            }
            add("payload_bytes", PayloadBytes.ToString());
            add("encoded_bytes", EncodedBytes.HasValue ? EncodedBytes.ToString() : "null");
            add("cpu_user_ns", meter.UserNs.ToString());
            add("cpu_system_ns", meter.SystemNs.ToString());
            add("voluntary_switches", meter.Voluntary.ToString());
            add("involuntary_switches", meter.Involuntary.ToString());
            add("resident_kb", meter.ResidentKb.ToString());
            add("threads", meter.Threads.ToString());
            add("samples", Text(SampleFile));
            if (DecodeFile != null) add("samples_decode", Text(DecodeFile));
            string late = findings.Late.Save(options, "late." + options.Index + ".ns");
            if (late != null) add("stages", "{\"sender late\":" + Text(late) + "}");
            var settings = new List<string>();
            foreach (var each in Settings) settings.Add(Text(each.Key) + ":" + Text(each.Value));
            add("settings", "{" + string.Join(",", settings.ToArray()) + "}");
            return out_.Append('}').ToString();
        }

        static string Text(string text)
        {
            if (text == null) return "null";
            var out_ = new StringBuilder("\"");
            foreach (char each in text)
            {
                if (each == '"' || each == '\\') out_.Append('\\');
                if (each < 0x20) out_.AppendFormat("\\u{0:x4}", (int)each);
                else out_.Append(each);
            }
            return out_.Append('"').ToString();
        }
    }
}
