/* Publishers and writers. */
#ifndef TICKWIRE_DDS_PUB_PUB_HPP
#define TICKWIRE_DDS_PUB_PUB_HPP

#include <map>

#include <dds/core/listener.hpp>
#include <dds/topic/topic.hpp>
#include <tickwire/loan.hpp>

namespace tickwire {
namespace detail {

class PublisherState : public EntityState {
public:
    PublisherState(void *handle, dds::domain::DomainParticipant participant, dds::pub::qos::PublisherQos qos)
        : EntityState(handle, participant.state()), participant(std::move(participant)), qos(std::move(qos))
    {
    }
    ~PublisherState() override { close(); }

    const dds::domain::DomainParticipant participant;
    Guarded<dds::pub::qos::PublisherQos> qos;
    Guarded<dds::pub::qos::DataWriterQos> default_writer_qos;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace pub {

/* What several writers have in common: PARTITION, PRESENTATION, GROUP_DATA. */
class Publisher : public core::EntityOf<tickwire::detail::PublisherState> {
public:
    using EntityOf::EntityOf;
    explicit Publisher(const domain::DomainParticipant &participant)
        : Publisher(participant, participant.default_publisher_qos())
    {
    }
    Publisher(const domain::DomainParticipant &participant, const qos::PublisherQos &qos)
        : EntityOf(make(participant, qos))
    {
    }

    const domain::DomainParticipant &participant() const { return get().participant; }
    qos::PublisherQos qos() const { return get().qos.get(); }
    void qos(const qos::PublisherQos &qos)
    {
        const tickwire::detail::QosHandle with = qos.make();
        this->get().qos.set(qos, [&] {
            tickwire::detail::check(tw_set_qos(this->get().handle(), static_cast<tw_qos *>(with->handle())));
        });
    }
    Publisher &operator<<(const qos::PublisherQos &qos)
    {
        this->qos(qos);
        return *this;
    }
    const Publisher &operator>>(qos::PublisherQos &qos) const
    {
        qos = this->qos();
        return *this;
    }
    qos::DataWriterQos default_datawriter_qos() const { return get().default_writer_qos.get(); }
    Publisher &default_datawriter_qos(const qos::DataWriterQos &qos)
    {
        get().default_writer_qos.set(qos);
        return *this;
    }
    /* Tickwire's own: sends what waits for company. */
    void flush() { tickwire::detail::check(tw_publisher_flush(raw())); }
    tw_publisher *raw() const { return static_cast<tw_publisher *>(get().handle()); }

private:
    static std::shared_ptr<tickwire::detail::PublisherState> make(const domain::DomainParticipant &participant,
                                                                  const qos::PublisherQos &qos)
    {
        tw_publisher *made;
        const tickwire::detail::QosHandle with = qos.make();
        auto *of = static_cast<tw_participant *>(participant.handle());
        tickwire::detail::check(tw_publisher_create(of, static_cast<tw_qos *>(with->handle()), &made));
        return std::make_shared<tickwire::detail::PublisherState>(made, participant, qos);
    }
};

/* Samples that are written while it lives share datagrams. To be ended by the thread that began it. */
class SuspendedPublication {
public:
    explicit SuspendedPublication(const Publisher &publisher) : publisher_(publisher)
    {
        tickwire::detail::check(tw_publisher_suspend(publisher.raw()));
    }
    SuspendedPublication(const SuspendedPublication &) = delete;
    SuspendedPublication &operator=(const SuspendedPublication &) = delete;
    ~SuspendedPublication()
    {
        if (!ended_)
            tw_publisher_resume(publisher_.raw());
    }
    void resume()
    {
        ended_ = true;
        tickwire::detail::check(tw_publisher_resume(publisher_.raw()));
    }

private:
    Publisher publisher_;
    bool ended_ = false;
};

/* Readers with coherent access see what is written while it lives together, or not at all. */
class CoherentSet {
public:
    explicit CoherentSet(const Publisher &publisher) : publisher_(publisher)
    {
        tickwire::detail::check(tw_publisher_begin_coherent(publisher.raw()));
    }
    CoherentSet(const CoherentSet &) = delete;
    CoherentSet &operator=(const CoherentSet &) = delete;
    ~CoherentSet()
    {
        if (!ended_)
            tw_publisher_end_coherent(publisher_.raw());
    }
    void end()
    {
        ended_ = true;
        tickwire::detail::check(tw_publisher_end_coherent(publisher_.raw()));
    }

private:
    Publisher publisher_;
    bool ended_ = false;
};

template <class T>
class DataWriter;

/* What a writer tells, on a thread that delivers data. No exception may leave it. */
template <class T>
class DataWriterListener {
public:
    virtual ~DataWriterListener() = default;
    virtual void on_offered_deadline_missed(DataWriter<T> &writer,
                                            const core::status::OfferedDeadlineMissedStatus &status) = 0;
    virtual void on_offered_incompatible_qos(DataWriter<T> &writer,
                                             const core::status::OfferedIncompatibleQosStatus &status) = 0;
    virtual void on_liveliness_lost(DataWriter<T> &writer, const core::status::LivelinessLostStatus &status) = 0;
    virtual void on_publication_matched(DataWriter<T> &writer,
                                        const core::status::PublicationMatchedStatus &status) = 0;
};

template <class T>
class NoOpDataWriterListener : public virtual DataWriterListener<T> {
public:
    void on_offered_deadline_missed(DataWriter<T> &, const core::status::OfferedDeadlineMissedStatus &) override {}
    void on_offered_incompatible_qos(DataWriter<T> &, const core::status::OfferedIncompatibleQosStatus &) override {}
    void on_liveliness_lost(DataWriter<T> &, const core::status::LivelinessLostStatus &) override {}
    void on_publication_matched(DataWriter<T> &, const core::status::PublicationMatchedStatus &) override {}
};

} // namespace pub
} // namespace dds

namespace tickwire {
namespace detail {

template <class T>
class WriterState : public EntityState {
public:
    WriterState(void *handle, dds::pub::Publisher publisher, dds::topic::Topic<T> topic,
                dds::pub::qos::DataWriterQos qos, tw_cdr_version version)
        : EntityState(handle, publisher.state()), publisher(std::move(publisher)), topic(std::move(topic)),
          qos(std::move(qos)), version(version)
    {
    }
    ~WriterState() override { this->close(); }

