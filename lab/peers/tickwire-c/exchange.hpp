/// Exchanges and queues, in the place of the extension of 2008: as local_lat and its like of bindings/c/examples have
/// them.
#pragma once

#include <tickwire/exchange.h>

#include <chrono>
#include <optional>
#include <vector>

#include "answer.hpp"
#include "c.hpp"
#include "job.hpp"
#include "message.hpp"
#include "session.hpp"

namespace exchange {

/// Subscribers have a queue `there` and an exchange `back` that all know, the publisher an exchange and a queue of its
/// own that are bound to them.
class Peer {
public:
    using Message = lab::Bytes;

    Peer(const lab::Options& options, const Own& own) : options_(options), payload_(options.len()) {
        options.refuse_poll();
        options.refuse_answers_to_many();
        c::Qos qos;
        qos.say("participant", Session(options, own).participant());
        tw_mq* mq;
        c::check(tw_mq_create(nullptr, options.domain(), qos.get(), &mq));
        mq_.reset(mq);
        const bool is_passive = options.is_passive();
        const int32_t scope = is_passive ? TW_MQ_GLOBAL : TW_MQ_LOCAL;
        c::check(tw_mq_create_exchange(mq, is_passive ? "back" : "sent", scope, &exchange_));
        c::check(tw_mq_create_queue(mq, is_passive ? "there" : "heard", scope, nullptr));
        if (is_passive) return;
        c::check(tw_mq_bind(mq, "sent", "there"));
        c::check(tw_mq_bind(mq, "back", "heard"));
    }

    /// Waits for all queues that this one sends to. Who only receives may have been left by the publisher before it
    /// looks.
    void meet() {
        if (options_.job == lab::Job::receive && !options_.demand) return;
        const uint32_t others = options_.is_passive() ? options_.publishers : options_.subscribers;
        c::check(tw_mq_wait_for_bound(mq_.get(), exchange_, others, PATIENCE));
    }

    void send(uint64_t number, uint64_t time) {
        lab::fill(payload_.data(), payload_.size(), number, time);
        send(payload_.data(), payload_.size());
    }

    /// The library copies what it sends.
    void echo(const lab::Bytes& message) { send(const_cast<uint8_t*>(message.data), message.len); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        int64_t patience = c::nanoseconds(idle.first);
        for (auto flow = lab::Flow::go_on; flow == lab::Flow::go_on; patience = c::nanoseconds(idle.between)) {
            void* data;
            size_t len;
            void (*free_data)(void*);
            const tw_result result = tw_mq_receive(mq_.get(), patience, &data, &len, &free_data, nullptr);
            if (result == TW_TIMEOUT) return;
            c::check(result);
            flow = handler.take(lab::Bytes{static_cast<const uint8_t*>(data), len});
            free_data(data);
        }
    }

    std::optional<uint64_t> encoded_bytes() const { return std::nullopt; }

    lab::Settings settings() const { return {{"transports", "udp,multicast"}}; }

private:
    static constexpr int64_t PATIENCE = std::chrono::nanoseconds(lab::PATIENCE).count();

    void send(void* data, size_t len) {
        c::check(tw_mq_send(mq_.get(), exchange_, data, len, nullptr, PATIENCE));
    }

    const lab::Options& options_;
    std::vector<uint8_t> payload_;
    c::Owned<tw_mq> mq_;
    uint32_t exchange_;
};

}  // namespace exchange
