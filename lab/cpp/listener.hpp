/// For systems that call back on threads of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "job.hpp"
#include "options.hpp"

namespace lab {

/// Hands what the system's threads deliver to whoever runs.
template <class Message>
class Listener {
public:
    /// For the system's threads, one at a time. Waits while nobody runs.
    void deliver(const Message& message) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return take_ || is_closed_; });
        if (is_closed_) return;
        ++delivered_;
        if (take_(message) == Flow::stop) {
            take_ = nullptr;
            changed_.notify_all();
        }
    }

    /// Has the handler take what is delivered, until it says stop or nothing has come for so long.
    template <class Handler>
    void run(Idle idle, Handler& handler) {
        std::unique_lock lock(mutex_);
        take_ = [&handler](const Message& message) { return handler.take(message); };
        changed_.notify_all();
        const auto begin = std::chrono::steady_clock::now();
        const uint64_t first = delivered_;
        for (uint64_t seen = first; take_; seen = delivered_) {
            changed_.wait_for(lock, idle.between, [this] { return !take_; });
            const bool is_begun = delivered_ != first;
            const bool is_idle = is_begun ? delivered_ == seen
                                          : std::chrono::steady_clock::now() - begin >= idle.first;
            if (is_idle) take_ = nullptr;
        }
    }

    /// Drops what is delivered from now on.
    void close() {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<Flow(const Message&)> take_;
    uint64_t delivered_ = 0;
    bool is_closed_ = false;
};

}  // namespace lab
