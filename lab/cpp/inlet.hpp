/// For systems that keep what has come until somebody takes it, and call back when something has.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "job.hpp"
#include "options.hpp"

namespace lab {

/// Takes messages from the system and hands them to whoever runs.
///
/// The messages stay with the system while nobody runs: its threads are not held up meanwhile.
template <class Message>
class Inlet {
public:
    using Deliver = std::function<Flow(const Message&)>;

    /// `take(deliver)` takes what the system has and delivers each of it until that says stop. It is
    /// called on any thread, by one at a time, while no lock is held.
    explicit Inlet(std::function<void(const Deliver&)> take)
        : take_(std::move(take)), deliver_([this](const Message& message) { return deliver(message); }) {}

    /// For the system's threads: something has come.
    void notify() {
        if (notices_.fetch_add(1) > 0) return;  // Whoever takes will look again.
        uint32_t seen = 1;
        do {
            seen = notices_.load();
            const std::lock_guard lock(taking_);
            if (runs()) take_(deliver_);
        } while (!notices_.compare_exchange_strong(seen, 0));
    }

    /// Has the handler take what comes, until it says stop or nothing has come for so long.
    template <class Handler>
    void run(Idle idle, Handler& handler) {
        const uint64_t first = begin(handler);
        notify();
        std::unique_lock lock(mutex_);
        const auto begin = std::chrono::steady_clock::now();
        for (uint64_t seen = first; handle_; seen = delivered_) {
            changed_.wait_for(lock, idle.between, [this] { return !handle_; });
            const bool is_begun = delivered_ != first;
            const bool is_idle = is_begun ? delivered_ == seen
                                          : std::chrono::steady_clock::now() - begin >= idle.first;
            if (is_idle) handle_ = nullptr;
        }
        lock.unlock();
        wait_for_taker();
    }

    /// The same for a system that does not call back: asks again and again. The system's own threads
    /// may be bound to the same core, so they get it in between.
    template <class Handler>
    void poll(Idle idle, Handler& handler) {
        const uint64_t first = begin(handler);
        auto last = std::chrono::steady_clock::now();
        for (uint64_t seen = first; runs(); sched_yield()) {
            notify();
            const std::lock_guard lock(mutex_);
            const auto now = std::chrono::steady_clock::now();
            const auto patience = delivered_ == first ? idle.first : idle.between;
            if (std::exchange(seen, delivered_) != delivered_) {
                last = now;
            } else if (now - last >= patience) {
                handle_ = nullptr;
            }
        }
    }

private:
    /// Returns how many have been delivered so far.
    template <class Handler>
    uint64_t begin(Handler& handler) {
        const std::lock_guard lock(mutex_);
        handle_ = [&handler](const Message& message) { return handler.take(message); };
        return delivered_;
    }

    /// Whoever took the last message is done with the system.
    void wait_for_taker() { const std::lock_guard lock(taking_); }

    bool runs() {
        const std::lock_guard lock(mutex_);
        return handle_ != nullptr;
    }

    Flow deliver(const Message& message) {
        const std::lock_guard lock(mutex_);
        if (!handle_) return Flow::stop;
        ++delivered_;
        const Flow flow = handle_(message);
        if (flow == Flow::stop) {
            handle_ = nullptr;
            changed_.notify_all();
        }
        return flow;
    }

    const std::function<void(const Deliver&)> take_;
    const Deliver deliver_;
    /// What has come since nobody took.
    std::atomic<uint32_t> notices_{0};
    /// Held by whoever takes, and by who reads or changes what is below.
    std::mutex taking_, mutex_;
    std::condition_variable changed_;
    Deliver handle_;
    uint64_t delivered_ = 0;
};

}  // namespace lab
