/// What peers of bytes and of typed messages have in common.
#pragma once

#include <memory>

#include "inlet.hpp"
#include "session.hpp"

/// Lets messages come and go. `Feed` has the legs:
///
///     using Message = ...;
///     Feed(const Session&, const dds_listener_t*);
///     void meet();
///     void send(uint64_t number, uint64_t time);
///     void echo(const Message&);
///     void flush();
///     template <class Deliver> void take(Deliver&&);
template <class Feed>
class Peer {
public:
    using Message = typename Feed::Message;

    Peer(const lab::Options& options, const Own& own)
        : options_(options),
          session_(options, own),
          inlet_([this](const auto& deliver) { feed_->take(deliver); }),
          feed_(std::make_unique<Feed>(session_, listener())) {}

    void meet() { feed_->meet(); }

    void send(uint64_t number, uint64_t time) {
        feed_->send(number, time);
        // What is gathered goes when a burst is over, which is when answers are waited for, and at the end.
        if ((number & lab::OWN_NUMBER) + 1 == options_.total()) feed_->flush();
    }

    void echo(const Message& message) {
        feed_->echo(message);
        feed_->flush();
    }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        feed_->flush();
        options_.wait == lab::Wait::poll ? inlet_.poll(idle, handler) : inlet_.run(idle, handler);
    }

    std::optional<uint64_t> encoded_bytes() const { return std::nullopt; }

    lab::Settings settings() const { return session_.settings(); }

private:
    const dds_listener_t* listener() {
        if (options_.wait == lab::Wait::poll) return nullptr;
        listener_.reset(dds_create_listener(this));
        dds_lset_data_available(listener_.get(), [](dds_entity_t, void* peer) {
            static_cast<Peer*>(peer)->inlet_.notify();
        });
        return listener_.get();
    }

    const lab::Options& options_;
    std::unique_ptr<dds_listener_t, decltype(&dds_delete_listener)> listener_{nullptr, dds_delete_listener};
    Session session_;
    lab::Inlet<Message> inlet_;
    std::unique_ptr<Feed> feed_;
};
