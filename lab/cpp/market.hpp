/// The messages of the first article, and the values that its programs sent.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "options.hpp"

namespace lab {

/// Of the structures below: equality, and `serialize` as Boost.Serialization wants it, over `fields`.
template <class Self>
struct Fields {
    friend bool operator==(const Self& left, const Self& right) {
        return Self::fields(left) == Self::fields(right);
    }

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
        std::apply([&archive](auto&... field) { (static_cast<void>(archive & field), ...); },
                   Self::fields(static_cast<Self&>(*this)));
    }
};

struct MarketDataEntry : Fields<MarketDataEntry> {
    uint32_t mdUpdateAction, mdPriceLevel;
    std::string mdEntryType;
    uint32_t openCloseSettleFlag, securityIDSource, securityID, rptSeq;
    double mdEntryPx;
    uint32_t mdEntryTime, mdEntrySize, numberOfOrders;
    std::string tradingSessionID;
    double netChgPrevDay;
    uint32_t tradeVolume;
    std::string tradeCondition, tickDirection, quoteCondition;
    uint32_t aggressorSide;
    std::string matchEventIndicator;

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.mdUpdateAction, self.mdPriceLevel, self.mdEntryType,
                        self.openCloseSettleFlag, self.securityID, self.securityIDSource, self.rptSeq,
                        self.mdEntryPx, self.mdEntryTime, self.mdEntrySize, self.numberOfOrders,
                        self.tradingSessionID, self.netChgPrevDay, self.tradeVolume,
                        self.tradeCondition, self.tickDirection, self.quoteCondition,
                        self.aggressorSide, self.matchEventIndicator);
    }
};

struct MarketData : Fields<MarketData> {
    uint32_t securityID;
    std::string applVersionID, messageType, senderCompID;
    uint32_t msgSeqNum, sendingTime, tradeDate;
    bool isEcho;
    uint32_t counter;
    std::vector<MarketDataEntry> mdEntries;

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.securityID, self.applVersionID, self.messageType, self.senderCompID,
                        self.msgSeqNum, self.sendingTime, self.tradeDate, self.isEcho, self.counter,
                        self.mdEntries);
    }
};

struct RelatedSym : Fields<RelatedSym> {
    std::string symbol;
    uint64_t orderQuantity;
    uint32_t side;
    uint64_t transactTime;
    uint32_t quoteType, securityID, securityIDSource;

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.symbol, self.orderQuantity, self.side, self.transactTime, self.quoteType,
                        self.securityID, self.securityIDSource);
    }
};

struct QuoteRequest : Fields<QuoteRequest> {
    uint32_t securityID;
    std::string applVersionID, messageType, senderCompID;
    uint32_t msgSeqNum, sendingTime;
    std::string quoteReqID;
    bool isEcho;
    uint32_t counter;
    std::vector<RelatedSym> related;

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.securityID, self.applVersionID, self.messageType, self.senderCompID,
                        self.msgSeqNum, self.sendingTime, self.quoteReqID, self.isEcho, self.counter,
                        self.related);
    }
};

/// The article's MarketData; its number is still to be set.
inline MarketData market_data() {
    MarketDataEntry entry;
    entry.mdUpdateAction = 1;
    entry.mdPriceLevel = 2;
    entry.mdEntryType = "7";
    entry.openCloseSettleFlag = 3;
    entry.securityIDSource = 9;
    entry.securityID = 99;
    entry.rptSeq = 2;
    entry.mdEntryPx = 100.0;
    entry.mdEntryTime = 12345;
    entry.mdEntrySize = 50;
    entry.numberOfOrders = 10;
    entry.tradingSessionID = "2";
    entry.netChgPrevDay = 10.0;
    entry.tradeVolume = 30;
    entry.tradeCondition = "W";
    entry.tickDirection = "0";
    entry.quoteCondition = "C";
    entry.aggressorSide = 2;
    entry.matchEventIndicator = "1";

    MarketData data;
    data.securityID = 2112;
    data.applVersionID = "1.0";
    data.messageType = "100";
    data.senderCompID = "Test Exchange";
    data.msgSeqNum = 4;
    data.sendingTime = 58781;
    data.tradeDate = 20100422;
    data.isEcho = false;
    data.counter = 0;
    data.mdEntries.assign(3, entry);
    return data;
}

/// The article's QuoteRequest; its number is still to be set.
inline QuoteRequest quote_request() {
    RelatedSym symbol;
    symbol.symbol = "321";
    symbol.orderQuantity = 25;
    symbol.side = 1;
    symbol.transactTime = 58781;
    symbol.quoteType = 1;
    symbol.securityID = 99;
    symbol.securityIDSource = 9;

    QuoteRequest request;
    request.securityID = 2112;
    request.applVersionID = "1.0";
    request.messageType = "100";
    request.senderCompID = "Test Exchange";
    request.msgSeqNum = 4;
    request.sendingTime = 58781;
    request.quoteReqID = "R";
    request.isEcho = false;
    request.counter = 0;
    request.related.assign(3, symbol);
    return request;
}

/// Which of the two a message is.
enum class Kind { market_data, quote_request };

/// The topic of such messages.
inline const std::string& topic(Kind kind) {
    static const std::string market_data = "MarketData", quote_request = "QuoteRequest";
    return kind == Kind::market_data ? market_data : quote_request;
}

/// What messages of this topic are.
inline Kind kind_of(const std::string& name) {
    if (name == topic(Kind::market_data)) return Kind::market_data;
    if (name == topic(Kind::quote_request)) return Kind::quote_request;
    throw std::runtime_error("invalid topic name: " + name);
}

/// How the article's program of a system mixed them: all of them one QuoteRequest to nine MarketData,
/// but that of OpenDDS, which meant the same, four QuoteRequest to one MarketData.
enum class Published { one_in_ten, four_in_five };

/// What message `number` is.
inline Kind kind_of(uint64_t number, Mix mix, Published published = Published::one_in_ten) {
    const bool is_four_in_five = mix == Mix::published && published == Published::four_in_five;
    const bool is_request = mix == Mix::market_data     ? false
                            : mix == Mix::quote_request ? true
                            : is_four_in_five           ? number % 5 != 0
                                                        : number % 10 == 5;
    return is_request ? Kind::quote_request : Kind::market_data;
}

}  // namespace lab
