/// What both interfaces are told of the participant, its writer and its reader: all that the peer in Rust,
/// `../tickwire`, says, so that nothing but the interface is different.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "options.hpp"

/// Options of this program.
struct Own {
    bool shares_memory = false;
};

class Session {
public:
    /// Settings as docs/qos.md has them, without the name of the entity.
    using Settings = std::vector<std::pair<const char*, std::string>>;

    Session(const lab::Options& options, const Own& own)
        : options(options), shares_memory_(own.shares_memory) {}

    Settings participant() const {
        Settings settings{{"name", "lab"},
                          {"interface", options.here},
                          {"transports", shares_memory_ ? "udp,multicast,shm" : "udp,multicast"},
                          {"trusts_lenders", "true"}};
        if (options.wait == lab::Wait::poll) {
            settings.emplace_back("driving", "polled");
            settings.emplace_back("busy_poll", "100ms");
        }
        return settings;
    }

    Settings writer() const {
        Settings settings;
        if (streams()) {
            settings = {{"history.kind", "keep_all"},
                        {"reliability.kind", "reliable"},
                        {"reliability.max_blocking_time", std::to_string(lab::PATIENCE.count()) + "s"}};
        } else if (is_behind()) {
            settings = {{"history.kind", "keep_last"}, {"history.depth", DEPTH}};
        }
        if (lends()) {
            settings.emplace_back("max_loan", std::to_string(options.len()) + "B");
            settings.emplace_back("loan_count", std::to_string(loans()));
        }
        return settings;
    }

    Settings reader() const {
        Settings settings{{"reliability.kind", "reliable"}};
        if (streams()) {
            settings.emplace_back("history.kind", "keep_all");
        } else {
            settings.emplace_back("history.kind", "keep_last");
            settings.emplace_back("history.depth", is_behind() ? DEPTH : "16");
        }
        return settings;
    }

    /// The name of the topic that this side writes, or reads.
    std::string topic(const std::string& name, bool writes) const {
        return name + (options.is_passive() == writes ? " back" : " there");
    }

    /// Whether bytes are written into loans: below that length these cost more than the copies that they save.
    bool lends() const {
        return shares_memory_ && options.payload == lab::Payload::bytes && options.len() >= 16 << 10;
    }

    /// Loans of a writer: 64, fewer if that were more than 64 MB, but not less than 8.
    size_t loans() const {
        const size_t count = (64 << 20) / options.len();
        return count < 8 ? 8 : count > 64 ? 64 : count;
    }

    bool streams() const { return options.job == lab::Job::send || options.job == lab::Job::receive; }

    /// Whether nothing follows message `number` for now.
    bool ends_burst(uint64_t number) const {
        const uint64_t next = (number & lab::OWN_NUMBER) + 1;
        return (options.demand && next % *options.demand == 0) || next == options.total();
    }

    const lab::Options& options;

private:
    /// Whether a subscriber that does not answer may be behind one that does.
    bool is_behind() const { return options.responders == lab::Responders::one; }

    /// By so many samples.
    static constexpr const char* DEPTH = "200";

    const bool shares_memory_;
};
