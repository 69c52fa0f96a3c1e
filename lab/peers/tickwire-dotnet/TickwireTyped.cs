// Typed topics: the classes that Tickwire makes of the article's IDL, encoded and decoded without reflection.

using System;
using System.IO;
using Tickwire;
using Tickwire.Cdr;
using Article = MiddlewareNewsBrief;

namespace Lab
{
    /// <summary>One of both messages, which was read last.</summary>
    sealed class TypedContent : IContent
    {
        readonly Options options;
        readonly CdrWriter writer = new CdrWriter();
        public readonly Article.MarketData Data = Data3();
        public readonly Article.QuoteRequest Request = Request3();
        readonly Article.MarketData dataRead = new Article.MarketData();
        readonly Article.QuoteRequest requestRead = new Article.QuoteRequest();

        public TypedContent(Options options)
        {
            this.options = options;
        }

        /// <summary>Where the next message is read to, once it is known which one it is.</summary>
        public Article.MarketData DataRead { get { IsRequestRead = false; return dataRead; } }
        public Article.QuoteRequest RequestRead { get { IsRequestRead = true; return requestRead; } }
        public bool IsRequestRead { get; private set; }

        public string[] Topics { get { return new[] { "MarketData", "QuoteRequest" }; } }
        public string Topic(ulong number) { return IsRequest(number) ? Topics[1] : Topics[0]; }
        public string TopicRead { get { return IsRequestRead ? Topics[1] : Topics[0]; } }

        public bool IsRequest(ulong number)
        {
            switch (options.Mix)
            {
                case Mix.MarketData: return false;
                case Mix.QuoteRequest: return true;
                default: return number % 10 == 5;
            }
        }

        public void Mark(ulong number, bool isEcho)
        {
            if (IsRequest(number))
            {
                Request.counter = (uint)number;
                Request.is_echo = isEcho;
            }
            else
            {
                Data.counter = (uint)number;
                Data.is_echo = isEcho;
            }
        }

        /// <summary>For the job codec. The first byte tells which one it is.</summary>
        public void Write(Stream stream, ulong number, ulong time)
        {
            Mark(number, false);
            bool isRequest = IsRequest(number);
            if (isRequest) Article.QuoteRequestSupport.Instance.ToPayload(Request, CdrVersion.Xcdr2, writer);
            else Article.MarketDataSupport.Instance.ToPayload(Data, CdrVersion.Xcdr2, writer);
            byte[] payload = writer.ToArray();
            stream.WriteByte(isRequest ? (byte)1 : (byte)0);
            stream.Write(payload, 0, payload.Length);
        }

        public void WriteEcho(Stream stream) { throw new NotSupportedException(); }

        public void Read(byte[] buffer, int begin, int len)
        {
            var payload = new byte[len - 1];
            Buffer.BlockCopy(buffer, begin + 1, payload, 0, len - 1);
            if (buffer[begin] == 1) Article.QuoteRequestSupport.Instance.FromPayload(payload, RequestRead);
            else Article.MarketDataSupport.Instance.FromPayload(payload, DataRead);
        }

        public ulong Number(ulong expected)
        {
            uint counter = IsRequestRead ? requestRead.counter : dataRead.counter;
            return expected + (ulong)(int)(counter - (uint)expected);
        }

        public ulong? Time { get { return null; } }

        public bool IsIntact(ulong number)
        {
            if (IsRequest(number) != IsRequestRead) return false;
            Mark(number, options.Job == Job.Ping);
            bool isIntact = IsRequestRead ? Request.Equals(requestRead) : Data.Equals(dataRead);
            Mark(number, false);
            return isIntact;
        }

