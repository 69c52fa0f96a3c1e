/// What programs do, whatever system they send with.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "answer.hpp"
#include "meter.hpp"
#include "options.hpp"
#include "received.hpp"
#include "start.hpp"

namespace lab {

/// Whether a handler wants more messages.
enum class Flow { go_on, stop };

/// What a job has seen so far.
struct Findings {
    uint64_t sent = 0, received = 0, lost = 0, out_of_order = 0, wrong = 0;
    std::optional<std::string> error;
    Meter meter;
    std::vector<uint64_t> samples;
    /// How late messages were sent, against the clock.
    std::vector<uint64_t> late;
    /// Messages received since the publishers began, and how long that took.
    uint64_t taken = 0, taken_ns = 0;

    /// Touches the memory of all samples, so that none of it is new while time is taken.
    static void expect(std::vector<uint64_t>& samples, uint64_t count) {
        samples.resize(count);
        samples.clear();
    }

    /// Remembers the first error.
    void fail(const std::string& what) {
        if (!error) error = what;
    }

    /// A message was not what had been sent.
    void corrupt(uint64_t number) {
        ++wrong;
        fail("message " + std::to_string(number) + " is not what was sent");
    }

    /// Does what may fail; says stop if it did.
    template <class Action>
    Flow attempt(Action&& action) {
        try {
            action();
            return Flow::go_on;
        } catch (const std::exception& failure) {
            fail(failure.what());
            return Flow::stop;
        }
    }

    Answer answer(const Options& options, const std::string& version) const {
        Answer answer;
        answer.system = options.system;
        answer.version = version;
        answer.job = options.job_name();
        answer.index = options.index;
        answer.sent = sent;
        answer.received = received;
        answer.lost = lost;
        answer.out_of_order = out_of_order;
        answer.wrong = wrong;
        answer.error = error;
        answer.payload_bytes = options.len();
        std::tie(answer.elapsed_ns, answer.cost) = meter.result();
        const std::string name = answer.job + '.' + std::to_string(options.index) + ".ns";
        answer.samples = save(options, name, samples);
        const std::string late_name = "late." + std::to_string(options.index) + ".ns";
        if (const auto file = save(options, late_name, late)) answer.stages["sender late"] = *file;
        answer.taken = taken;
        answer.taken_ns = taken_ns;
        return answer;
    }
};

/// A message goes, its echoes come, the next one goes.
template <class Peer>
class Pinger {
public:
    Pinger(const Options& options, Peer& peer) : options_(options), peer_(peer) {
        Findings::expect(findings_.samples, options.count);
    }

    /// Sends, and measures until the last responder has answered.
    Findings run() {
        if (options_.total() > 0 && begin_round() == Flow::go_on) peer_.run(options_.idle(), *this);
        if (number_ < options_.total()) {
            findings_.lost = options_.total() - number_;
            findings_.fail("no echo of message " + std::to_string(number_));
        }
        return findings_;
    }

    Flow take(const typename Peer::Message& echo) {
        const uint64_t at = now();
        const bool is_last = ++echoes_ >= options_.echoes();
        // Its content not before the time of the last has been taken.
        const bool is_right = echo.number(number_) == number_ && (!is_last || echo.is_intact(number_));
        if (!is_right) findings_.corrupt(number_);
        if (!is_last) return Flow::go_on;
        if (number_ >= options_.warmup) {
            findings_.samples.push_back(at - sent_at_);
            ++findings_.received;
        }
        if (++number_ == options_.total()) {
            findings_.meter.end(at);
            return Flow::stop;
        }
        return begin_round();
    }

private:
    Flow begin_round() {
        if (number_ >= options_.warmup) {
            findings_.meter.begin();
            ++findings_.sent;
        }
        echoes_ = 0;
        sent_at_ = now();
        return findings_.attempt([this] { peer_.send(number_, sent_at_); });
    }

    const Options& options_;
    Peer& peer_;
    /// The message that is under way, and those of its echoes that have come.
    uint64_t number_ = 0, sent_at_ = 0, echoes_ = 0;
    Findings findings_;
};

/// Echoes what comes, if it is to; else only takes it.
template <class Peer>
class Ponger {
public:
    Ponger(const Options& options, Peer& peer) : options_(options), peer_(peer) {}

    Findings run() {
        if (options_.total() > 0) peer_.run(options_.idle(), *this);
        if (const uint64_t missing = options_.total() - taken_) {
            findings_.lost = missing;
            findings_.fail(std::to_string(missing) + " messages have not come");
        }
        return findings_;
    }

    Flow take(const typename Peer::Message& message) {
        const bool responds = options_.responds();
        if (responds && findings_.attempt([&] { peer_.echo(message); }) == Flow::stop) return Flow::stop;
        const uint64_t number = taken_;
        if (message.number(number) != number) findings_.corrupt(number);
        if (number >= options_.warmup) {
            findings_.meter.begin();
            ++findings_.received;
            findings_.sent += responds;
        }
        if (++taken_ == options_.total()) {
            findings_.meter.end(now());
            return Flow::stop;
        }
        return Flow::go_on;
    }

private:
    const Options& options_;
    Peer& peer_;
    uint64_t taken_ = 0;
    Findings findings_;
};

/// The highest byte of a number is the publisher's index.
constexpr unsigned PUBLISHER_SHIFT = 56;
constexpr uint64_t OWN_NUMBER = (uint64_t{1} << PUBLISHER_SHIFT) - 1;

/// Messages go as fast as they can, in bursts that are answered, or by the clock.
template <class Peer>
class Sender {
public:
    Sender(const Options& options, Peer& peer) : options_(options), peer_(peer) {}

