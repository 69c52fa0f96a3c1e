/// The topics of either payload.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "leg.hpp"
#include "sample.hpp"

/// One topic of bytes.
class Bytes {
public:
    using Message = lab::Bytes;

    Bytes(const Session& session, const dds_listener_t* listener)
        : options_(session.options),
          payload_(session.options.len()),
          leg_(session, lab_Payload_desc, "bytes", listener) {}

    void meet() { ::meet(options_, leg_); }

    void send(uint64_t number, uint64_t time) {
        lab::fill(payload_.data(), payload_.size(), number, time);
        write({payload_.data(), payload_.size()});
    }

    void echo(const lab::Bytes& message) { write(message); }

    void flush() { leg_.flush(); }

    template <class Deliver>
    void take(Deliver&& deliver) {
        leg_.take([&](const lab_Payload& sample) {
            return deliver(lab::Bytes{sample.data._buffer, sample.data._length});
        });
    }

private:
    void write(lab::Bytes bytes) {
        const auto len = static_cast<uint32_t>(bytes.len);
        lab_Payload sample;
        sample.data = {len, len, const_cast<uint8_t*>(bytes.data), false};
        leg_.write(sample);
    }

    const lab::Options& options_;
    std::vector<uint8_t> payload_;
    Leg<lab_Payload> leg_;
};

/// A topic for each of the article's messages.
class Typed {
public:
    /// A received sample of either type, which the library keeps.
    struct Message {
        Typed& typed;
        const lab_MarketData* data;
        const lab_QuoteRequest* request;

        uint64_t number(uint64_t expected) const {
            const uint32_t ahead = (data ? data->counter : request->counter) - static_cast<uint32_t>(expected);
            return expected + static_cast<int32_t>(ahead);
        }

        std::optional<uint64_t> time() const { return std::nullopt; }

        bool is_intact(uint64_t number) const { return typed.is_intact(*this, number); }
    };

    Typed(const Session& session, const dds_listener_t* listener)
        : options_(session.options),
          data_leg_(session, lab_MarketData_desc, "MarketData", listener),
          request_leg_(session, lab_QuoteRequest_desc, "QuoteRequest", listener) {}

    void meet() { ::meet(options_, data_leg_, request_leg_); }

    void send(uint64_t number, uint64_t) {
        const auto counter = static_cast<uint32_t>(number);
        if (kind_of(number) == lab::Kind::market_data) {
            data_leg_.write(data_.mark(counter));
        } else {
            request_leg_.write(request_.mark(counter));
        }
    }

    void echo(const Message& message) {
        message.data ? echo(*message.data, data_leg_) : echo(*message.request, request_leg_);
    }

    void flush() {
        data_leg_.flush();
        request_leg_.flush();
    }

    template <class Deliver>
    void take(Deliver&& deliver) {
        const auto flow = data_leg_.take([&](const lab_MarketData& data) {
            return deliver(Message{*this, &data, nullptr});
        });
        if (flow == lab::Flow::stop) return;
        request_leg_.take([&](const lab_QuoteRequest& request) {
            return deliver(Message{*this, nullptr, &request});
        });
    }

private:
    lab::Kind kind_of(uint64_t number) const {
        return lab::kind_of(number, options_.mix, lab::Published::four_in_five);
    }

    bool is_intact(const Message& message, uint64_t number) {
        const auto counter = static_cast<uint32_t>(number);
        const bool is_echo = options_.job == lab::Job::ping;
        if (kind_of(number) == lab::Kind::market_data) {
            return message.data && data_.is(*message.data, counter, is_echo);
        }
        return message.request && request_.is(*message.request, counter, is_echo);
    }

    /// Marked as such. The strings stay where they are.
    template <class Sample>
    void echo(Sample sample, Leg<Sample>& leg) {
        sample.isEcho = true;
        leg.write(sample);
    }

    const lab::Options& options_;
    Example<lab_MarketData> data_{lab::market_data()};
    Example<lab_QuoteRequest> request_{lab::quote_request()};
    Leg<lab_MarketData> data_leg_;
    Leg<lab_QuoteRequest> request_leg_;
};