    const dds::pub::Publisher publisher;
    const dds::topic::Topic<T> topic;
    Guarded<dds::pub::qos::DataWriterQos> qos;
    const tw_cdr_version version;
    std::atomic<dds::pub::DataWriterListener<T> *> listener{nullptr};
    std::weak_ptr<WriterState> uncounted;

    /* Payloads of the keys of instances that were registered, so that their names are enough later. */
    std::mutex lock;
    std::map<dds::core::InstanceHandle, std::vector<std::uint8_t>> keys;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace pub {

/* A writer: reliable, and the last sample of each instance is kept, unless its QoS says otherwise. */
template <class T>
class DataWriter : public core::NamedEntityOf<tickwire::detail::WriterState<T>> {
    using State = tickwire::detail::WriterState<T>;
    using Support = tickwire::detail::TypeSupport<T>;

public:
    using DataType = T;
    using core::NamedEntityOf<State>::NamedEntityOf;

    DataWriter(const Publisher &publisher, const topic::Topic<T> &topic)
        : DataWriter(publisher, topic, publisher.default_datawriter_qos())
    {
    }
    DataWriter(const Publisher &publisher, const topic::Topic<T> &topic, const qos::DataWriterQos &qos,
               DataWriterListener<T> *listener = nullptr,
               const core::status::StatusMask &mask = core::status::StatusMask::all())
        : core::NamedEntityOf<State>(make(publisher, topic, qos))
    {
        if (listener != nullptr)
            this->listener(listener, mask);
    }

    /* Everything up to the system call that sends the sample runs on the calling thread. Throws TimeoutError if a reliable
     * keep_all writer found no room in time, InvalidDataError if the value has no encoding. */
    void write(const T &sample)
    {
        State &state = this->get();
        const auto encoded = Support::encode(sample, state.version);
        tickwire::detail::check(tw_writer_write(raw(state), encoded.data, encoded.size, nullptr));
    }
    /* The timestamp is the time of the write if it is invalid. */
    void write(const T &sample, const core::Time &timestamp)
    {
        State &state = this->get();
        const auto encoded = Support::encode(sample, state.version);
        const std::int64_t when = timestamp.count();
        const bool now = timestamp == core::Time::invalid();
        tickwire::detail::check(tw_writer_write(raw(state), encoded.data, encoded.size, now ? nullptr : &when));
    }
    /* The instance is that of the sample's key, whatever the handle. */
    void write(const T &sample, const core::InstanceHandle &) { write(sample); }
    void write(const T &sample, const core::InstanceHandle &, const core::Time &timestamp) { write(sample, timestamp); }
    template <class Iterator>
    auto write(Iterator begin, Iterator end) -> decltype(static_cast<const T &>(*begin), void())
    {
        for (; begin != end; ++begin)
            write(*begin);
    }
    DataWriter &operator<<(const T &sample)
    {
        write(sample);
        return *this;
    }
    DataWriter &operator<<(const std::pair<T, core::Time> &sample)
    {
        write(sample.first, sample.second);
        return *this;
    }

    /* Tickwire's own: so many bytes to write to, for types that are one sequence of octets: tickwire::Bytes,
     * tickwire::BytesInPlace, and structs that have nothing else, of which they are the octets. Readers on this machine have
     * them in place if QoS says so: `setting("max_loan", "64KiB")` of the writer, `setting("trusts_lenders", "true")` of
     * their participant. Throws PreconditionNotMetError for other types. */
    tickwire::Loan loan_sample(std::size_t size) { return tickwire::Loan(raw(this->get()), size); }

    /* Names the instance of a sample, so that the handle is enough to end it. */
    core::InstanceHandle register_instance(const T &sample)
    {
        State &state = this->get();
        const auto key = Support::encode_key(sample, state.version);
        tw_instance instance;
        tickwire::detail::check(tw_writer_register(raw(state), key.data, key.size, TW_KEY, &instance));
        const core::InstanceHandle handle(instance);
        const auto *bytes = static_cast<const std::uint8_t *>(key.data);
        const std::lock_guard<std::mutex> guard(state.lock);
        state.keys.emplace(handle, std::vector<std::uint8_t>(bytes, bytes + key.size));
        return handle;
    }
    /* The handle of an instance that was registered, else nil. */
    core::InstanceHandle lookup_instance(const T &sample) const
    {
        State &state = this->get();
        const auto key = Support::encode_key(sample, state.version);
        const auto *bytes = static_cast<const std::uint8_t *>(key.data);
        const std::lock_guard<std::mutex> guard(state.lock);
        for (const auto &known : state.keys)
            if (known.second.size() == key.size && std::memcmp(known.second.data(), bytes, key.size) == 0)
                return known.first;
        return core::InstanceHandle::nil();
    }
    /* The key of an instance that was registered; other members stay as they are. */
    T &key_value(T &sample, const core::InstanceHandle &instance) const
    {
        const std::vector<std::uint8_t> key = key_of(this->get(), instance);
        if (!Support::decode_key(sample, key.data(), key.size()))
            throw core::InvalidDataError("the key cannot be read");
        return sample;
    }
    /* Says that this writer has nothing more to say about an instance, of a sample or that was registered. */
    void unregister_instance(const T &sample, const core::Time &timestamp = core::Time::invalid())
    {
        end(tw_writer_unregister, sample, timestamp);
    }
    void unregister_instance(const core::InstanceHandle &instance, const core::Time &timestamp = core::Time::invalid())
    {
        end(tw_writer_unregister, instance, timestamp);
        State &state = this->get();
        const std::lock_guard<std::mutex> guard(state.lock);
        state.keys.erase(instance);
    }
    /* Ends an instance, of a sample or that was registered. */
    void dispose_instance(const T &sample, const core::Time &timestamp = core::Time::invalid())
    {
        end(tw_writer_dispose, sample, timestamp);
    }
    void dispose_instance(const core::InstanceHandle &instance, const core::Time &timestamp = core::Time::invalid())
    {
        end(tw_writer_dispose, instance, timestamp);
    }

    void wait_for_acknowledgments(const core::Duration &timeout)
    {
        tickwire::detail::check(tw_writer_wait_for_acknowledgments(raw(this->get()), timeout.count()));
    }
    /* Tickwire's own: waits until at least `count` readers match, which get all that is written from here on. */
    void wait_for_matched(std::uint32_t count, const core::Duration &timeout)
    {
        tickwire::detail::check(tw_writer_wait_for_matched(raw(this->get()), count, timeout.count()));
    }
    void assert_liveliness() { tickwire::detail::check(tw_assert_liveliness(this->get().handle())); }

    /* Tickwire's own: what tickwire.h says of tw_writer_counters. */
    tw_writer_counters counters() const
    {
        return tickwire::detail::counters(tw_writer_get_counters, this->get().handle());
    }

    const topic::Topic<T> &topic() const { return this->get().topic; }
    const Publisher &publisher() const { return this->get().publisher; }
    qos::DataWriterQos qos() const { return this->get().qos.get(); }
    void qos(const qos::DataWriterQos &qos)
    {
        const tickwire::detail::QosHandle with = qos.make();
        this->get().qos.set(qos, [&] {
            tickwire::detail::check(tw_set_qos(this->get().handle(), static_cast<tw_qos *>(with->handle())));
        });
    }
    DataWriter &operator<<(const qos::DataWriterQos &qos)
    {
        this->qos(qos);
        return *this;
    }
    const DataWriter &operator>>(qos::DataWriterQos &qos) const
    {
        qos = this->qos();
        return *this;
    }

    core::status::PublicationMatchedStatus publication_matched_status() const
    {
        return ask<core::status::PublicationMatchedStatus>(tw_writer_publication_matched);
    }
    core::status::OfferedIncompatibleQosStatus offered_incompatible_qos_status() const
    {
        return ask<core::status::OfferedIncompatibleQosStatus>(tw_writer_offered_incompatible_qos);
    }
    core::status::OfferedDeadlineMissedStatus offered_deadline_missed_status() const
    {
        return ask<core::status::OfferedDeadlineMissedStatus>(tw_writer_offered_deadline_missed);
    }
    core::status::LivelinessLostStatus liveliness_lost_status() const
    {
        return ask<core::status::LivelinessLostStatus>(tw_writer_liveliness_lost);
    }

    /* Has a listener told of what happens to these statuses, in place of the one before. It is the caller's, and must
     * live until it is taken away by nullptr, the writer is closed, or the last reference ends. Each of these waits until a
     * call of it on another thread has returned, so hold no lock that it takes; in any listener none of them waits. */
    void listener(DataWriterListener<T> *listener, const core::status::StatusMask &mask);
    DataWriterListener<T> *listener() const { return this->get().listener; }

private:
    static tw_writer *raw(State &state) { return static_cast<tw_writer *>(state.handle()); }

    static std::shared_ptr<State> make(const Publisher &publisher, const topic::Topic<T> &topic,
                                       const qos::DataWriterQos &qos)
    {
        const std::string words = qos.setting_for("representation", topic.name());
        tw_cdr_version version = Support::version;
        const std::size_t first = words.find("xcdr");
        if (first != std::string::npos)
            version = words[first + 4] == '1' ? TW_CDR_XCDR1 : TW_CDR_XCDR2;
        tw_writer *made;
        const tickwire::detail::QosHandle with = tickwire::detail::make_with_topic(qos, topic.get());
        tickwire::detail::check(tw_writer_create(publisher.handle(), static_cast<const tw_topic *>(topic.handle()),
                                                 static_cast<tw_qos *>(with->handle()), &made));
        return tickwire::detail::counted(std::make_shared<State>(made, publisher, topic, qos, version));
    }

    template <class Status, class Raw>
    Status ask(tw_result (*function)(tw_writer *, Raw *)) const
    {
        return tickwire::detail::ask<Status>(function, this->get().handle());
    }

    using End = tw_result(tw_writer *, const void *, std::size_t, std::int32_t, const tw_instance *,
                          const std::int64_t *);
    void end(End *function, const T &sample, const core::Time &timestamp)
    {
        State &state = this->get();
        const auto key = Support::encode_key(sample, state.version);
        const std::int64_t when = timestamp.count();
        const bool now = timestamp == core::Time::invalid();
        tickwire::detail::check(function(raw(state), key.data, key.size, TW_KEY, nullptr, now ? nullptr : &when));
    }
    void end(End *function, const core::InstanceHandle &instance, const core::Time &timestamp)
    {
        State &state = this->get();
        const std::vector<std::uint8_t> key = key_of(state, instance);
        const std::int64_t when = timestamp.count();
        const bool now = timestamp == core::Time::invalid();
        tickwire::detail::check(function(raw(state), key.data(), key.size(), TW_KEY, nullptr, now ? nullptr : &when));
    }
    static std::vector<std::uint8_t> key_of(State &state, const core::InstanceHandle &instance)
    {
        const std::lock_guard<std::mutex> guard(state.lock);
        const auto known = state.keys.find(instance);
        if (known == state.keys.end())
            throw core::PreconditionNotMetError("the instance was not registered with this writer: register it, or "
                                                "give a sample in place of the handle");
        return known->second;
    }
};

/* The readers that match now. */
template <class T>
core::InstanceHandleSeq matched_subscriptions(const DataWriter<T> &writer)
{
    return tickwire::detail::matched(tw_writer_matched_readers, writer.handle());
}

template <class T>
void DataWriter<T>::listener(DataWriterListener<T> *listener, const core::status::StatusMask &mask)
{
    using namespace core::status;
    using Context = tickwire::detail::ListenerContext<DataWriter<T>, State, DataWriterListener<T>>;
    State &state = this->get();
    tickwire::detail::check(tickwire::detail::take_listener_away(state.handle()));
    state.listener = nullptr;
    if (listener == nullptr)
        return;
    tw_listener functions = {};
    functions.on_publication_matched = [](tw_writer *, const tw_matched_status *status, void *context) {
        Context::tell(context, [&](DataWriter<T> &writer, DataWriterListener<T> &listener) {
            listener.on_publication_matched(writer, PublicationMatchedStatus(*status));
        });
    };
    functions.on_offered_incompatible_qos = [](tw_writer *, const tw_incompatible_qos_status *status, void *context) {
        Context::tell(context, [&](DataWriter<T> &writer, DataWriterListener<T> &listener) {
            listener.on_offered_incompatible_qos(writer, OfferedIncompatibleQosStatus(*status));
        });
    };
    functions.on_offered_deadline_missed = [](tw_writer *, const tw_deadline_missed_status *status, void *context) {
        Context::tell(context, [&](DataWriter<T> &writer, DataWriterListener<T> &listener) {
            listener.on_offered_deadline_missed(writer, OfferedDeadlineMissedStatus(*status));
        });
    };
    functions.on_liveliness_lost = [](tw_writer *, const tw_count_status *status, void *context) {
        Context::tell(context, [&](DataWriter<T> &writer, DataWriterListener<T> &listener) {
            listener.on_liveliness_lost(writer, LivelinessLostStatus(*status));
        });
    };
    Context::set(state, listener, functions, mask);
    state.listener = listener;
}

} // namespace pub
} // namespace dds

#endif
