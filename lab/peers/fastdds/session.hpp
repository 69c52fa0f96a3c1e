/// The participant and its QoS.
#pragma once

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "lab.hpp"

namespace fast = eprosima::fastdds::dds;

/// How the library is configured.
enum class Profile {
    /// UDPv4 alone.
    udp,
    /// The shared memory transport alone.
    shm,
    /// The shared memory transport, and readers that look into the writer's history.
    data_sharing,
    /// Nothing is set but what an application has to say.
    out_of_the_box,
};

template <class Entity>
Entity* check(Entity* entity, const std::string& what) {
    if (!entity) throw std::runtime_error(what + " cannot be made");
    return entity;
}

class Session {
public:
    Session(const lab::Options& options, Profile profile) : options(options), profile(profile) {
        options.refuse_threads();
        options.refuse_answers_to_many();
        // Runs beside each other do not meet.
        const uint32_t domain = options.domain();
        auto* factory = fast::DomainParticipantFactory::get_instance();
        participant = check(factory->create_participant(domain, participant_qos()), "participant");
        publisher = check(participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT), "publisher");
        subscriber = check(participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT), "subscriber");
    }

    ~Session() {
        participant->delete_contained_entities();
        fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const lab::Options& options;
    const Profile profile;
    fast::DomainParticipant* participant;
    fast::Publisher* publisher;
    fast::Subscriber* subscriber;

    /// Whether a reader looks into the history of the writer. Types have to have a bound for that.
    bool shares_data() const { return profile == Profile::data_sharing; }

    fast::DataWriterQos writer_qos() const {
        fast::DataWriterQos qos;
        set_common(qos);
        qos.reliability().max_blocking_time = {lab::PATIENCE.count(), 0};
        if (profile != Profile::out_of_the_box) {
            if (streams()) qos.reliable_writer_qos().times.heartbeatPeriod = {0, 1'000'000};
            // A history that keeps what is acknowledged is always full, and asks for an answer to each sample.
            qos.durability().kind = fast::VOLATILE_DURABILITY_QOS;
            qos.resource_limits().extra_samples = EXTRA_SAMPLES;
        }
        return qos;
    }

    fast::DataReaderQos reader_qos() const {
        fast::DataReaderQos qos;
        set_common(qos);
        return qos;
    }

    /// Waits until `count()` of the other side are matched.
    template <class Count>
    void meet(Count&& count) const {
        const uint32_t expected = options.is_passive() ? options.publishers : options.subscribers;
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        while (static_cast<uint32_t>(count()) < expected) {
            if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("not all have come");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    lab::Settings settings() const {
        lab::Settings settings{{"RELIABILITY", "RELIABLE"},
                               {"HISTORY", streams() ? "KEEP_ALL" : "KEEP_LAST " + std::to_string(depth())},
                               {"delivery", options.wait == lab::Wait::poll ? "take in a loop" : "on_data_available"}};
        if (profile == Profile::out_of_the_box) return settings;
        settings["heartbeatPeriod"] = streams() ? "1 ms" : "3 s";
        settings["DURABILITY"] = "VOLATILE";
        settings["RESOURCE_LIMITS"] = "max_samples " + std::to_string(max_samples()) + ", max_instances 1, extra_samples " +
                                      std::to_string(EXTRA_SAMPLES);
        settings["DATA_SHARING"] = shares_data() ? "auto" : "off";
        settings["use_builtin_transports"] = "false";
        if (profile == Profile::udp) {
            if (options.mtu) settings["UDPv4 maxMessageSize"] = std::to_string(*options.mtu - 28);
            settings["UDPv4 sendBufferSize, receiveBufferSize"] = std::to_string(BUFFER_LEN);
        } else {
            settings["SHM segment_size"] = std::to_string(SEGMENT_LEN);
            settings["SHM port_queue_capacity"] = std::to_string(PORT_CAPACITY);
        }
        return settings;
    }

private:
    /// Sizes in bytes; the capacity in messages is more than may be under way, or they are dropped.
    static constexpr uint32_t BUFFER_LEN = 4 << 20, SEGMENT_LEN = 16 << 20, PORT_CAPACITY = 4096;
    static constexpr int32_t EXTRA_SAMPLES = 64;

    bool streams() const { return options.job == lab::Job::send || options.job == lab::Job::receive; }

    /// As many as a socket's buffer has room for.
    int32_t max_samples() const {
        const size_t sample_len = options.len() + 256;
        return static_cast<int32_t>(std::clamp<size_t>(BUFFER_LEN / sample_len, depth(), 1000));
    }

    /// Who does not answer may be far behind those that do.
    int32_t depth() const {
        if (options.responders == lab::Responders::one) return 1000;
        return std::max(16, static_cast<int32_t>(options.subscribers));
    }

    /// KEEP_ALL where a write has to wait for room, else as many messages as there may be under way.
    template <class EndpointQos>
    void set_common(EndpointQos& qos) const {
        qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
        qos.history().kind = streams() ? fast::KEEP_ALL_HISTORY_QOS : fast::KEEP_LAST_HISTORY_QOS;
        if (!streams()) qos.history().depth = depth();
        if (profile == Profile::out_of_the_box) return;
        auto& limits = qos.resource_limits();
        limits.max_samples = limits.max_samples_per_instance = max_samples();
        limits.allocated_samples = std::min(limits.allocated_samples, limits.max_samples);
        limits.max_instances = 1;
        shares_data() ? qos.data_sharing().automatic() : qos.data_sharing().off();
    }

    fast::DomainParticipantQos participant_qos() const {
        fast::DomainParticipantQos qos;
        if (profile == Profile::out_of_the_box) return qos;
        qos.transport().use_builtin_transports = false;
        if (profile == Profile::udp) {
            auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
            udp->sendBufferSize = udp->receiveBufferSize = BUFFER_LEN;
            // A datagram that is cut on the way is lost with any of its pieces.
            if (options.mtu) udp->maxMessageSize = *options.mtu - 28;
            udp->interfaceWhiteList.push_back(options.here);
            qos.transport().user_transports.push_back(udp);
        } else {
            auto shm = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
            shm->segment_size(SEGMENT_LEN);
            shm->port_queue_capacity(PORT_CAPACITY);
            qos.transport().user_transports.push_back(shm);
        }
        return qos;
    }
};