        static Article.MarketData Data3()
        {
            var from = MarketData.OfArticle();
            var data = new Article.MarketData
            {
                securityID = from.securityID, applVersionID = from.applVersionID, messageType = from.messageType,
                senderCompID = from.senderCompID, msgSeqNum = from.msgSeqNum, sendingTime = from.sendingTime,
                tradeDate = from.tradeDate,
            };
            foreach (MarketDataEntry entry in from.mdEntries)
            {
                data.mdEntries.Add(new Article.MarketDataEntry
                {
                    mdUpdateAction = entry.mdUpdateAction, mdPriceLevel = entry.mdPriceLevel,
                    mdEntryType = entry.mdEntryType, openCloseSettleFlag = entry.openCloseSettleFlag,
                    securityIDSource = entry.securityIDSource, securityID = entry.securityID, rptSeq = entry.rptSeq,
                    mdEntryPx = entry.mdEntryPx, mdEntryTime = entry.mdEntryTime,
                    mdEntrySize = (int)entry.mdEntrySize, numberOfOrders = entry.numberOfOrders,
                    tradingSessionID = entry.tradingSessionID, netChgPrevDay = entry.netChgPrevDay,
                    tradeVolume = entry.tradeVolume, tradeCondition = entry.tradeCondition,
                    tickDirection = entry.tickDirection, quoteCondition = entry.quoteCondition,
                    aggressorSide = entry.aggressorSide, matchEventIndicator = entry.matchEventIndicator,
                });
            }
            return data;
        }

        static Article.QuoteRequest Request3()
        {
            var from = QuoteRequest.OfArticle();
            var request = new Article.QuoteRequest
            {
                securityID = from.securityID, applVersionID = from.applVersionID, messageType = from.messageType,
                senderCompID = from.senderCompID, msgSeqNum = from.msgSeqNum, sendingTime = from.sendingTime,
                quoteReqID = from.quoteReqID,
            };
            foreach (RelatedSym symbol in from.related)
            {
                request.related.Add(new Article.RelatedSym
                {
                    symbol = symbol.symbol, orderQuantity = symbol.orderQuantity, side = symbol.side,
                    transactTime = symbol.transactTime, quoteType = symbol.quoteType,
                    securityID = symbol.securityID, securityIDSource = symbol.securityIDSource,
                });
            }
            return request;
        }
    }

    /// <summary>A topic of each message.</summary>
    sealed class TickwireTyped : TickwirePeer
    {
        readonly TypedContent content;
        readonly DataWriter<Article.MarketData> dataWriter;
        readonly DataReader<Article.MarketData> dataReader;
        readonly DataWriter<Article.QuoteRequest> requestWriter;
        readonly DataReader<Article.QuoteRequest> requestReader;

        public TickwireTyped(Options options, TypedContent content) : base(options)
        {
            this.content = content;
            using (Qos qos = EndpointQos())
            {
                dataWriter = Participant.CreateWriter(
                    Participant.CreateTopic<Article.MarketData>(Name("MarketData", true)), qos);
                dataReader = Participant.CreateReader(
                    Participant.CreateTopic<Article.MarketData>(Name("MarketData", false)), qos);
                requestWriter = Participant.CreateWriter(
                    Participant.CreateTopic<Article.QuoteRequest>(Name("QuoteRequest", true)), qos);
                requestReader = Participant.CreateReader(
                    Participant.CreateTopic<Article.QuoteRequest>(Name("QuoteRequest", false)), qos);
            }
            Action drainData = DrainData, drainRequests = DrainRequests;
            dataReader.DataAvailable += _ => OnData(drainData);
            requestReader.DataAvailable += _ => OnData(drainRequests);
        }

        public override void Meet()
        {
            Meet(dataWriter, dataReader);
            Meet(requestWriter, requestReader);
        }

        public override void Send(ulong number, ulong time)
        {
            content.Mark(number, false);
            if (content.IsRequest(number)) requestWriter.Write(content.Request);
            else dataWriter.Write(content.Data);
        }

        public override void Echo()
        {
            if (content.IsRequestRead)
            {
                Article.QuoteRequest request = content.RequestRead;
                request.is_echo = true;
                requestWriter.Write(request);
            }
            else
            {
                Article.MarketData data = content.DataRead;
                data.is_echo = true;
                dataWriter.Write(data);
            }
        }

        protected override void Drain()
        {
            DrainData();
            DrainRequests();
        }

        void DrainData()
        {
            SampleInfo info;
            while (IsHeard && dataReader.TryTake(content.DataRead, out info))
                if (info.ValidData) Hear(content);
        }

        void DrainRequests()
        {
            SampleInfo info;
            while (IsHeard && requestReader.TryTake(content.RequestRead, out info))
                if (info.ValidData) Hear(content);
        }
    }
}
