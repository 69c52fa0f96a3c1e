/// What peers of either interface have in common.
#pragma once

#include <optional>

#include "answer.hpp"
#include "handover.hpp"
#include "session.hpp"

/// Lets messages come and go. A `Link` is the participant with its topics:
///
///     using Message = ...;                        // as in lab.hpp
///     explicit Link(const Session&);
///     void meet(uint32_t count);                  // waits for so many on the other side
///     void send(uint64_t number, uint64_t time);
///     void echo(const Message&);
///     void flush();                               // sends what waits for company
///     template <class Deliver> void listen(Deliver&);
///                                                 // has deliver(message) called for each until deafen(), which
///                                                 // waits for a call that is under way
///     void deafen();
///     void poll(std::chrono::milliseconds);       // drives a participant that has no threads
///     static constexpr bool LENDS = ...;          // whether it can
template <class Link>
class Peer {
public:
    using Message = typename Link::Message;

    Peer(const lab::Options& options, const Own& own) : session_(options, own), link_(session_) {}

    /// Waits until all of the other side are matched.
    void meet() {
        const lab::Options& options = session_.options;
        // Who sends waits until this hears, and may have ended before this learns of his reader.
        if (options.job == lab::Job::receive && !options.demand) return;
        link_.meet(options.is_passive() ? options.publishers : options.subscribers);
    }

    void send(uint64_t number, uint64_t time) {
        link_.send(number, time);
        if (session_.streams() && session_.ends_burst(number)) link_.flush();
    }

    void echo(const Message& message) { link_.echo(message); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        Handover<Message, Handler> handover(handler);
        auto deliver = [&handover](const Message& message) { handover.take(message); };
        link_.listen(deliver);
        if (session_.options.wait == lab::Wait::block) {
            handover.wait(idle);
        } else {
            handover.wait_by(idle, [this] { link_.poll(LOOK); });
        }
        link_.deafen();
    }

    std::optional<uint64_t> encoded_bytes() const { return std::nullopt; }

    lab::Settings settings() const {
        const bool is_polled = session_.options.wait == lab::Wait::poll;
        lab::Settings settings{{"RELIABILITY", "RELIABLE"},
                               {"HISTORY", session_.streams() ? "KEEP_ALL" : "KEEP_LAST"},
                               {"driving", is_polled ? "polled, busy_poll" : "threads"},
                               {"publications", "not suspended, flushed after bursts"}};
        if (Link::LENDS && session_.lends()) {
            settings["loan_count"] = std::to_string(session_.loans());
            settings["trusts_lenders"] = "true";
        }
        return settings;
    }

private:
    /// How long a polling process looks before it looks at the clock.
    static constexpr std::chrono::milliseconds LOOK{100};

    Session session_;
    Link link_;
};
