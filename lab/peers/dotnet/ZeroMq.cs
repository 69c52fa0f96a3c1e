// ZeroMQ through its C library, with the sockets that the article's programs had.

using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Lab
{
    /// <summary>A subscriber has two endpoints: one that hears, and one that sends its echoes. Messages
    /// begin with their topic and a zero byte.</summary>
    sealed class ZeroMqPeer : IPeer
    {
        const string Library = "libzmq.so.5";
        const int Sub = 2, Xpub = 9;
        const int Subscribe = 6, Events = 15, Linger = 17, SendHwm = 23, ReceiveHwm = 24, ReceiveTimeout = 27,
                  XpubVerbose = 40, IoThreads = 1;
        const int DontWait = 1;
        const int Interrupted = 4, Again = 11;
        /// <summary>Room for a typed message.</summary>
        const int ObjectLen = 1 << 16;

        [DllImport(Library)] static extern IntPtr zmq_ctx_new();
        [DllImport(Library)] static extern int zmq_ctx_set(IntPtr context, int option, int value);
        [DllImport(Library)] static extern int zmq_ctx_term(IntPtr context);
        [DllImport(Library)] static extern IntPtr zmq_socket(IntPtr context, int type);
        [DllImport(Library)] static extern int zmq_close(IntPtr socket);
        [DllImport(Library)] static extern int zmq_bind(IntPtr socket, byte[] endpoint);
        [DllImport(Library)] static extern int zmq_connect(IntPtr socket, byte[] endpoint);
        [DllImport(Library)]
        static extern int zmq_setsockopt(IntPtr socket, int option, byte[] value, UIntPtr len);
        [DllImport(Library)]
        static extern int zmq_getsockopt(IntPtr socket, int option, out int value, ref UIntPtr len);
        [DllImport(Library)]
        static extern int zmq_send(IntPtr socket, byte[] buffer, UIntPtr len, int flags);
        [DllImport(Library)]
        static extern int zmq_recv(IntPtr socket, byte[] buffer, UIntPtr len, int flags);
        [DllImport(Library)] static extern int zmq_errno();
        [DllImport(Library)] static extern IntPtr zmq_strerror(int error);

        readonly Options options;
        readonly IContent content;
        readonly IntPtr context, publisher, subscriber;
        readonly MemoryStream packed = new MemoryStream();
        readonly Dictionary<string, byte[]> topics = new Dictionary<string, byte[]>();
        readonly byte[] buffer;
        int timeout = -1;
        ulong messages, bytes;

        public ZeroMqPeer(Options options, IContent content)
        {
            this.options = options;
            this.content = content;
            buffer = new byte[Math.Max(ObjectLen, options.Size + 64)];
            context = zmq_ctx_new();
            Check(zmq_ctx_set(context, IoThreads, options.Threads ?? 1));
            publisher = zmq_socket(context, Xpub);
            subscriber = zmq_socket(context, Sub);
            Set(publisher, SendHwm, 0);
            Set(publisher, Linger, Options.Patience);
            Set(publisher, XpubVerbose, 1);
            Set(subscriber, ReceiveHwm, 0);
            foreach (string topic in content.Topics)
            {
                topics[topic] = Encoding.ASCII.GetBytes(topic + '\0');
                byte[] prefix = topics[topic];
                Check(zmq_setsockopt(subscriber, Subscribe, prefix, (UIntPtr)prefix.Length));
            }
            if (options.IsPassive)
            {
                Check(zmq_bind(subscriber, Endpoint(2 * options.Index)));
                if (Speaks) Check(zmq_bind(publisher, Endpoint(2 * options.Index + 1)));
                return;
            }
            for (int at = 0; at < options.Subscribers; ++at) Check(zmq_connect(publisher, Endpoint(2 * at)));
            for (int at = 0; at < Answers; ++at) Check(zmq_connect(subscriber, Endpoint(2 * at + 1)));
        }

        /// <summary>Waits until all have subscribed to what this one sends.</summary>
        public void Meet()
        {
            int missing = Speaks ? Others * topics.Count : 0;
            ulong deadline = Clock.Now() + Options.Patience * 1000000UL;
            while (missing > 0)
            {
                while (Check(zmq_recv(publisher, buffer, (UIntPtr)buffer.Length, DontWait)) > 0)
                {
                    if (buffer[0] == 1) --missing;
                }
                // A socket that nobody asks does not send its own subscriptions.
                int events;
                var len = (UIntPtr)sizeof(int);
                Check(zmq_getsockopt(subscriber, Events, out events, ref len));
                if (Clock.Now() > deadline) throw new IOException("not all have subscribed");
                Thread.Sleep(1);
            }
        }

        public void Send(ulong number, ulong time)
        {
            Begin(content.Topic(number));
            content.Write(packed, number, time);
            Send();
        }

        public void Echo()
        {
            Begin(content.TopicRead);
            content.WriteEcho(packed);
            Send();
        }

        public void Run(Idle idle, Func<IContent, bool> take)
        {
            int len;
            for (int patience = idle.First; (len = Receive(patience)) > 0; patience = idle.Between)
            {
                int begin = Array.IndexOf(buffer, (byte)0, 0, len) + 1;
                if (begin == 0) throw new IOException("a topic has no end");
                content.Read(buffer, begin, len - begin);
                if (take(content)) return;
            }
        }

        public ulong? EncodedBytes { get { return messages > 0 ? bytes / messages : (ulong?)null; } }

        public SortedDictionary<string, string> Settings
        {
            get
            {
                return new SortedDictionary<string, string>
                {
                    { "ZMQ_IO_THREADS", (options.Threads ?? 1).ToString() },
                    { "ZMQ_RCVHWM", "0" },
                    { "ZMQ_SNDHWM", "0" },
                    { "ZMQ_XPUB_VERBOSE", "1" },
                };
            }
        }

        public void Dispose()
        {
            zmq_close(publisher);
            zmq_close(subscriber);
            while (zmq_ctx_term(context) != 0 && zmq_errno() == Interrupted) { }
        }

        /// <summary>Whether this one sends anything.</summary>
        bool Speaks { get { return !options.IsPassive || (options.HasAnswers && options.Responds); } }

        /// <summary>How many there are on the other side, and how many of them answer.</summary>
        int Others { get { return options.IsPassive ? options.Publishers : options.Subscribers; } }
        int Answers { get { return options.Job == Job.Ping ? options.Echoes : options.Demand.HasValue ? 1 : 0; } }

        byte[] Endpoint(int at)
        {
            var address = options.IsPassive ? options.Here : options.There;
            return Encoding.ASCII.GetBytes("tcp://" + address + ":" + options.Port(at) + '\0');
        }

        void Begin(string topic)
        {
            byte[] prefix = topics[topic];
            packed.SetLength(0);
            packed.Write(prefix, 0, prefix.Length);
        }

        void Send()
        {
            ++messages;
            bytes += (ulong)packed.Position;
            int sent;
            do
            {
                sent = zmq_send(publisher, packed.GetBuffer(), (UIntPtr)packed.Position, 0);
            } while (sent < 0 && zmq_errno() == Interrupted);
            Check(sent);
        }

        /// <summary>Waits for a message; returns its length, or 0 if none comes for so long.</summary>
        int Receive(int patience)
        {
            if (timeout != patience) Set(subscriber, ReceiveTimeout, timeout = patience);
            int len;
            do
            {
                len = zmq_recv(subscriber, buffer, (UIntPtr)buffer.Length, 0);
            } while (len < 0 && zmq_errno() == Interrupted);
            if (Check(len) > buffer.Length) throw new IOException("a message is too long");
            return len < 0 ? 0 : len;
        }

        static void Set(IntPtr socket, int option, int value)
        {
            Check(zmq_setsockopt(socket, option, BitConverter.GetBytes(value), (UIntPtr)sizeof(int)));
        }

        /// <summary>A result that is no failure, or -1 if there is nothing in time.</summary>
        static int Check(int result)
        {
            if (result >= 0) return result;
            int error = zmq_errno();
            if (error == Again || error == Interrupted) return -1;
            throw new IOException(Marshal.PtrToStringAnsi(zmq_strerror(error)));
        }
    }
}
