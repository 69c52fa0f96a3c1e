/// What peers of bytes and of typed messages have in common.
#pragma once

#include <fastdds/dds/subscriber/DataReaderListener.hpp>

#include <memory>

#include "inlet.hpp"
#include "session.hpp"

/// Lets messages come and go. `Feed` has the legs:
///
///     using Message = ...;
///     Feed(const Session&, fast::DataReaderListener*);
///     void meet();
///     void send(uint64_t number, uint64_t time);
///     void echo(const Message&);
///     template <class Deliver> void take(Deliver&&);
template <class Feed>
class Peer : public fast::DataReaderListener {
public:
    using Message = typename Feed::Message;

    Peer(const lab::Options& options, Profile profile)
        : options_(options),
          session_(options, profile),
          inlet_([this](const auto& deliver) { feed_->take(deliver); }),
          feed_(std::make_unique<Feed>(session_, options.wait == lab::Wait::poll ? nullptr : this)) {}

    void meet() { feed_->meet(); }

    void send(uint64_t number, uint64_t time) { feed_->send(number, time); }

    void echo(const Message& message) { feed_->echo(message); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        options_.wait == lab::Wait::poll ? inlet_.poll(idle, handler) : inlet_.run(idle, handler);
    }

    std::optional<uint64_t> encoded_bytes() const { return std::nullopt; }

    lab::Settings settings() const { return session_.settings(); }

private:
    void on_data_available(fast::DataReader*) override { inlet_.notify(); }

    const lab::Options& options_;
    Session session_;
    lab::Inlet<Message> inlet_;
    std::unique_ptr<Feed> feed_;
};
