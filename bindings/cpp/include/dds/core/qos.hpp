/* QoS of all entities, and profiles of files. */
#ifndef TICKWIRE_DDS_CORE_QOS_HPP
#define TICKWIRE_DDS_CORE_QOS_HPP

#include <optional>
#include <tuple>
#include <type_traits>

#include <dds/core/policy.hpp>

namespace tickwire {
namespace detail {

using QosHandle = std::unique_ptr<Object>;

/* A profile of a file or a text, which entities are made with. */
struct Profile {
    bool is_file;
    std::string source, name;

    QosHandle load() const
    {
        tw_qos *made;
        const char *profile = name.empty() ? nullptr : name.c_str();
        const char *given = source.empty() ? nullptr : source.c_str();
        check(is_file ? tw_qos_load(given, profile, &made) : tw_qos_parse(source.c_str(), profile, &made));
        return QosHandle(new Object(made));
    }
};

/* What a policy is that nothing was said of. */
template <class Policy, class Entity>
Policy standard_policy()
{
    using dds::core::policy::Reliability;
    if constexpr (std::is_same_v<Policy, Reliability>)
        return Entity::reliable ? Reliability::Reliable() : Reliability::BestEffort();
    else
        return Policy();
}

/* Policies of an entity: what was said by <<, above the profile that it is of, above the standard's defaults. */
template <class Entity, class... Policies>
class EntityQos {
public:
    EntityQos() = default;
    /* Takes what another kind of entity has in common with this one, as of a topic. */
    template <class Other, class... Others>
    EntityQos(const EntityQos<Other, Others...> &other)
    {
        *this = other;
    }
    template <class Other, class... Others>
    EntityQos &operator=(const EntityQos<Other, Others...> &other)
    {
        (take<Others>(other), ...);
        if (other.profile_)
            profile_ = other.profile_;
        return *this;
    }

    template <class Policy>
    EntityQos &policy(const Policy &policy)
    {
        static_assert(has<Policy>, "the entity has no such policy");
        std::get<Said<Policy>>(said_) = {policy, true};
        return *this;
    }
    template <class Policy>
    EntityQos &operator<<(const Policy &policy)
    {
        return this->policy(policy);
    }
    /* What was said, or the default. Throws UnsupportedError if a profile may say it: setting() of a QoS made with the
     * provider has that as a text. */
    template <class Policy>
    const Policy &policy() const &
    {
        static_assert(has<Policy>, "the entity has no such policy");
        static const Policy standard = standard_policy<Policy, Entity>();
        const Policy *const said = this->said<Policy>();
        if (said == nullptr)
            check_readable();
        return said == nullptr ? standard : *said;
    }
    /* The same to be changed in place, which says it. */
    template <class Policy>
    Policy &policy() &
    {
        static_assert(has<Policy>, "the entity has no such policy");
        auto &said = std::get<Said<Policy>>(said_);
        if (!said.value) {
            check_readable();
            said.value = standard_policy<Policy, Entity>();
        }
        return *said.value;
    }
    /* A copy, where the QoS does not stay. */
    template <class Policy>
    Policy policy() &&
    {
        return std::as_const(*this).template policy<Policy>();
    }
    template <class Policy>
    const EntityQos &operator>>(Policy &to) const
    {
        to = this->policy<Policy>();
        return *this;
    }

    /* Tickwire's own: any setting of docs/qos.md without the name of the entity, such as ("max_loan", "64KiB"). */
    EntityQos &setting(const std::string &key, const std::string &value)
    {
        settings_.emplace_back(key, value);
        return *this;
    }
    /* What a setting is, in TOML. */
    std::string setting(const std::string &key) const { return setting_of(key, nullptr); }
    /* The same where the profile says something of a topic. */
    std::string setting_for(const std::string &key, const std::string &topic) const
    {
        return setting_of(key, topic.c_str());
    }
    void profile(std::shared_ptr<const Profile> profile) { profile_ = std::move(profile); }

