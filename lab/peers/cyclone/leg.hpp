/// A topic there and the same back: what this side writes, and what it reads.
#pragma once

#include <string>

#include "session.hpp"

template <class Sample>
class Leg {
public:
    /// `listener` hears of samples that have come; without one they are to be asked for.
    Leg(const Session& session, const dds_topic_descriptor_t& type, const std::string& name,
        const dds_listener_t* listener)
        : session_(session) {
        const bool is_passive = session.options.is_passive();
        spoken_ = topic(type, name + (is_passive ? "_back" : "_there"));
        const dds_entity_t heard = topic(type, name + (is_passive ? "_there" : "_back"));
        reader_ = check(dds_create_reader(session.participant, heard, session.reader_qos().get(), listener), "reader");
    }

    /// Waits for acknowledgements.
    ~Leg() { dds_wait_for_acks(writer_, DDS_SECS(lab::PATIENCE.count())); }
    Leg(const Leg&) = delete;
    Leg& operator=(const Leg&) = delete;

    void open_writer() {
        writer_ = check(dds_create_writer(session_.participant, spoken_, session_.writer_qos().get(), nullptr), "writer");
    }

    /// Waits until all have found the writer, or the reader.
    void meet_readers() const {
        session_.meet([this] { return dds_get_matched_subscriptions(writer_, nullptr, 0); });
    }
    void meet_writers() const {
        session_.meet([this] { return dds_get_matched_publications(reader_, nullptr, 0); });
    }

    void write(const Sample& sample) { check(dds_write(writer_, &sample), "write"); }

    void flush() { dds_write_flush(writer_); }

    /// Calls `deliver(sample)` with what has come, until it says stop.
    template <class Deliver>
    lab::Flow take(Deliver&& deliver) {
        lab::Flow flow = lab::Flow::go_on;
        while (flow == lab::Flow::go_on) {
            void* samples[MAX_TAKEN] = {};
            dds_sample_info_t infos[MAX_TAKEN];
            const int32_t taken = check(dds_take(reader_, samples, infos, MAX_TAKEN, MAX_TAKEN), "take");
            for (int32_t each = 0; each < taken && flow == lab::Flow::go_on; ++each) {
                if (infos[each].valid_data) flow = deliver(*static_cast<const Sample*>(samples[each]));
            }
            if (taken > 0) check(dds_return_loan(reader_, samples, taken), "return");
            if (taken < MAX_TAKEN) break;
        }
        return flow;
    }

private:
    static constexpr int32_t MAX_TAKEN = 64;

    dds_entity_t topic(const dds_topic_descriptor_t& type, const std::string& name) const {
        return check(dds_create_topic(session_.participant, &type, name.c_str(), nullptr, nullptr), "topic");
    }

    const Session& session_;
    dds_entity_t spoken_, reader_, writer_ = 0;
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
