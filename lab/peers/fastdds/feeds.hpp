/// The topics of either payload.
#pragma once

#include <cstdint>
#include <optional>

#include "leg.hpp"

/// One topic of bytes.
class Bytes {
public:
    using Message = lab::Bytes;

    Bytes(const Session& session, fast::DataReaderListener* listener)
        : options_(session.options), leg_(session, "bytes", HEAD_LEN + session.options.len(), listener) {
        sent_.data.resize(session.options.len());
    }

    void meet() { ::meet(options_, leg_); }

    void send(uint64_t number, uint64_t time) {
        lab::fill(sent_.data.data(), sent_.data.size(), number, time);
        leg_.write(sent_);
    }

    /// The message that is being taken.
    void echo(const lab::Bytes&) { leg_.write(*taken_); }

    template <class Deliver>
    void take(Deliver&& deliver) {
        leg_.take([&](Payload& payload) {
            taken_ = &payload;
            return deliver(lab::Bytes{payload.data.data(), payload.data.size()});
        });
    }

private:
    /// Encapsulation and length.
    static constexpr size_t HEAD_LEN = 8;

    const lab::Options& options_;
    Leg<Payload> leg_;
    Payload sent_;
    Payload* taken_ = nullptr;
};

/// A topic for each of the article's messages.
class Typed {
public:
    /// A received sample of either type.
    struct Message {
        Typed& typed;
        lab::MarketData* data;
        lab::QuoteRequest* request;

        uint64_t number(uint64_t expected) const {
            const uint32_t ahead = (data ? data->counter : request->counter) - static_cast<uint32_t>(expected);
            return expected + static_cast<int32_t>(ahead);
        }

        std::optional<uint64_t> time() const { return std::nullopt; }

        bool is_intact(uint64_t number) const { return typed.is_intact(*this, number); }
    };

    Typed(const Session& session, fast::DataReaderListener* listener)
        : options_(session.options),
          data_leg_(session, "MarketData", MAX_LEN, listener),
          request_leg_(session, "QuoteRequest", MAX_LEN, listener) {}

    void meet() { ::meet(options_, data_leg_, request_leg_); }

    void send(uint64_t number, uint64_t) {
        const auto write = [&](auto& sample, auto& leg) {
            sample.counter = static_cast<uint32_t>(number);
            leg.write(sample);
        };
        kind_of(number) == lab::Kind::market_data ? write(data_, data_leg_) : write(request_, request_leg_);
    }

    /// Marked as such.
    void echo(const Message& message) {
        const auto write = [](auto& sample, auto& leg) {
            sample.isEcho = true;
            leg.write(sample);
        };
        message.data ? write(*message.data, data_leg_) : write(*message.request, request_leg_);
    }

    template <class Deliver>
    void take(Deliver&& deliver) {
        const auto flow = data_leg_.take([&](lab::MarketData& data) {
            return deliver(Message{*this, &data, nullptr});
        });
        if (flow == lab::Flow::stop) return;
        request_leg_.take([&](lab::QuoteRequest& request) {
            return deliver(Message{*this, nullptr, &request});
        });
    }

private:
    /// Of either type, about.
    static constexpr size_t MAX_LEN = 1024;

    lab::Kind kind_of(uint64_t number) const {
        return lab::kind_of(number, options_.mix, lab::Published::four_in_five);
    }

    bool is_intact(const Message& message, uint64_t number) const {
        const auto is = [&](auto expected, const auto* sample) {
            expected.counter = static_cast<uint32_t>(number);
            expected.isEcho = options_.job == lab::Job::ping;
            return sample && *sample == expected;
        };
        return kind_of(number) == lab::Kind::market_data ? is(data_, message.data) : is(request_, message.request);
    }

    const lab::Options& options_;
    lab::MarketData data_ = lab::market_data();
    lab::QuoteRequest request_ = lab::quote_request();
    Leg<lab::MarketData> data_leg_;
    Leg<lab::QuoteRequest> request_leg_;
};
