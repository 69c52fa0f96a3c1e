/// Topics of bytes and of typed messages by the ISO C++ PSM of dds/dds.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <dds/dds.hpp>

#include "Feed.hpp"
#include "market.hpp"
#include "message.hpp"
#include "session.hpp"

namespace cpp {

template <class Qos>
Qos with(const Session::Settings& settings) {
    Qos qos;
    for (const auto& [key, value] : settings) qos.setting(key, value);
    return qos;
}

/// The participant, and what topics share.
struct Entities {
    explicit Entities(const Session& session)
        : session(session),
          participant(session.options.domain(), with<dds::domain::qos::DomainParticipantQos>(session.participant())),
          publisher(participant),
          subscriber(participant) {}

    const Session& session;
    dds::domain::DomainParticipant participant;
    dds::pub::Publisher publisher;
    dds::sub::Subscriber subscriber;
};

/// A topic there and the same back: what this side writes, and what it reads. `type` are further arguments of a topic.
template <class T>
class Leg {
public:
    template <class... Type>
    Leg(const Entities& of, const std::string& name, const Type&... type)
        : writer_(of.publisher, dds::topic::Topic<T>(of.participant, of.session.topic(name, true), type...),
                  with<dds::pub::qos::DataWriterQos>(of.session.writer())),
          reader_(of.subscriber, dds::topic::Topic<T>(of.participant, of.session.topic(name, false), type...),
                  with<dds::sub::qos::DataReaderQos>(of.session.reader())) {}

    void meet(uint32_t count) {
        writer_.wait_for_matched(count, lab::PATIENCE);
        reader_.wait_for_matched(count, lab::PATIENCE);
    }

    void write(const T& sample) { writer_.write(sample); }

    void write_in_place(lab::Bytes bytes) {
        tickwire::Loan loan = writer_.loan_sample(bytes.len);
        std::memcpy(loan.data(), bytes.data, bytes.len);
        loan.write();
    }

    /// Calls `take(data)` for each sample that comes, until deafen().
    template <class Take>
    void listen(Take take) {
        reader_.take_each([take = std::move(take)](const dds::sub::Sample<T>& sample) {
            if (sample.info().valid()) take(sample.data());
        });
    }

    void deafen() { reader_.stop_taking(); }

private:
    dds::pub::DataWriter<T> writer_;
    dds::sub::DataReader<T> reader_;
};

/// What links of bytes and of typed messages have in common.
class Base {
public:
    static constexpr bool LENDS = false;

    void flush() { entities_.publisher.flush(); }

    void poll(std::chrono::milliseconds timeout) { entities_.participant.poll(timeout); }

protected:
    explicit Base(const Session& session) : entities_(session) {}

    Entities entities_;
};

class Link : public Base {
public:
    /// A sample, and its bytes.
    struct Message : lab::Bytes {
        explicit Message(const tickwire::Bytes& sample)
            : lab::Bytes{sample.data().data(), sample.data().size()}, sample(sample) {}

        const tickwire::Bytes& sample;
    };

    explicit Link(const Session& session)
        : Base(session),
          outgoing_(std::vector<uint8_t>(session.options.len())),
          leg_(entities_, "array", tickwire::BytesType{"lab::Bytes", "data", 0, TW_FINAL}) {}

    void meet(uint32_t count) { leg_.meet(count); }

    void send(uint64_t number, uint64_t time) {
        lab::fill(outgoing_.data().data(), outgoing_.data().size(), number, time);
        leg_.write(outgoing_);
    }

    void echo(const Message& message) { leg_.write(message.sample); }

    template <class Deliver>
    void listen(Deliver& deliver) {
        leg_.listen([&deliver](const tickwire::Bytes& sample) { deliver(Message(sample)); });
    }

    void deafen() { leg_.deafen(); }

private:
    tickwire::Bytes outgoing_;
    Leg<tickwire::Bytes> leg_;
};

/// Bytes that are written into loans and read in place.
class LentLink : public Base {
public:
    using Message = lab::Bytes;
    static constexpr bool LENDS = true;

    explicit LentLink(const Session& session)
        : Base(session),
          payload_(session.options.len()),
          leg_(entities_, "array", tickwire::BytesType{"lab::Bytes", "data", 0, TW_FINAL}) {}

    void meet(uint32_t count) { leg_.meet(count); }

    void send(uint64_t number, uint64_t time) {
        lab::fill(payload_.data(), payload_.size(), number, time);
        echo({payload_.data(), payload_.size()});
    }