    /* What the library makes entities with. */
    QosHandle make() const
    {
        QosHandle made;
        if (profile_) {
            made = profile_->load();
        } else {
            tw_qos *empty;
            check(tw_qos_create(&empty));
            made.reset(new Object(empty));
        }
        Settings to(static_cast<tw_qos *>(made->handle()), Entity::entity);
        (say<Policies>(to), ...);
        for (const auto &setting : settings_)
            to.say(setting.first.c_str(), setting.second);
        return made;
    }

    friend bool operator==(const EntityQos &a, const EntityQos &b)
    {
        return (same<Policies>(a, b) && ...) && a.settings_ == b.settings_ && a.profile_ == b.profile_;
    }
    friend bool operator!=(const EntityQos &a, const EntityQos &b) { return !(a == b); }

private:
    template <class, class...>
    friend class EntityQos;

    template <class Policy>
    static constexpr bool has = (std::is_same_v<Policy, Policies> || ...);

    /* A policy that was given, or looked at so that it can be changed. The latter counts once it is not the default. */
    template <class Policy>
    struct Said {
        std::optional<Policy> value;
        bool is_given = false;
    };
    template <class Policy>
    const Policy *said() const
    {
        const auto &said = std::get<Said<Policy>>(said_);
        const bool counts = said.value && (said.is_given || *said.value != standard_policy<Policy, Entity>());
        return counts ? &*said.value : nullptr;
    }
    template <class Policy>
    static bool same(const EntityQos &a, const EntityQos &b)
    {
        const Policy *const in_a = a.template said<Policy>();
        const Policy *const in_b = b.template said<Policy>();
        return in_a == nullptr || in_b == nullptr ? in_a == in_b : *in_a == *in_b;
    }
    void check_readable() const
    {
        if (profile_)
            throw dds::core::UnsupportedError("a policy that a profile has cannot be read back: ask for its setting");
    }

    std::string setting_of(const std::string &key, const char *topic) const
    {
        const QosHandle made = make();
        const std::string whole = std::string(Entity::entity) + "." + key;
        return text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return tw_qos_get(static_cast<tw_qos *>(made->handle()), whole.c_str(), topic, buffer, capacity, length);
        });
    }
    template <class Policy, class Other>
    void take(const Other &other)
    {
        if constexpr (has<Policy>)
            if (const Policy *const said = other.template said<Policy>())
                policy(*said);
    }
    template <class Policy>
    void say(Settings &to) const
    {
        if (const Policy *const said = this->said<Policy>())
            said->apply(to);
    }

    std::tuple<Said<Policies>...> said_;
    std::vector<std::pair<std::string, std::string>> settings_;
    std::shared_ptr<const Profile> profile_;
};

