/// When publishers begin, once they are warm.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "meter.hpp"
#include "options.hpp"

namespace lab {

inline std::string start_file(const Options& options, uint32_t index) {
    return options.dir + "/start." + std::to_string(index);
}

/// When the publishers of this run begin, if all have told: the latest of their times, CLOCK_MONOTONIC in
/// nanoseconds.
inline std::optional<uint64_t> agreed_start(const Options& options) {
    uint64_t latest = 0;
    for (uint32_t index = 0; index < options.publishers; ++index) {
        std::ifstream file(start_file(options, index));
        uint64_t time = 0;
        if (!(file >> time)) return std::nullopt;
        latest = std::max(latest, time);
    }
    return latest;
}

/// Tells the run when this publisher begins, which is now; several of them wait until all are warm, and begin
/// together.
inline void tell_start(const Options& options) {
    // The start is so far ahead of who comes last that all others see it before.
    constexpr uint64_t LEAD = 20'000'000, LOOK = 1'000'000;
    const bool is_alone = options.publishers == 1;
    const uint64_t own = is_alone ? now() : now() + LEAD;
    const std::string name = start_file(options, options.index), fresh = name + ".new";
    std::ofstream file(fresh);
    file << own;
    file.close();
    if (!file || std::rename(fresh.c_str(), name.c_str()) != 0) throw std::runtime_error("the start cannot be told");
    const uint64_t deadline = own + std::chrono::nanoseconds(PATIENCE).count();
    while (!is_alone) {
        const auto start = agreed_start(options);
        const uint64_t time = now();
        if (!start && time > deadline) throw std::runtime_error("not all publishers came to the start");
        if (start && *start <= time) return;
        std::this_thread::sleep_for(std::chrono::nanoseconds(start ? *start - time : LOOK));
    }
}

}  // namespace lab
