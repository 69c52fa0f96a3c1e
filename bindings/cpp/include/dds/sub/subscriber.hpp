/* Subscribers. */
#ifndef TICKWIRE_DDS_SUB_SUBSCRIBER_HPP
#define TICKWIRE_DDS_SUB_SUBSCRIBER_HPP

#include <dds/topic/topic.hpp>

namespace tickwire {
namespace detail {

class SubscriberState : public EntityState {
public:
    SubscriberState(void *handle, dds::domain::DomainParticipant participant, dds::sub::qos::SubscriberQos qos)
        : EntityState(handle, participant.state()), participant(std::move(participant)), qos(std::move(qos))
    {
    }
    ~SubscriberState() override { close(); }

    const dds::domain::DomainParticipant participant;
    Guarded<dds::sub::qos::SubscriberQos> qos;
    Guarded<dds::sub::qos::DataReaderQos> default_reader_qos;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace sub {

/* What several readers have in common: PARTITION, PRESENTATION, GROUP_DATA. */
class Subscriber : public core::EntityOf<tickwire::detail::SubscriberState> {
public:
    using EntityOf::EntityOf;
    explicit Subscriber(const domain::DomainParticipant &participant)
        : Subscriber(participant, participant.default_subscriber_qos())
    {
    }
    Subscriber(const domain::DomainParticipant &participant, const qos::SubscriberQos &qos)
        : EntityOf(make(participant, qos))
    {
    }

    const domain::DomainParticipant &participant() const { return get().participant; }
    qos::SubscriberQos qos() const { return get().qos.get(); }
    void qos(const qos::SubscriberQos &qos)
    {
        const tickwire::detail::QosHandle with = qos.make();
        this->get().qos.set(qos, [&] {
            tickwire::detail::check(tw_set_qos(this->get().handle(), static_cast<tw_qos *>(with->handle())));
        });
    }
    Subscriber &operator<<(const qos::SubscriberQos &qos)
    {
        this->qos(qos);
        return *this;
    }
    const Subscriber &operator>>(qos::SubscriberQos &qos) const
    {
        qos = this->qos();
        return *this;
    }
    qos::DataReaderQos default_datareader_qos() const { return get().default_reader_qos.get(); }
    Subscriber &default_datareader_qos(const qos::DataReaderQos &qos)
    {
        get().default_reader_qos.set(qos);
        return *this;
    }
    /* Has the listeners of the readers told that have data which was not read. */
    void notify_datareaders() { tickwire::detail::check(tw_subscriber_notify(raw())); }
    tw_subscriber *raw() const { return static_cast<tw_subscriber *>(get().handle()); }

private:
    static std::shared_ptr<tickwire::detail::SubscriberState> make(const domain::DomainParticipant &participant,
                                                                   const qos::SubscriberQos &qos)
    {
        tw_subscriber *made;
        const tickwire::detail::QosHandle with = qos.make();
        auto *of = static_cast<tw_participant *>(participant.handle());
        tickwire::detail::check(tw_subscriber_create(of, static_cast<tw_qos *>(with->handle()), &made));
        return std::make_shared<tickwire::detail::SubscriberState>(made, participant, qos);
    }
};

/* While it lives, no further coherent set of GROUP scope appears in any of the subscriber's readers. */
class CoherentAccess {
public:
    explicit CoherentAccess(const Subscriber &subscriber) : subscriber_(subscriber)
    {
        tickwire::detail::check(tw_subscriber_begin_access(subscriber.raw()));
    }
    CoherentAccess(const CoherentAccess &) = delete;
    CoherentAccess &operator=(const CoherentAccess &) = delete;
    ~CoherentAccess()
    {
        if (!ended_)
            tw_subscriber_end_access(subscriber_.raw());
    }
    void end()
    {
        ended_ = true;
        tickwire::detail::check(tw_subscriber_end_access(subscriber_.raw()));
    }

private:
    Subscriber subscriber_;
    bool ended_ = false;
};

} // namespace sub
} // namespace dds

#endif
