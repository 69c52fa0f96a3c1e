/* Participants. */
#ifndef TICKWIRE_DDS_DOMAIN_DOMAIN_HPP
#define TICKWIRE_DDS_DOMAIN_DOMAIN_HPP

#include <dds/core/entity.hpp>

namespace tickwire {
namespace detail {

class ParticipantState : public EntityState {
public:
    ParticipantState(std::uint32_t id, const dds::domain::qos::DomainParticipantQos &qos)
        : EntityState(create(id, qos), nullptr), id(id), qos(qos)
    {
    }
    ~ParticipantState() override { close(); }

    const std::uint32_t id;
    const dds::domain::qos::DomainParticipantQos qos;
    Guarded<dds::topic::qos::TopicQos> default_topic_qos;
    Guarded<dds::pub::qos::PublisherQos> default_publisher_qos;
    Guarded<dds::sub::qos::SubscriberQos> default_subscriber_qos;

    static Guarded<dds::domain::qos::DomainParticipantQos> &default_qos()
    {
        static Guarded<dds::domain::qos::DomainParticipantQos> qos;
        return qos;
    }

private:
    static void *create(std::uint32_t id, const dds::domain::qos::DomainParticipantQos &qos)
    {
        tw_participant *made;
        const QosHandle with = qos.make();
        check(tw_participant_create(id, static_cast<tw_qos *>(with->handle()), &made));
        return made;
    }
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace domain {

/* A member of a domain, on this machine's loopback interface unless its QoS says otherwise. Its end waits for its threads,
 * and so for what its listeners are doing: not in a listener of another participant, as two that end each other wait for
 * ever, nor with a lock held that one of its listeners takes. */
class DomainParticipant : public core::NamedEntityOf<tickwire::detail::ParticipantState> {
public:
    using NamedEntityOf::NamedEntityOf;
    explicit DomainParticipant(std::uint32_t id) : DomainParticipant(id, default_participant_qos()) {}
    DomainParticipant(std::uint32_t id, const qos::DomainParticipantQos &qos)
        : NamedEntityOf(std::make_shared<tickwire::detail::ParticipantState>(id, qos))
    {
    }

    std::uint32_t domain_id() const { return get().id; }
    const qos::DomainParticipantQos &qos() const { return get().qos; }
    const DomainParticipant &operator>>(qos::DomainParticipantQos &qos) const
    {
        qos = this->qos();
        return *this;
    }
    void assert_liveliness() { tickwire::detail::check(tw_assert_liveliness(get().handle())); }

    /* What topics, publishers, subscribers and participants are made with where nothing else is said. */
    topic::qos::TopicQos default_topic_qos() const { return get().default_topic_qos.get(); }
    pub::qos::PublisherQos default_publisher_qos() const { return get().default_publisher_qos.get(); }
    sub::qos::SubscriberQos default_subscriber_qos() const { return get().default_subscriber_qos.get(); }
    static qos::DomainParticipantQos default_participant_qos()
    {
        return tickwire::detail::ParticipantState::default_qos().get();
    }
    DomainParticipant &default_topic_qos(const topic::qos::TopicQos &qos)
    {
        get().default_topic_qos.set(qos);
        return *this;
    }
    DomainParticipant &default_publisher_qos(const pub::qos::PublisherQos &qos)
    {
        get().default_publisher_qos.set(qos);
        return *this;
    }
    DomainParticipant &default_subscriber_qos(const sub::qos::SubscriberQos &qos)
    {
        get().default_subscriber_qos.set(qos);
        return *this;
    }
    static void default_participant_qos(const qos::DomainParticipantQos &qos)
    {
        tickwire::detail::ParticipantState::default_qos().set(qos);
    }

    core::Time current_time() const { return core::Time::now(); }

    /* Tickwire's own: does what is to be done, where the setting `driving` is "polled"; waits up to `timeout` for it. */
    void poll(const core::Duration &timeout)
    {
        tickwire::detail::check(tw_participant_poll(static_cast<tw_participant *>(get().handle()), timeout.count()));
    }
    /* Tickwire's own: what tickwire.h says of tw_participant_counters. */
    tw_participant_counters counters() const
    {
        return tickwire::detail::counters(tw_participant_get_counters, get().handle());
    }
    /* Tickwire's own: by which way samples of each writer go to each reader of this participant, or why they do not
     * match. For people: the text may change. */
    std::string explain() const
    {
        const auto *participant = static_cast<const tw_participant *>(get().handle());
        return tickwire::detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return tw_participant_explain(participant, buffer, capacity, length);
        });
    }
};

} // namespace domain
} // namespace dds

#endif
