/// The article's messages as the IDL compiler of Cyclone DDS has them.
#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "Feed.h"
#include "market.hpp"

/// What a sample of either type has in the lab.
template <class Sample>
using Value = std::conditional_t<std::is_same_v<Sample, lab_MarketData>, lab::MarketData, lab::QuoteRequest>;

/// The fields of a sample, in the order of `fields` of the lab's structure.
template <class Self>
auto fields(Self& self) {
    using Sample = std::remove_const_t<Self>;
    if constexpr (std::is_same_v<Sample, lab_MarketDataEntry>) {
        return std::tie(self.mdUpdateAction, self.mdPriceLevel, self.mdEntryType, self.openCloseSettleFlag,
                        self.securityID, self.securityIDSource, self.rptSeq, self.mdEntryPx,
                        self.mdEntryTime, self.mdEntrySize, self.numberOfOrders, self.tradingSessionID,
                        self.netChgPrevDay, self.tradeVolume, self.tradeCondition, self.tickDirection,
                        self.quoteCondition, self.aggressorSide, self.matchEventIndicator);
    } else if constexpr (std::is_same_v<Sample, lab_MarketData>) {
        return std::tie(self.securityID, self.applVersionID, self.messageType, self.senderCompID,
                        self.msgSeqNum, self.sendingTime, self.tradeDate, self.isEcho, self.counter,
                        self.mdEntries);
    } else if constexpr (std::is_same_v<Sample, lab_RelatedSym>) {
        return std::tie(self.symbol, self.orderQuantity, self.side, self.transactTime, self.quoteType,
                        self.securityID, self.securityIDSource);
    } else {
        static_assert(std::is_same_v<Sample, lab_QuoteRequest>);
        return std::tie(self.securityID, self.applVersionID, self.messageType, self.senderCompID,
                        self.msgSeqNum, self.sendingTime, self.quoteReqID, self.isEcho, self.counter,
                        self.related);
    }
}

/// Whether `visit(field of the sample, field of the value)` is true of all fields.
template <class Sample, class Value, class Visit>
bool all(Sample& sample, const Value& value, const Visit& visit) {
    const auto with_all = [&](auto&... left) {
        return std::apply([&](auto&... right) { return (visit(left, right) && ...); }, Value::fields(value));
    };
    return std::apply(with_all, fields(sample));
}

/// Has a sample refer to a value, which has to stay.
struct Refer {
    template <class Number>
    bool operator()(Number& to, const Number& from) const {
        to = from;
        return true;
    }

    bool operator()(char*& to, const std::string& from) const {
        to = const_cast<char*>(from.c_str());
        return true;
    }

    template <class Sequence, class Element>
    bool operator()(Sequence& to, const std::vector<Element>& from) const {
        using Sample = std::remove_pointer_t<decltype(to._buffer)>;
        const auto len = static_cast<uint32_t>(from.size());
        to = {len, len, static_cast<Sample*>(dds_alloc(len * sizeof(Sample))), true};
        for (uint32_t at = 0; at < len; ++at) all(to._buffer[at], from[at], *this);
        return true;
    }
};

struct IsEqual {
    template <class Number>
    bool operator()(const Number& left, const Number& right) const {
        return left == right;
    }

    bool operator()(char* left, const std::string& right) const {
        return left && std::strcmp(left, right.c_str()) == 0;
    }

    template <class Sequence, class Element>
    bool operator()(const Sequence& left, const std::vector<Element>& right) const {
        if (left._length != right.size()) return false;
        for (uint32_t at = 0; at < left._length; ++at) {
            if (!all(left._buffer[at], right[at], *this)) return false;
        }
        return true;
    }
};

/// The article's message of one type, as it is sent. It lives as long as the program.
template <class Sample>
class Example {
public:
    explicit Example(Value<Sample> value) : value_(std::move(value)) { all(sample_, value_, Refer()); }

    Example(const Example&) = delete;
    Example& operator=(const Example&) = delete;

    /// The sample with this number.
    const Sample& mark(uint32_t counter) {
        sample_.counter = counter;
        return sample_;
    }

    /// Whether this is that sample, or its echo.
    bool is(const Sample& sample, uint32_t counter, bool is_echo) {
        value_.counter = counter;
        value_.isEcho = is_echo;
        return all(sample, value_, IsEqual());
    }

private:
    Value<Sample> value_;
    Sample sample_;
};
