// What messages contain.

using System;
using System.IO;
using System.Runtime.Serialization.Formatters.Binary;

namespace Lab
{
    /// <summary>Makes messages, and reads those that have come. The last one read is the message that
    /// the other functions speak of.</summary>
    interface IContent
    {
        /// <summary>Topics that a subscriber wants.</summary>
        string[] Topics { get; }

        /// <summary>The topic of message <c>number</c>, and of the one that was read.</summary>
        string Topic(ulong number);
        string TopicRead { get; }

        /// <summary>Writes message <c>number</c>, which is to be sent at <c>time</c>.</summary>
        void Write(Stream stream, ulong number, ulong time);

        /// <summary>Writes the echo of the message that was read.</summary>
        void WriteEcho(Stream stream);

        void Read(byte[] buffer, int begin, int len);

        /// <summary>Its number: if it has only a part of it, the one that is closest to
        /// <c>expected</c>.</summary>
        ulong Number(ulong expected);

        /// <summary>When it was to be sent, if it says so.</summary>
        ulong? Time { get; }

        /// <summary>Whether all of it is what message <c>number</c> has to be.</summary>
        bool IsIntact(ulong number);
    }

    /// <summary>
    /// Payloads of bytes: number and time, little-endian, then bytes that are the low byte of the number
    /// plus their place. What is shorter has the low byte of the number in byte 0 and zeros behind it.
    /// </summary>
    sealed class Bytes : IContent
    {
        /// <summary>Length of number and time.</summary>
        public const int HeaderLen = 16;

        readonly byte[] sent;
        byte[] buffer = new byte[1];
        int begin, len;

        public Bytes(Options options)
        {
            sent = new byte[options.Size];
        }

        public string[] Topics { get { return new[] { "DataFeed" }; } }
        public string Topic(ulong number) { return "DataFeed"; }
        public string TopicRead { get { return "DataFeed"; } }

        public void Write(Stream stream, ulong number, ulong time)
        {
            if (sent.Length < HeaderLen)
            {
                sent[0] = (byte)number;
            }
            else
            {
                PutWord(0, number);
                PutWord(8, time);
                var each = (byte)(number + HeaderLen);
                for (int at = HeaderLen; at < sent.Length; ++at) sent[at] = each++;
            }
            stream.Write(sent, 0, sent.Length);
        }

        public void WriteEcho(Stream stream)
        {
            stream.Write(buffer, begin, len);
        }

        public void Read(byte[] buffer, int begin, int len)
        {
            this.buffer = buffer;
            this.begin = begin;
            this.len = len;
        }

        public ulong Number(ulong expected)
        {
            if (len >= HeaderLen) return Word(0);
            byte low = len > 0 ? buffer[begin] : (byte)0;
            return expected + (ulong)(sbyte)(byte)(low - (byte)expected);
        }

        public ulong? Time { get { return len >= HeaderLen ? Word(8) : (ulong?)null; } }

        public bool IsIntact(ulong number)
        {
            if (len != sent.Length) return false;
            int difference = 0;
            if (len < HeaderLen)
            {
                for (int at = 1; at < len; ++at) difference |= buffer[begin + at];
                return buffer[begin] == (byte)number && difference == 0;
            }
            var each = (byte)(number + HeaderLen);
            for (int at = HeaderLen; at < len; ++at) difference |= buffer[begin + at] ^ each++;
            return Word(0) == number && difference == 0;
        }

        ulong Word(int at) { return BitConverter.ToUInt64(buffer, begin + at); }

        void PutWord(int at, ulong word)
        {
            for (int each = 0; each < 8; ++each) sent[at + each] = (byte)(word >> 8 * each);
        }
    }

    /// <summary>Objects, as the article had them: BinaryFormatter turns them into bytes. An echo is
    /// decoded, marked as such, and encoded again.</summary>
    sealed class Objects : IContent
    {
        readonly Options options;
        readonly BinaryFormatter formatter = new BinaryFormatter();
        readonly MarketData data = MarketData.OfArticle();
        readonly QuoteRequest request = QuoteRequest.OfArticle();
        Message read;

        public Objects(Options options)
        {
            this.options = options;
        }

        public string[] Topics { get { return new[] { "MarketData", "QuoteRequest" }; } }
        public string Topic(ulong number) { return IsRequest(number) ? "QuoteRequest" : "MarketData"; }
        public string TopicRead { get { return read is QuoteRequest ? "QuoteRequest" : "MarketData"; } }

        public void Write(Stream stream, ulong number, ulong time)
        {
            formatter.Serialize(stream, Sent(number, false));
        }

        public void WriteEcho(Stream stream)
        {
            read.isEcho = true;
            formatter.Serialize(stream, read);
        }

        public void Read(byte[] buffer, int begin, int len)
        {
            read = (Message)formatter.Deserialize(new MemoryStream(buffer, begin, len, false));
        }

        public ulong Number(ulong expected)
        {
            return expected + (ulong)(int)(read.counter - (uint)expected);
        }

        public ulong? Time { get { return null; } }

        public bool IsIntact(ulong number)
        {
            return Sent(number, options.Job == Job.Ping).Equals(read);
        }

        Message Sent(ulong number, bool isEcho)
        {
            Message message = IsRequest(number) ? (Message)request : data;
            message.counter = (uint)number;
            message.isEcho = isEcho;
            return message;
        }

        bool IsRequest(ulong number)
        {
            switch (options.Mix)
            {
                case Mix.MarketData: return false;
                case Mix.QuoteRequest: return true;
                default: return number % 10 == 5;
            }
        }
    }
}
