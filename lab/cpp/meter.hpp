/// The clock that all processes of the machine share, and what a process costs between two moments.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace lab {

/// CLOCK_MONOTONIC in nanoseconds. Costs 25 to 50 ns.
inline uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// What a process used.
struct Cost {
    /// Processor time of all its threads, in the program and in the kernel.
    uint64_t cpu_user_ns = 0, cpu_system_ns = 0;
    /// How often a thread waited, and how often one was interrupted.
    uint64_t voluntary_switches = 0, involuntary_switches = 0;
    /// Resident memory and threads at the end.
    uint64_t resident_kb = 0, threads = 0;
};

/// Begins with the first measured message, and ends with the last.
class Meter {
public:
    /// Begins, unless it has.
    void begin() {
        if (!usage_) {
            begun_ = now();
            usage_ = usage();
        }
    }

    /// Ends; `at` is the time of the last message.
    void end(uint64_t at) {
        if (!usage_) return;
        ended_ = at;
        const rusage before = *usage_, after = usage();
        cost_.cpu_user_ns = ns(after.ru_utime) - ns(before.ru_utime);
        cost_.cpu_system_ns = ns(after.ru_stime) - ns(before.ru_stime);
        cost_.voluntary_switches = static_cast<uint64_t>(after.ru_nvcsw - before.ru_nvcsw);
        cost_.involuntary_switches = static_cast<uint64_t>(after.ru_nivcsw - before.ru_nivcsw);
        cost_.resident_kb = of_status("VmRSS:");
        cost_.threads = of_status("Threads:");
    }

    /// When it ended, 0 if it has not.
    uint64_t ended() const { return ended_; }

    /// Time that passed, and what it cost.
    std::pair<uint64_t, Cost> result() const { return {ended_ > begun_ ? ended_ - begun_ : 0, cost_}; }

private:
    static rusage usage() {
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return usage;
    }

    static uint64_t ns(const timeval& time) {
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
               static_cast<uint64_t>(time.tv_usec) * 1'000;
    }

    static uint64_t of_status(const std::string& name) {
        std::ifstream status("/proc/self/status");
        uint64_t number = 0;
        for (std::string line; std::getline(status, line);) {
            if (line.compare(0, name.size(), name) == 0) number = std::stoull(line.substr(name.size()));
        }
        return number;
    }

    uint64_t begun_ = 0, ended_ = 0;
    std::optional<rusage> usage_;
    Cost cost_;
};

}  // namespace lab
