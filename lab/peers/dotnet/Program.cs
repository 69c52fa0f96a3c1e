// Objects of .NET over plain TCP and over ZeroMQ, as the first article had them.

using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Lab
{
    static class Program
    {
        static int Main(string[] arguments)
        {
            Options options = null;
            try
            {
                options = Options.Read(arguments);
                if (options.Core.HasValue) Bind(options.Core.Value);
                Console.WriteLine(Work(options).Json(RuntimeInformation.FrameworkDescription));
                return 0;
            }
            catch (BadOption error)
            {
                Console.Error.WriteLine("dotnet: " + error.Message);
                return 2;
            }
            catch (Exception error)
            {
                Console.Error.WriteLine(options.System + ": " + error.Message);
                return 1;
            }
        }

        static Answer Work(Options options)
        {
            IContent content = Content(options);
            if (options.Job == Job.Codec) return Lab.Work.Codec(options, content);
            using (IPeer peer = Peer(options, content))
            {
                if (options.IsPassive) Console.WriteLine("ready");
                Console.Out.Flush();
                peer.Meet();
                Findings findings = new Work(options, peer).Do();
                string job = options.Job.ToString().ToLowerInvariant();
                return new Answer(options, findings)
                {
                    EncodedBytes = peer.EncodedBytes,
                    SampleFile = findings.Samples.Save(options, job + "." + options.Index + ".ns"),
                    Settings = peer.Settings,
                };
            }
        }

        static IContent Content(Options options)
        {
            if (options.Payload != Payload.Typed) return new Bytes(options);
#if TICKWIRE
            if (options.Transport == Transport.Typed) return new TypedContent(options);
#endif
            return new Objects(options);
        }

        static IPeer Peer(Options options, IContent content)
        {
            switch (options.Transport)
            {
                case Transport.Tcp: return new TcpPeer(options, content);
                case Transport.ZeroMq: return new ZeroMqPeer(options, content);
#if TICKWIRE
                case Transport.Typed:
                    var typed = content as TypedContent;
                    if (typed != null) return new TickwireTyped(options, typed);
                    return new TickwireRaw(options, content);
                case Transport.Raw: return new TickwireRaw(options, content);
#endif
                default: throw new BadOption("is not built with this transport");
            }
        }

        /// <summary>Binds all threads of the process, and with them those that are to come, to one
        /// core.</summary>
        static void Bind(int core)
        {
            var set = new ulong[16];
            set[core / 64] = 1UL << core % 64;
            foreach (string task in Directory.GetDirectories("/proc/self/task"))
            {
                int thread = int.Parse(Path.GetFileName(task));
                if (Native.sched_setaffinity(thread, (IntPtr)(8 * set.Length), set) != 0)
                {
                    throw new BadOption("cannot be bound to core " + core);
                }
            }
        }
    }
}