    void echo(const lab::Bytes& message) { leg_.write_in_place(message); }

    template <class Deliver>
    void listen(Deliver& deliver) {
        leg_.listen([&deliver](const tickwire::BytesInPlace& bytes) { deliver({bytes.data(), bytes.size()}); });
    }

    void deafen() { leg_.deafen(); }

private:
    std::vector<uint8_t> payload_;
    Leg<tickwire::BytesInPlace> leg_;
};

/// MarketData and QuoteRequest of the first article, a topic of each. An echo is what came, unchanged.
class TypedLink : public Base {
public:
    using MarketData = MiddlewareNewsBrief::MarketData;
    using QuoteRequest = MiddlewareNewsBrief::QuoteRequest;

    /// A sample of either type.
    struct Message {
        TypedLink& link;
        const MarketData* data;
        const QuoteRequest* request;

        uint64_t number(uint64_t) const { return data ? data->counter() : request->counter(); }

        std::optional<uint64_t> time() const { return std::nullopt; }

        bool is_intact(uint64_t number) const {
            return data ? is_equal(link.market_data_, *data, number) : is_equal(link.quote_request_, *request, number);
        }

    private:
        template <class Sample>
        static bool is_equal(Sample expected, const Sample& sample, uint64_t number) {
            expected.counter(static_cast<uint32_t>(number));
            return expected == sample;
        }
    };

    explicit TypedLink(const Session& session)
        : Base(session), data_leg_(entities_, "MarketData"), request_leg_(entities_, "QuoteRequest") {}

    void meet(uint32_t count) {
        data_leg_.meet(count);
        request_leg_.meet(count);
    }

    void send(uint64_t number, uint64_t) {
        const lab::Mix mix = entities_.session.options.mix;
        const bool is_data = lab::kind_of(number, mix, lab::Published::four_in_five) == lab::Kind::market_data;
        is_data ? send(data_leg_, market_data_, number) : send(request_leg_, quote_request_, number);
    }

    void echo(const Message& message) {
        message.data ? data_leg_.write(*message.data) : request_leg_.write(*message.request);
    }

    template <class Deliver>
    void listen(Deliver& deliver) {
        data_leg_.listen([this, &deliver](const MarketData& data) { deliver(Message{*this, &data, nullptr}); });
        request_leg_.listen([this, &deliver](const QuoteRequest& request) {
            deliver(Message{*this, nullptr, &request});
        });
    }

    void deafen() {
        data_leg_.deafen();
        request_leg_.deafen();
    }

private:
    template <class Sample>
    static void send(Leg<Sample>& leg, Sample& sample, uint64_t number) {
        sample.counter(static_cast<uint32_t>(number));
        leg.write(sample);
    }

    static MarketData make(const lab::MarketData& of) {
        std::vector<MiddlewareNewsBrief::MarketDataEntry> entries;
        for (const lab::MarketDataEntry& each : of.mdEntries) {
            entries.emplace_back(each.mdUpdateAction, each.mdPriceLevel, each.mdEntryType, each.openCloseSettleFlag,
                                 each.securityIDSource, each.securityID, each.rptSeq, each.mdEntryPx, each.mdEntryTime,
                                 static_cast<int32_t>(each.mdEntrySize), each.numberOfOrders, each.tradingSessionID,
                                 each.netChgPrevDay, each.tradeVolume, each.tradeCondition, each.tickDirection,
                                 each.quoteCondition, each.aggressorSide, each.matchEventIndicator);
        }
        return {of.isEcho,       of.counter,   of.securityID,  of.applVersionID, of.messageType,
                of.senderCompID, of.msgSeqNum, of.sendingTime, of.tradeDate,     std::move(entries)};
    }

    static QuoteRequest make(const lab::QuoteRequest& of) {
        std::vector<MiddlewareNewsBrief::RelatedSym> related;
        for (const lab::RelatedSym& each : of.related) {
            related.emplace_back(each.symbol, each.orderQuantity, each.side, each.transactTime, each.quoteType,
                                 each.securityID, each.securityIDSource);
        }
        return {of.isEcho,       of.counter,   of.securityID,  of.applVersionID, of.messageType,
                of.senderCompID, of.msgSeqNum, of.sendingTime, of.quoteReqID,    std::move(related)};
    }

    /// What goes next.
    MarketData market_data_ = make(lab::market_data());
    QuoteRequest quote_request_ = make(lab::quote_request());
    Leg<MarketData> data_leg_;
    Leg<QuoteRequest> request_leg_;
};

}  // namespace cpp
