/// The domain, its configuration and its QoS.
#pragma once

#include <dds/dds.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "lab.hpp"

/// Options of this program.
struct Own {
    /// Whether the writer gathers messages in one datagram.
    bool is_batching = false;
};

/// An entity, or the end of the program.
inline dds_entity_t check(dds_entity_t result, const std::string& what) {
    if (result < 0) throw std::runtime_error(what + ": " + dds_strretcode(-result));
    return result;
}

using Qos = std::unique_ptr<dds_qos_t, decltype(&dds_delete_qos)>;

/// A participant in a domain of its own configuration.
class Session {
public:
    Session(const lab::Options& options, const Own& own) : options(options), own(own) {
        options.refuse_threads();
        options.refuse_answers_to_many();
        // Runs beside each other do not meet.
        const dds_domainid_t domain = options.domain();
        domain_ = check(dds_create_domain(domain, configuration().c_str()), "domain");
        participant = check(dds_create_participant(domain, nullptr, nullptr), "participant");
    }

    ~Session() { dds_delete(domain_); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const lab::Options& options;
    const Own& own;
    dds_entity_t participant;

    /// KEEP_ALL of a stream, so that nothing is dropped; else as many messages as there may be under way.
    Qos reader_qos() const { return qos(streams()); }

    /// KEEP_ALL where a write has to wait for room. An answer is written in the listener, on the thread that
    /// receives the acknowledgements which would make room: there a write must not wait, as it does with
    /// KEEP_ALL alone.
    Qos writer_qos() const { return qos(options.job == lab::Job::send); }

    /// Waits until an entity has so many on the other side.
    template <class Count>
    void meet(Count&& count) const {
        const auto expected = static_cast<dds_return_t>(options.is_passive() ? options.publishers : options.subscribers);
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        while (check(count(), "matched") < expected) {
            if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("not all have come");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    lab::Settings settings() const {
        return {{"CycloneDDS/Domain", configuration()},
                {"RELIABILITY", "RELIABLE"},
                {"HISTORY of the writer", history(options.job == lab::Job::send)},
                {"HISTORY of the reader", history(streams())},
                {"delivery", options.wait == lab::Wait::poll ? "dds_take in a loop" : "data_available listener"}};
    }

private:
    Qos qos(bool keeps_all) const {
        Qos qos(dds_create_qos(), dds_delete_qos);
        dds_qset_reliability(qos.get(), DDS_RELIABILITY_RELIABLE, DDS_SECS(lab::PATIENCE.count()));
        dds_qset_history(qos.get(), keeps_all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST, depth());
        return qos;
    }

    std::string history(bool keeps_all) const {
        return keeps_all ? "KEEP_ALL" : "KEEP_LAST " + std::to_string(depth());
    }

    bool streams() const { return options.job == lab::Job::send || options.job == lab::Job::receive; }

    /// Who does not answer may be far behind those that do.
    int32_t depth() const {
        if (options.responders == lab::Responders::one) return 200;
        return std::max(16, static_cast<int32_t>(options.subscribers));
    }

    std::string configuration() const {
        return "<General><Interfaces><NetworkInterface address=\"" + options.here +
               "\" multicast=\"true\"/></Interfaces>"
               "<MaxMessageSize>" + bytes(65'500, 28) + "</MaxMessageSize><FragmentSize>" + bytes(65'000, 156) +
               "</FragmentSize></General>"
               "<Discovery><ParticipantIndex>none</ParticipantIndex></Discovery>"
               "<Internal><SocketReceiveBufferSize max=\"10MB\"/><SocketSendBufferSize max=\"10MB\"/>" +
               std::string(own.is_batching ? "<WriteBatch>true</WriteBatch>" : "") + "</Internal>";
    }

    /// The most there is; or so much less than the MTU that nothing is cut on the way.
    std::string bytes(uint32_t most, uint32_t headers) const {
        return std::to_string(options.mtu ? *options.mtu - headers : most) + "B";
    }

    dds_entity_t domain_;
};
