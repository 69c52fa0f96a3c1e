/// From what a reader hands samples to, on whatever thread that is called, to the handler of a job; the same as `../tickwire/src/inlet.rs`,
/// so that both peers cost the same beside what they measure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "job.hpp"
#include "options.hpp"

template <class Message, class Handler>
class Handover {
public:
    explicit Handover(Handler& handler) : handler_(handler) {}

    /// Hands over a message, unless the handler has had enough.
    void take(const Message& message) {
        const std::lock_guard handling(handling_);
        taken_.store(taken() + 1, std::memory_order_relaxed);
        if (is_over() || handler_.take(message) == lab::Flow::go_on) return;
        const std::lock_guard looking(looking_);
        is_over_.store(true, std::memory_order_release);
        over_.notify_all();
    }

    /// Sleeps until the handler has enough or messages stay away.
    void wait(lab::Idle idle) {
        std::unique_lock looking(looking_);
        auto patience = idle.first;
        while (!is_over()) {
            const uint64_t before = taken();
            const bool is_timeout = over_.wait_for(looking, patience) == std::cv_status::timeout;
            if (is_timeout && taken() == before) return;
            if (taken() > 0) patience = idle.between;
        }
    }

    /// The same, while `turn()` lets messages come.
    template <class Turn>
    void wait_by(lab::Idle idle, Turn&& turn) {
        using Clock = std::chrono::steady_clock;
        auto last = Clock::now();
        for (uint64_t seen = 0; !is_over();) {
            turn();
            if (const uint64_t now = taken(); now != seen) {
                seen = now;
                last = Clock::now();
            } else if (Clock::now() - last > (seen == 0 ? idle.first : idle.between)) {
                return;
            }
        }
    }

private:
    bool is_over() const { return is_over_.load(std::memory_order_acquire); }

    uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

    Handler& handler_;
    /// Held while the handler has a message.
    std::mutex handling_;
    /// Counted by who has a message.
    std::atomic<uint64_t> taken_{0};
    /// Set with a message; to wake who sleeps, while nobody looks whether to sleep.
    std::atomic<bool> is_over_{false};
    std::mutex looking_;
    std::condition_variable over_;
};
