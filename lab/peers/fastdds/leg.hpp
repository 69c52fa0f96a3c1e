/// A topic there and the same back: what this side writes, and what it reads.
#pragma once

#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <string>

#include "session.hpp"
#include "type.hpp"

template <class Sample>
class Leg {
public:
    /// `listener` hears of samples that have come; without one they are to be asked for.
    Leg(const Session& session, const std::string& name, size_t max_len, fast::DataReaderListener* listener)
        : session_(session) {
        const fast::TypeSupport type(new Type<Sample>("lab::" + name, max_len, session.shares_data()));
        type.register_type(session.participant);
        const bool is_passive = session.options.is_passive();
        spoken_ = topic(type, name + (is_passive ? " back" : " there"));
        fast::Topic* heard = topic(type, name + (is_passive ? " there" : " back"));
        reader_ = check(session.subscriber->create_datareader(heard, session.reader_qos(), listener), "reader");
    }

    /// Waits for acknowledgements.
    ~Leg() {
        if (writer_) writer_->wait_for_acknowledgments({lab::PATIENCE.count(), 0});
        reader_->set_listener(nullptr);
    }
    Leg(const Leg&) = delete;
    Leg& operator=(const Leg&) = delete;

    void open_writer() {
        writer_ = check(session_.publisher->create_datawriter(spoken_, session_.writer_qos()), "writer");
    }

    /// Waits until all have found the writer, or the reader.
    void meet_readers() const {
        session_.meet([this] {
            fast::PublicationMatchedStatus status;
            writer_->get_publication_matched_status(status);
            return status.current_count;
        });
    }
    void meet_writers() const {
        session_.meet([this] {
            fast::SubscriptionMatchedStatus status;
            reader_->get_subscription_matched_status(status);
            return status.current_count;
        });
    }

    /// Waits for room. The library gives up too early if all that was under way is acknowledged at once.
    void write(Sample& sample) {
        using eprosima::fastrtps::types::ReturnCode_t;
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        for (;;) {
            const auto result = writer_->write(&sample, eprosima::fastrtps::rtps::c_InstanceHandle_Unknown);
            if (result == ReturnCode_t::RETCODE_OK) return;
            if (result != ReturnCode_t::RETCODE_TIMEOUT || std::chrono::steady_clock::now() > deadline) {
                throw std::runtime_error("write: return code " + std::to_string(result()));
            }
        }
    }

    /// Calls `deliver(sample)` with what has come, until it says stop.
    template <class Deliver>
    lab::Flow take(Deliver&& deliver) {
        fast::SampleInfo info;
        while (reader_->take_next_sample(&taken_, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
            if (info.valid_data && deliver(taken_) == lab::Flow::stop) return lab::Flow::stop;
        }
        return lab::Flow::go_on;
    }

private:
    fast::Topic* topic(const fast::TypeSupport& type, const std::string& name) const {
        return check(session_.participant->create_topic(name, type.get_type_name(), fast::TOPIC_QOS_DEFAULT), "topic");
    }

    const Session& session_;
    fast::Topic* spoken_;
    fast::DataReader* reader_;
    fast::DataWriter* writer_ = nullptr;
    Sample taken_;
};

/// Waits until the other side is there. A subscriber has a writer only when it hears all publishers:
/// who is answered to knows that it is heard.
template <class... Sample>
void meet(const lab::Options& options, Leg<Sample>&... legs) {
    if (options.is_passive()) {
        (legs.meet_writers(), ...);
        (legs.open_writer(), ...);
        (legs.meet_readers(), ...);
    } else {
        (legs.open_writer(), ...);
        (legs.meet_readers(), ...);
        (legs.meet_writers(), ...);
    }
}
