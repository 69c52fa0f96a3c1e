/// Typed messages by Protocol Buffers.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "MarketData.pb.h"
#include "market.hpp"
#include "message.hpp"

/// A codec as typed.hpp wants it. Messages are written into the transport's buffer at once, and objects
/// are used again, as the article had it.
class Protobuf {
public:
    using MarketData = article::pbMarketData;
    using QuoteRequest = article::pbQuoteRequest;

    static MarketData market_data() {
        const lab::MarketData values = lab::market_data();
        MarketData data;
        mark(data, values.counter, values.isEcho);
        set_head(data, values);
        data.set_tradedate(values.tradeDate);
        for (const lab::MarketDataEntry& each : values.mdEntries) {
            auto& entry = *data.add_mdentries();
            entry.set_mdupdateaction(each.mdUpdateAction);
            entry.set_mdpricelevel(each.mdPriceLevel);
            entry.set_mdentrytype(each.mdEntryType);
            entry.set_openclosesettleflag(each.openCloseSettleFlag);
            entry.set_securityidsource(each.securityIDSource);
            entry.set_securityid(each.securityID);
            entry.set_rptseq(each.rptSeq);
            entry.set_mdentrypx(each.mdEntryPx);
            entry.set_mdentrytime(each.mdEntryTime);
            entry.set_mdentrysize(static_cast<int32_t>(each.mdEntrySize));
            entry.set_numberoforders(each.numberOfOrders);
            entry.set_tradingsessionid(each.tradingSessionID);
            entry.set_netchgprevday(each.netChgPrevDay);
            entry.set_tradevolume(each.tradeVolume);
            entry.set_tradecondition(each.tradeCondition);
            entry.set_tickdirection(each.tickDirection);
            entry.set_quotecondition(each.quoteCondition);
            entry.set_aggressorside(each.aggressorSide);
            entry.set_matcheventindicator(each.matchEventIndicator);
        }
        return data;
    }

    static QuoteRequest quote_request() {
        const lab::QuoteRequest values = lab::quote_request();
        QuoteRequest request;
        mark(request, values.counter, values.isEcho);
        set_head(request, values);
        request.set_quotereqid(values.quoteReqID);
        for (const lab::RelatedSym& each : values.related) {
            auto& symbol = *request.add_related();
            symbol.set_symbol(each.symbol);
            symbol.set_orderquantity(each.orderQuantity);
            symbol.set_side(each.side);
            symbol.set_transacttime(each.transactTime);
            symbol.set_quotetype(each.quoteType);
            symbol.set_securityid(each.securityID);
            symbol.set_securityidsource(each.securityIDSource);
        }
        return request;
    }

    template <class Message>
    static void mark(Message& message, uint32_t counter, bool is_echo) {
        message.set_is_echo(is_echo);
        message.set_counter(counter);
    }

    template <class Message>
    static uint32_t counter(const Message& message) {
        return message.counter();
    }

    template <class Message>
    static bool are_equal(const Message& left, const Message& right) {
        return left.SerializeAsString() == right.SerializeAsString();
    }

    size_t encode(const google::protobuf::Message& message) {
        message_ = &message;
        len_ = message.ByteSizeLong();
        return len_;
    }

    void write(uint8_t* place) const {
        if (!message_->SerializeToArray(place, static_cast<int>(len_))) {
            throw std::runtime_error("a message cannot be encoded");
        }
    }

    void decode(lab::Bytes bytes, google::protobuf::Message& message) {
        if (!message.ParseFromArray(bytes.data, static_cast<int>(bytes.len))) {
            throw std::runtime_error("a message cannot be decoded");
        }
    }

private:
    template <class Message, class Values>
    static void set_head(Message& message, const Values& values) {
        message.set_securityid(values.securityID);
        message.set_applversionid(values.applVersionID);
        message.set_messagetype(values.messageType);
        message.set_sendercompid(values.senderCompID);
        message.set_msgseqnum(values.msgSeqNum);
        message.set_sendingtime(values.sendingTime);
    }

    const google::protobuf::Message* message_ = nullptr;
    size_t len_ = 0;
};
