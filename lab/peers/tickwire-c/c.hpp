/// A topic of bytes by the functions of tickwire.h.
#pragma once

#include <tickwire.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "message.hpp"
#include "session.hpp"

namespace c {

/// Throws what the library says unless all is well.
inline void check(tw_result result) {
    if (result != TW_OK) throw std::runtime_error(tw_last_error());
}

struct Delete {
    void operator()(void* object) const { tw_delete(object); }
};

template <class Object>
using Owned = std::unique_ptr<Object, Delete>;

inline int64_t nanoseconds(std::chrono::nanoseconds time) { return time.count(); }

/// Settings of several entities.
class Qos {
public:
    Qos() {
        tw_qos* made;
        check(tw_qos_create(&made));
        qos_.reset(made);
    }

    Qos& say(const std::string& entity, const Session::Settings& settings) {
        for (const auto& [key, value] : settings) {
            check(tw_qos_set(qos_.get(), (entity + '.' + key).c_str(), value.c_str()));
        }
        return *this;
    }

    const tw_qos* get() const { return qos_.get(); }

private:
    Owned<tw_qos> qos_;
};

class Link {
public:
    using Message = lab::Bytes;
    static constexpr bool LENDS = true;

    explicit Link(const Session& session) : payload_(session.options.len()), lends_(session.lends()) {
        Qos qos;
        qos.say("participant", session.participant()).say("reader", session.reader()).say("writer", session.writer());
        tw_participant* participant;
        check(tw_participant_create(session.options.domain(), qos.get(), &participant));
        participant_.reset(participant);
        tw_type* type;
        check(tw_type_bytes("lab::Bytes", "data", 0, TW_FINAL, &type));
        const Owned<tw_type> owned(type);
        check(tw_publisher_create(participant, nullptr, &publisher_));
        check(tw_writer_create(participant, topic(session, true, type), qos.get(), &writer_));
        check(tw_reader_create(participant, topic(session, false, type), qos.get(), &reader_));
    }

    void meet(uint32_t count) {
        check(tw_writer_wait_for_matched(writer_, count, nanoseconds(lab::PATIENCE)));
        check(tw_reader_wait_for_matched(reader_, count, nanoseconds(lab::PATIENCE)));
    }

    void send(uint64_t number, uint64_t time) {
        lab::fill(payload_.data(), payload_.size(), number, time);
        write({payload_.data(), payload_.size()});
    }

    void echo(const lab::Bytes& message) { write(message); }

    void flush() { check(tw_publisher_flush(publisher_)); }

    template <class Deliver>
    void listen(Deliver& deliver) {
        const auto each = [](const tw_sample* sample, void* context) noexcept {
            if (!sample->info.valid_data) return;
            (*static_cast<Deliver*>(context))({static_cast<const uint8_t*>(sample->data), sample->len});
        };
        check(tw_reader_take_each(reader_, each, &deliver, nullptr));
    }

    void deafen() { check(tw_reader_take_each(reader_, nullptr, nullptr, nullptr)); }

    void poll(std::chrono::milliseconds timeout) { check(tw_participant_poll(participant_.get(), nanoseconds(timeout))); }

private:
    tw_topic* topic(const Session& session, bool writes, const tw_type* type) const {
        tw_topic* made;
        check(tw_topic_create(participant_.get(), session.topic("array", writes).c_str(), type, &made));
        return made;
    }

    void write(lab::Bytes bytes) {
        if (!lends_) return check(tw_writer_write(writer_, bytes.data, bytes.len, nullptr));
        void* room;
        tw_loan* loan;
        check(tw_writer_loan(writer_, bytes.len, &room, &loan));
        std::memcpy(room, bytes.data, bytes.len);
        check(tw_loan_write(loan, bytes.len, nullptr));
    }

    std::vector<uint8_t> payload_;
    const bool lends_;
    /// All others go with it.
    Owned<tw_participant> participant_;
    tw_publisher* publisher_;
    tw_writer* writer_;
    tw_reader* reader_;
};

}  // namespace c
