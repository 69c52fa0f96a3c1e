// Plain TCP: each message behind its length.

using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;

namespace Lab
{
    /// <summary>Subscribers listen, publishers connect to all of them; echoes go back through the same
    /// connections.</summary>
    sealed class TcpPeer : IPeer
    {
        const int LengthLen = 4;
        /// <summary>Room for what comes, unless one message needs more.</summary>
        const int BufferLen = 1 << 16;

        readonly Options options;
        readonly IContent content;
        readonly List<Link> links = new List<Link>();
        readonly MemoryStream packed = new MemoryStream();
        readonly Socket listener;
        /// <summary>Where the message came from that was read last.</summary>
        Link from;
        ulong messages, bytes;

        sealed class Link
        {
            public readonly Socket Socket;
            public byte[] Buffer = new byte[BufferLen];
            public int Begin, End;
            public int Timeout = -1;

            public Link(Socket socket)
            {
                Socket = socket;
                Socket.NoDelay = true;
            }
        }

        public TcpPeer(Options options, IContent content)
        {
            this.options = options;
            this.content = content;
            if (!options.IsPassive) return;
            listener = NewSocket();
            listener.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            listener.Bind(new IPEndPoint(options.Here, options.Port(options.Index)));
            listener.Listen(255);
        }

        public void Meet()
        {
            for (int each = 0; options.IsPassive && each < options.Publishers; ++each)
            {
                if (!listener.Poll(Options.Patience * 1000, SelectMode.SelectRead))
                {
                    throw new IOException("not all have connected");
                }
                links.Add(new Link(listener.Accept()));
            }
            for (int each = 0; !options.IsPassive && each < options.Subscribers; ++each)
            {
                Socket socket = NewSocket();
                socket.Connect(new IPEndPoint(options.There, options.Port(each)));
                links.Add(new Link(socket));
            }
        }

        public void Send(ulong number, ulong time)
        {
            Begin();
            content.Write(packed, number, time);
            End();
            foreach (Link link in links) Send(link);
        }

        public void Echo()
        {
            Begin();
            content.WriteEcho(packed);
            End();
            Send(from);
        }

        public void Run(Idle idle, Func<IContent, bool> take)
        {
            int patience = idle.First;
            // What is left from the last time.
            foreach (Link link in links)
            {
                int begin = link.Begin;
                if (TakeFrom(link, take)) return;
                if (link.Begin > begin) patience = idle.Between;
            }
            for (Link link; (link = Receive(patience)) != null; patience = idle.Between)
            {
                if (TakeFrom(link, take)) return;
            }
        }

        public ulong? EncodedBytes { get { return messages > 0 ? bytes / messages : (ulong?)null; } }

        public SortedDictionary<string, string> Settings
        {
            get { return new SortedDictionary<string, string> { { "TCP_NODELAY", "1" } }; }
        }

        public void Dispose()
        {
            foreach (Link link in links) link.Socket.Close();
            if (listener != null) listener.Close();
        }

        static Socket NewSocket()
        {
            return new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        }

        void Begin()
        {
            packed.SetLength(LengthLen);
            packed.Position = LengthLen;
        }

        void End()
        {
            byte[] buffer = packed.GetBuffer();
            int len = (int)packed.Position - LengthLen;
            for (int at = 0; at < LengthLen; ++at) buffer[at] = (byte)(len >> 8 * at);
            ++messages;
            bytes += (ulong)packed.Position;
        }

        void Send(Link link)
        {
            byte[] buffer = packed.GetBuffer();
            for (int at = 0, end = (int)packed.Position; at < end;)
            {
                at += link.Socket.Send(buffer, at, end - at, SocketFlags.None);
            }
        }

        /// <summary>Takes the whole messages that have come from there; says whether that is
        /// enough.</summary>
        bool TakeFrom(Link link, Func<IContent, bool> take)
        {
            while (link.End - link.Begin >= LengthLen)
            {
                int len = BitConverter.ToInt32(link.Buffer, link.Begin), begin = link.Begin + LengthLen;
                if (len < 0 || len > int.MaxValue / 2) throw new IOException("a message has no length");
                if (link.End - begin < len)
                {
                    MakeRoom(link, LengthLen + len);
                    break;
                }
                from = link;
                link.Begin = begin + len;
                content.Read(link.Buffer, begin, len);
                if (take(content)) return true;
            }
            return false;
        }

        /// <summary>Has the buffer hold so many bytes from where the next message begins.</summary>
        static void MakeRoom(Link link, int len)
        {
            if (link.Buffer.Length - link.Begin >= len) return;
            byte[] old = link.Buffer;
            if (old.Length < len) link.Buffer = new byte[len];
            link.End -= link.Begin;
            Buffer.BlockCopy(old, link.Begin, link.Buffer, 0, link.End);
            link.Begin = 0;
        }

        /// <summary>Waits for bytes; returns from where they came, or null if none come for so
        /// long.</summary>
        Link Receive(int patience)
        {
            if (links.Count == 0) return null;
            Link link = links.Count == 1 ? links[0] : Select(patience);
            if (link == null) return null;
            if (link.Begin == link.End) link.Begin = link.End = 0;
            if (link.End == link.Buffer.Length) MakeRoom(link, link.End - link.Begin + LengthLen);
            if (link.Timeout != patience) link.Timeout = link.Socket.ReceiveTimeout = patience;
            try
            {
                int room = link.Buffer.Length - link.End;
                int len = link.Socket.Receive(link.Buffer, link.End, room, SocketFlags.None);
                link.End += len;
                if (len > 0) return link;
            }
            catch (SocketException error)
            {
                SocketError code = error.SocketErrorCode;
                bool isLate = code == SocketError.TimedOut || code == SocketError.WouldBlock;
                if (!isLate && code != SocketError.ConnectionReset) throw;
                if (isLate) return null;
            }
            // The other side has ended.
            links.Remove(link);
            return Receive(patience);
        }

        Link Select(int patience)
        {
            var ready = new List<Socket>(links.Count);
            foreach (Link link in links) ready.Add(link.Socket);
            Socket.Select(ready, null, null, patience * 1000);
            return ready.Count == 0 ? null : links.Find(link => link.Socket == ready[0]);
        }
    }
}