    /// Sends all messages.
    Findings run() {
        const uint64_t publisher = uint64_t{options_.index} << PUBLISHER_SHIFT;
        // The schedule of a rate has no room for a pause after the warm-up.
        const uint64_t first = options_.rate ? 0 : options_.warmup;
        if (options_.rate) Findings::expect(findings_.late, options_.count);
        uint64_t begin = now();
        for (uint64_t number = 0; number < options_.total(); ++number) {
            if (number == first) {
                if (findings_.attempt([this] { tell_start(options_); }) == Flow::stop) break;
                begin = now();
            }
            const bool is_measured = number >= options_.warmup;
            uint64_t time = 0;
            if (options_.rate) {
                time = begin + due(number);
                const uint64_t at = wait_until(time);
                if (is_measured) findings_.late.push_back(at - time);
            }
            if (is_measured) findings_.meter.begin();
            const Flow flow = findings_.attempt([&] { peer_.send(publisher | number, time); });
            if (flow == Flow::stop) break;
            findings_.sent += is_measured;
            if (options_.demand && (number + 1) % *options_.demand == 0) {
                // What does not come is missing where it is received.
                peer_.run({ANSWER, ANSWER}, *this);
            }
        }
        findings_.meter.end(now());
        return findings_;
    }

    /// One answer is enough, whatever it is.
    Flow take(const typename Peer::Message&) { return Flow::stop; }

private:
    /// How long the answer to a burst may take.
    static constexpr std::chrono::milliseconds ANSWER{100};

    /// When message `number` is to be sent, after the first.
    uint64_t due(uint64_t number) const {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(number) * 1'000'000'000 / *options_.rate);
    }

    /// Leaves the processor to others until then; returns when it was so far.
    ///
    /// It yields, because threads of the system are bound to the same core: who keeps that for himself keeps
    /// them from sending what was sent before. Whoever takes the core then may keep it beyond that time, which
    /// makes the message late by no fault of the system: how late is a stage of its own, and has to be small
    /// beside what is measured.
    static uint64_t wait_until(uint64_t time) {
        for (;;) {
            const uint64_t at = now();
            if (at >= time) return at;
            sched_yield();
        }
    }

    const Options& options_;
    Peer& peer_;
    Findings findings_;
};

/// Receives all messages, and looks at each.
template <class Peer>
class Receiver {
public:
    Receiver(const Options& options, Peer& peer)
        : options_(options), peer_(peer), publishers_(options.publishers) {
        Findings::expect(warmed_, options.warmup * options.publishers);
        if (options.rate) Findings::expect(findings_.samples, options.count * options.publishers);
    }

    Findings run() {
        peer_.run(options_.idle(), *this);
        for (const Received& received : publishers_) {
            findings_.lost += received.lost(options_.total());
            findings_.out_of_order += received.out_of_order;
            findings_.wrong += received.repeated;
        }
        if (const auto start = agreed_start(options_); start && findings_.meter.ended() > *start) {
            const auto is_late = [start](uint64_t at) { return at >= *start; };
            const auto late = std::count_if(warmed_.begin(), warmed_.end(), is_late);
            findings_.taken = findings_.received + static_cast<uint64_t>(late);
            findings_.taken_ns = findings_.meter.ended() - *start;
        }
        if (findings_.lost > 0) {
            findings_.fail(std::to_string(findings_.lost) + " messages have not come");
        }
        return findings_;
    }

    Flow take(const typename Peer::Message& message) {
        const uint64_t number = message.number(publishers_[0].next());
        const uint64_t publisher = number >> PUBLISHER_SHIFT, own = number & OWN_NUMBER;
        if (publisher >= publishers_.size()) {
            findings_.corrupt(number);
            return Flow::go_on;
        }
        Received& received = publishers_[publisher];
        const bool is_late = own < received.next();
        received.take(own);
        if (own % CHECK_EVERY == 0 && !message.is_intact(number)) findings_.corrupt(number);
        if (own >= options_.warmup) {
            findings_.meter.begin();
            ++findings_.received;
            if (options_.rate) sample(message);
        } else {
            warmed_.push_back(now());
        }
        const bool is_burst_end = options_.demand && (own + 1) % *options_.demand == 0;
        if (is_burst_end && options_.responds() &&
            findings_.attempt([&] { peer_.echo(message); }) == Flow::stop) {
            return Flow::stop;
        }
        const bool is_last = own + 1 >= options_.total();
        if (!is_last && !is_late) return Flow::go_on;
        const bool is_over = !are_missing();
        if (is_last || is_over) findings_.meter.end(now());
        return is_over ? Flow::stop : Flow::go_on;
    }

private:
    /// Of these one is compared whole.
    static constexpr uint64_t CHECK_EVERY = 64;

    void sample(const typename Peer::Message& message) {
        if (const auto time = message.time()) {
            const uint64_t at = now();
            findings_.samples.push_back(at > *time ? at - *time : 0);
        }
    }

    bool are_missing() const {
        const uint64_t total = options_.total();
        return std::any_of(publishers_.begin(), publishers_.end(), [total](const Received& received) {
            return received.next() < total || received.lost(total) > 0;
        });
    }

    const Options& options_;
    Peer& peer_;
    std::vector<Received> publishers_;
    /// When the messages of the warm-up came.
    std::vector<uint64_t> warmed_;
    Findings findings_;
};

/// Does the job of the options with a peer that has met the others.
template <class Peer>
Findings find(const Options& options, Peer& peer) {
    switch (options.job) {
        case Job::ping: return Pinger<Peer>(options, peer).run();
        case Job::pong: return Ponger<Peer>(options, peer).run();
        case Job::send: return Sender<Peer>(options, peer).run();
        case Job::receive: return Receiver<Peer>(options, peer).run();
        case Job::codec:
        case Job::broker: break;
    }
    throw std::logic_error("nothing is sent");
}

}  // namespace lab
