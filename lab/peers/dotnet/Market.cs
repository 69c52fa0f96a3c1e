// The messages of the first article, and the values that its programs sent.

using System;
using System.Linq;

namespace Lab
{
    /// <summary>What both have.</summary>
    [Serializable]
    abstract class Message
    {
        public uint securityID;
        public string applVersionID, messageType, senderCompID;
        public uint msgSeqNum, sendingTime;
        public bool isEcho;
        public uint counter;

        protected void SetHead()
        {
            securityID = 2112;
            applVersionID = "1.0";
            messageType = "100";
            senderCompID = "Test Exchange";
            msgSeqNum = 4;
            sendingTime = 58781;
        }

        protected bool IsHeadOf(Message other)
        {
            return securityID == other.securityID && applVersionID == other.applVersionID &&
                   messageType == other.messageType && senderCompID == other.senderCompID &&
                   msgSeqNum == other.msgSeqNum && sendingTime == other.sendingTime &&
                   isEcho == other.isEcho && counter == other.counter;
        }
    }

    [Serializable]
    sealed class MarketData : Message
    {
        public uint tradeDate;
        public MarketDataEntry[] mdEntries;

        public static MarketData OfArticle()
        {
            var entries = Enumerable.Range(0, 3).Select(_ => MarketDataEntry.OfArticle());
            var data = new MarketData { tradeDate = 20100422, mdEntries = entries.ToArray() };
            data.SetHead();
            return data;
        }

        public override bool Equals(object that)
        {
            var other = that as MarketData;
            return other != null && IsHeadOf(other) && tradeDate == other.tradeDate &&
                   mdEntries.SequenceEqual(other.mdEntries);
        }

        public override int GetHashCode() { return (int)counter; }
    }

    [Serializable]
    sealed class MarketDataEntry
    {
        public uint mdUpdateAction, mdPriceLevel;
        public string mdEntryType;
        public uint openCloseSettleFlag, securityIDSource, securityID, rptSeq;
        public double mdEntryPx;
        public uint mdEntryTime, mdEntrySize, numberOfOrders;
        public string tradingSessionID;
        public double netChgPrevDay;
        public uint tradeVolume;
        public string tradeCondition, tickDirection, quoteCondition;
        public uint aggressorSide;
        public string matchEventIndicator;

        public static MarketDataEntry OfArticle()
        {
            return new MarketDataEntry
            {
                mdUpdateAction = 1, mdPriceLevel = 2, mdEntryType = "7", openCloseSettleFlag = 3,
                securityIDSource = 9, securityID = 99, rptSeq = 2, mdEntryPx = 100.0,
                mdEntryTime = 12345, mdEntrySize = 50, numberOfOrders = 10, tradingSessionID = "2",
                netChgPrevDay = 10.0, tradeVolume = 30, tradeCondition = "W", tickDirection = "0",
                quoteCondition = "C", aggressorSide = 2, matchEventIndicator = "1",
            };
        }

        public override bool Equals(object that)
        {
            var other = that as MarketDataEntry;
            return other != null && mdUpdateAction == other.mdUpdateAction &&
                   mdPriceLevel == other.mdPriceLevel && mdEntryType == other.mdEntryType &&
                   openCloseSettleFlag == other.openCloseSettleFlag &&
                   securityIDSource == other.securityIDSource && securityID == other.securityID &&
                   rptSeq == other.rptSeq && mdEntryPx == other.mdEntryPx &&
                   mdEntryTime == other.mdEntryTime && mdEntrySize == other.mdEntrySize &&
                   numberOfOrders == other.numberOfOrders &&
                   tradingSessionID == other.tradingSessionID &&
                   netChgPrevDay == other.netChgPrevDay && tradeVolume == other.tradeVolume &&
                   tradeCondition == other.tradeCondition && tickDirection == other.tickDirection &&
                   quoteCondition == other.quoteCondition && aggressorSide == other.aggressorSide &&
                   matchEventIndicator == other.matchEventIndicator;
        }

        public override int GetHashCode() { return (int)securityID; }
    }

    [Serializable]
    sealed class QuoteRequest : Message
    {
        public string quoteReqID;
        public RelatedSym[] related;

        public static QuoteRequest OfArticle()
        {
            var symbols = Enumerable.Range(0, 3).Select(_ => RelatedSym.OfArticle());
            var request = new QuoteRequest { quoteReqID = "R", related = symbols.ToArray() };
            request.SetHead();
            return request;
        }

        public override bool Equals(object that)
        {
            var other = that as QuoteRequest;
            return other != null && IsHeadOf(other) && quoteReqID == other.quoteReqID &&
                   related.SequenceEqual(other.related);
        }

        public override int GetHashCode() { return (int)counter; }
    }

    [Serializable]
    sealed class RelatedSym
    {
        public string symbol;
        public ulong orderQuantity;
        public uint side;
        public ulong transactTime;
        public uint quoteType, securityID, securityIDSource;

        public static RelatedSym OfArticle()
        {
            return new RelatedSym
            {
                symbol = "321", orderQuantity = 25, side = 1, transactTime = 58781, quoteType = 1,
                securityID = 99, securityIDSource = 9,
            };
        }

        public override bool Equals(object that)
        {
            var other = that as RelatedSym;
            return other != null && symbol == other.symbol && orderQuantity == other.orderQuantity &&
                   side == other.side && transactTime == other.transactTime &&
                   quoteType == other.quoteType && securityID == other.securityID &&
                   securityIDSource == other.securityIDSource;
        }

        public override int GetHashCode() { return (int)securityID; }
    }
}