struct OfParticipant {
    static constexpr const char *entity = "participant";
};
struct OfTopic {
    static constexpr const char *entity = "topic";
    static constexpr bool reliable = false;
};
struct OfPublisher {
    static constexpr const char *entity = "publisher";
};
struct OfSubscriber {
    static constexpr const char *entity = "subscriber";
};
struct OfWriter {
    static constexpr const char *entity = "writer";
    static constexpr bool reliable = true;
};
struct OfReader {
    static constexpr const char *entity = "reader";
    static constexpr bool reliable = false;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace domain {
namespace qos {

using DomainParticipantQos = tickwire::detail::EntityQos<tickwire::detail::OfParticipant, core::policy::UserData,
                                                         core::policy::EntityFactory>;

} // namespace qos
} // namespace domain

namespace topic {
namespace qos {

/* What readers and writers of the topic can be made with. The topic itself has nothing of it on the network; its TOPIC_DATA
 * is announced by those that are made of it from then on, whatever they are made with. */
using TopicQos =
    tickwire::detail::EntityQos<tickwire::detail::OfTopic, core::policy::TopicData, core::policy::Durability,
                                core::policy::DurabilityService, core::policy::Deadline, core::policy::LatencyBudget,
                                core::policy::Liveliness, core::policy::Reliability, core::policy::DestinationOrder,
                                core::policy::History, core::policy::ResourceLimits, core::policy::TransportPriority,
                                core::policy::Lifespan, core::policy::Ownership, core::policy::DataRepresentation>;

} // namespace qos
} // namespace topic

namespace pub {
namespace qos {

using PublisherQos =
    tickwire::detail::EntityQos<tickwire::detail::OfPublisher, core::policy::Presentation, core::policy::Partition,
                                core::policy::GroupData, core::policy::EntityFactory>;
using DataWriterQos =
    tickwire::detail::EntityQos<tickwire::detail::OfWriter, core::policy::UserData, core::policy::Durability,
                                core::policy::DurabilityService, core::policy::Deadline, core::policy::LatencyBudget,
                                core::policy::Liveliness, core::policy::Reliability, core::policy::DestinationOrder,
                                core::policy::History, core::policy::ResourceLimits, core::policy::TransportPriority,
                                core::policy::Lifespan, core::policy::Ownership, core::policy::OwnershipStrength,
                                core::policy::WriterDataLifecycle, core::policy::DataRepresentation>;

} // namespace qos
} // namespace pub

namespace sub {
namespace qos {

using SubscriberQos =
    tickwire::detail::EntityQos<tickwire::detail::OfSubscriber, core::policy::Presentation, core::policy::Partition,
                                core::policy::GroupData, core::policy::EntityFactory>;
using DataReaderQos =
    tickwire::detail::EntityQos<tickwire::detail::OfReader, core::policy::UserData, core::policy::Durability,
                                core::policy::Deadline, core::policy::LatencyBudget, core::policy::Liveliness,
                                core::policy::Reliability, core::policy::DestinationOrder, core::policy::History,
                                core::policy::ResourceLimits, core::policy::Ownership, core::policy::TimeBasedFilter,
                                core::policy::ReaderDataLifecycle, core::policy::DataRepresentation>;

} // namespace qos
} // namespace sub

namespace core {

/* Profiles of a file: TOML, DDS-XML or Fast DDS's XML (docs/qos.md). Each of its QoS takes more by <<. */
class QosProvider {
public:
    /* `profile` may be empty if the file has only one or names the default; `file` may be empty: then
     * $TICKWIRE_QOS_FILE and $TICKWIRE_QOS_PROFILE say which. */
    explicit QosProvider(const std::string &file, const std::string &profile = "")
        : QosProvider(tickwire::detail::Profile{true, file, profile})
    {
    }
    /* The same of a text. */
    static QosProvider parse(const std::string &text, const std::string &profile = "")
    {
        return QosProvider(tickwire::detail::Profile{false, text, profile});
    }

    domain::qos::DomainParticipantQos participant_qos() const { return of<domain::qos::DomainParticipantQos>(); }
    topic::qos::TopicQos topic_qos() const { return of<topic::qos::TopicQos>(); }
    pub::qos::PublisherQos publisher_qos() const { return of<pub::qos::PublisherQos>(); }
    pub::qos::DataWriterQos datawriter_qos() const { return of<pub::qos::DataWriterQos>(); }
    sub::qos::SubscriberQos subscriber_qos() const { return of<sub::qos::SubscriberQos>(); }
    sub::qos::DataReaderQos datareader_qos() const { return of<sub::qos::DataReaderQos>(); }

private:
    explicit QosProvider(tickwire::detail::Profile profile)
        : profile_(std::make_shared<const tickwire::detail::Profile>(std::move(profile)))
    {
        profile_->load();
    }
    template <class Qos>
    Qos of() const
    {
        Qos qos;
        qos.profile(profile_);
        return qos;
    }

    std::shared_ptr<const tickwire::detail::Profile> profile_;
};

} // namespace core
} // namespace dds

#endif
