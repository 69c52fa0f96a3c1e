/* QoS policies, each a value that a QoS takes by << and gives by >>. */
#ifndef TICKWIRE_DDS_CORE_POLICY_HPP
#define TICKWIRE_DDS_CORE_POLICY_HPP

#include <initializer_list>

#include <dds/core/types.hpp>

namespace tickwire {
namespace detail {

/* What is said of a QoS: settings and values as docs/qos.md has them. */
class Settings {
public:
    Settings(tw_qos *qos, const char *entity) : qos_(qos), entity_(entity) {}

    void say(const char *key, const std::string &value)
    {
        check(tw_qos_set(qos_, (entity_ + "." + key).c_str(), value.c_str()));
    }
    void say(const char *key, const char *value) { say(key, std::string(value)); }
    void say(const char *key, bool value) { say(key, value ? "true" : "false"); }
    void say(const char *key, std::int32_t value) { say(key, std::to_string(value)); }
    void say(const char *key, dds::core::Duration value)
    {
        say(key, value == dds::core::Duration::infinite() ? "infinite" : std::to_string(value.count()) + "ns");
    }
    /* A number, of which -1 is without limit. */
    void limit(const char *key, std::int32_t value) { say(key, value < 0 ? "unlimited" : std::to_string(value)); }
    void bytes(const char *key, const dds::core::ByteSeq &value)
    {
        std::string list = "[";
        for (const std::uint8_t byte : value)
            list += (list.size() > 1 ? ", " : "") + std::to_string(byte);
        say(key, list + "]");
    }
    void names(const char *key, const dds::core::StringSeq &value)
    {
        std::string list = "[";
        for (const std::string &name : value)
            list += (list.size() > 1 ? ", " : "") + quoted(name);
        say(key, list + "]");
    }

private:
    /* A string of TOML. */
    static std::string quoted(const std::string &text)
    {
        std::string quoted = "\"";
        for (const char c : text) {
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                char code[8];
                std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
                quoted += code;
                continue;
            }
            if (c == '"' || c == '\\')
                quoted += '\\';
            quoted += c;
        }
        return quoted + "\"";
    }

    tw_qos *qos_;
    std::string entity_;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace core {

/* A number that is not limited, or not known. */
constexpr std::int32_t LENGTH_UNLIMITED = -1;

namespace policy {

/* A member of a policy: one accessor that reads it, one that sets it and returns the policy. */
#define TICKWIRE_DDS_MEMBER(POLICY, TYPE, NAME)                                                                   \
    TYPE NAME() const { return NAME##_; }                                                                        \
    POLICY &NAME(TYPE value)                                                                                     \
    {                                                                                                            \
        NAME##_ = std::move(value);                                                                              \
        return *this;                                                                                            \
    }

/* A policy of octets that discovery carries along. */
#define TICKWIRE_DDS_OCTETS(POLICY, KEY)                                                                          \
    class POLICY {                                                                                               \
    public:                                                                                                      \
        POLICY() = default;                                                                                      \
        explicit POLICY(ByteSeq value) : value_(std::move(value)) {}                                             \
        POLICY(const std::uint8_t *begin, const std::uint8_t *end) : value_(begin, end) {}                       \
        const ByteSeq &value() const { return value_; }                                                          \
        POLICY &value(ByteSeq value)                                                                             \
        {                                                                                                        \
            value_ = std::move(value);                                                                           \
            return *this;                                                                                        \
        }                                                                                                        \
        const std::uint8_t *begin() const { return value_.data(); }                                              \
        const std::uint8_t *end() const { return value_.data() + value_.size(); }                                \
        void apply(tickwire::detail::Settings &to) const { to.bytes(KEY, value_); }                              \
        friend bool operator==(const POLICY &a, const POLICY &b) { return a.value_ == b.value_; }                \
        friend bool operator!=(const POLICY &a, const POLICY &b) { return !(a == b); }                           \
                                                                                                                 \
    private:                                                                                                     \
        ByteSeq value_;                                                                                          \
    };

TICKWIRE_DDS_OCTETS(UserData, "user_data")
TICKWIRE_DDS_OCTETS(TopicData, "topic_data")
TICKWIRE_DDS_OCTETS(GroupData, "group_data")

/* A policy that is one span of time. */
#define TICKWIRE_DDS_SPAN(POLICY, KEY, NAME, DEFAULT)                                                             \
    class POLICY {                                                                                               \
    public:                                                                                                      \
        POLICY() = default;                                                                                      \
        explicit POLICY(Duration NAME) : NAME##_(NAME) {}                                                        \
        TICKWIRE_DDS_MEMBER(POLICY, Duration, NAME)                                                              \
        void apply(tickwire::detail::Settings &to) const { to.say(KEY, NAME##_); }                               \
        friend bool operator==(const POLICY &a, const POLICY &b) { return a.NAME##_ == b.NAME##_; }              \
        friend bool operator!=(const POLICY &a, const POLICY &b) { return !(a == b); }                           \
                                                                                                                 \
    private:                                                                                                     \
        Duration NAME##_ = DEFAULT;                                                                              \
    };

TICKWIRE_DDS_SPAN(Deadline, "deadline", period, Duration::infinite())
TICKWIRE_DDS_SPAN(LatencyBudget, "latency_budget", duration, Duration::zero())
TICKWIRE_DDS_SPAN(Lifespan, "lifespan", duration, Duration::infinite())
TICKWIRE_DDS_SPAN(TimeBasedFilter, "time_based_filter", minimum_separation, Duration::zero())

/* A policy that is one number. */
#define TICKWIRE_DDS_NUMBER(POLICY, KEY)                                                                          \
    class POLICY {                                                                                               \
    public:                                                                                                      \
        POLICY() = default;                                                                                      \
        explicit POLICY(std::int32_t value) : value_(value) {}                                                   \
        TICKWIRE_DDS_MEMBER(POLICY, std::int32_t, value)                                                         \
        void apply(tickwire::detail::Settings &to) const { to.say(KEY, value_); }                                \
        friend bool operator==(const POLICY &a, const POLICY &b) { return a.value_ == b.value_; }                \
        friend bool operator!=(const POLICY &a, const POLICY &b) { return !(a == b); }                           \
                                                                                                                 \
    private:                                                                                                     \
        std::int32_t value_ = 0;                                                                                 \
    };

TICKWIRE_DDS_NUMBER(OwnershipStrength, "ownership_strength")
TICKWIRE_DDS_NUMBER(TransportPriority, "transport_priority")

enum class DurabilityKind { VOLATILE, TRANSIENT_LOCAL, TRANSIENT, PERSISTENT };
enum class ReliabilityKind { BEST_EFFORT, RELIABLE };
enum class HistoryKind { KEEP_LAST, KEEP_ALL };
enum class OwnershipKind { SHARED, EXCLUSIVE };
enum class LivelinessKind { AUTOMATIC, MANUAL_BY_PARTICIPANT, MANUAL_BY_TOPIC };
enum class DestinationOrderKind { BY_RECEPTION_TIMESTAMP, BY_SOURCE_TIMESTAMP };
enum class PresentationAccessScopeKind { INSTANCE, TOPIC, GROUP };
enum class DataRepresentationId { XCDR1 = 0, XCDR2 = 2 };

class Durability {
public:
    Durability() = default;
    explicit Durability(DurabilityKind kind) : kind_(kind) {}
    static Durability Volatile() { return Durability(DurabilityKind::VOLATILE); }
    static Durability TransientLocal() { return Durability(DurabilityKind::TRANSIENT_LOCAL); }
    static Durability Transient() { return Durability(DurabilityKind::TRANSIENT); }
    static Durability Persistent() { return Durability(DurabilityKind::PERSISTENT); }
    TICKWIRE_DDS_MEMBER(Durability, DurabilityKind, kind)
    void apply(tickwire::detail::Settings &to) const
    {
        static const char *const words[] = {"volatile", "transient_local", "transient", "persistent"};
        to.say("durability", words[static_cast<int>(kind_)]);
    }
    friend bool operator==(const Durability &a, const Durability &b) { return a.kind_ == b.kind_; }
    friend bool operator!=(const Durability &a, const Durability &b) { return !(a == b); }

private:
    DurabilityKind kind_ = DurabilityKind::VOLATILE;
};

class Reliability {
public:
    Reliability() = default;
    explicit Reliability(ReliabilityKind kind, Duration max_blocking_time = Duration::from_millisecs(100))
        : kind_(kind), max_blocking_time_(max_blocking_time)
    {
    }
    static Reliability Reliable(Duration max_blocking_time = Duration::from_millisecs(100))
    {
        return Reliability(ReliabilityKind::RELIABLE, max_blocking_time);
    }
    static Reliability BestEffort() { return Reliability(); }
    TICKWIRE_DDS_MEMBER(Reliability, ReliabilityKind, kind)
    TICKWIRE_DDS_MEMBER(Reliability, Duration, max_blocking_time)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("reliability.kind", kind_ == ReliabilityKind::RELIABLE ? "reliable" : "best_effort");
        to.say("reliability.max_blocking_time", max_blocking_time_);
    }
    friend bool operator==(const Reliability &a, const Reliability &b)
    {
        return a.kind_ == b.kind_ && a.max_blocking_time_ == b.max_blocking_time_;
    }
    friend bool operator!=(const Reliability &a, const Reliability &b) { return !(a == b); }

private:
    ReliabilityKind kind_ = ReliabilityKind::BEST_EFFORT;
    Duration max_blocking_time_ = Duration::from_millisecs(100);
};

class History {
public:
    History() = default;
    explicit History(HistoryKind kind, std::int32_t depth = 1) : kind_(kind), depth_(depth) {}
    static History KeepLast(std::int32_t depth) { return History(HistoryKind::KEEP_LAST, depth); }
    static History KeepAll() { return History(HistoryKind::KEEP_ALL); }
    TICKWIRE_DDS_MEMBER(History, HistoryKind, kind)
    TICKWIRE_DDS_MEMBER(History, std::int32_t, depth)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("history.kind", kind_ == HistoryKind::KEEP_ALL ? "keep_all" : "keep_last");
        to.say("history.depth", depth_);
    }
    friend bool operator==(const History &a, const History &b) { return a.kind_ == b.kind_ && a.depth_ == b.depth_; }
    friend bool operator!=(const History &a, const History &b) { return !(a == b); }

private:
    HistoryKind kind_ = HistoryKind::KEEP_LAST;
    std::int32_t depth_ = 1;
};

class ResourceLimits {
public:
    explicit ResourceLimits(std::int32_t max_samples = LENGTH_UNLIMITED, std::int32_t max_instances = LENGTH_UNLIMITED,
                            std::int32_t max_samples_per_instance = LENGTH_UNLIMITED)
        : max_samples_(max_samples), max_instances_(max_instances), max_samples_per_instance_(max_samples_per_instance)
    {
    }
    TICKWIRE_DDS_MEMBER(ResourceLimits, std::int32_t, max_samples)
    TICKWIRE_DDS_MEMBER(ResourceLimits, std::int32_t, max_instances)
    TICKWIRE_DDS_MEMBER(ResourceLimits, std::int32_t, max_samples_per_instance)
    void apply(tickwire::detail::Settings &to) const
    {
        to.limit("resource_limits.max_samples", max_samples_);
        to.limit("resource_limits.max_instances", max_instances_);
        to.limit("resource_limits.max_samples_per_instance", max_samples_per_instance_);
    }
    friend bool operator==(const ResourceLimits &a, const ResourceLimits &b)
    {
        return a.max_samples_ == b.max_samples_ && a.max_instances_ == b.max_instances_ &&
               a.max_samples_per_instance_ == b.max_samples_per_instance_;
    }
    friend bool operator!=(const ResourceLimits &a, const ResourceLimits &b) { return !(a == b); }

private:
    std::int32_t max_samples_, max_instances_, max_samples_per_instance_;
};

class Ownership {
public:
    Ownership() = default;
    explicit Ownership(OwnershipKind kind) : kind_(kind) {}
    static Ownership Shared() { return Ownership(); }
    static Ownership Exclusive() { return Ownership(OwnershipKind::EXCLUSIVE); }
    TICKWIRE_DDS_MEMBER(Ownership, OwnershipKind, kind)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("ownership", kind_ == OwnershipKind::EXCLUSIVE ? "exclusive" : "shared");
    }
    friend bool operator==(const Ownership &a, const Ownership &b) { return a.kind_ == b.kind_; }
    friend bool operator!=(const Ownership &a, const Ownership &b) { return !(a == b); }

private:
    OwnershipKind kind_ = OwnershipKind::SHARED;
};

class Liveliness {
public:
    Liveliness() = default;
    explicit Liveliness(LivelinessKind kind, Duration lease_duration = Duration::infinite())
        : kind_(kind), lease_duration_(lease_duration)
    {
    }
    static Liveliness Automatic() { return Liveliness(); }
    static Liveliness ManualByParticipant(Duration lease_duration = Duration::infinite())
    {
        return Liveliness(LivelinessKind::MANUAL_BY_PARTICIPANT, lease_duration);
    }
    static Liveliness ManualByTopic(Duration lease_duration = Duration::infinite())
    {
        return Liveliness(LivelinessKind::MANUAL_BY_TOPIC, lease_duration);
    }
    TICKWIRE_DDS_MEMBER(Liveliness, LivelinessKind, kind)
    TICKWIRE_DDS_MEMBER(Liveliness, Duration, lease_duration)
    void apply(tickwire::detail::Settings &to) const
    {
        static const char *const words[] = {"automatic", "manual_by_participant", "manual_by_topic"};
        to.say("liveliness.kind", words[static_cast<int>(kind_)]);
        to.say("liveliness.lease_duration", lease_duration_);
    }
    friend bool operator==(const Liveliness &a, const Liveliness &b)
    {
        return a.kind_ == b.kind_ && a.lease_duration_ == b.lease_duration_;
    }
    friend bool operator!=(const Liveliness &a, const Liveliness &b) { return !(a == b); }

private:
    LivelinessKind kind_ = LivelinessKind::AUTOMATIC;
    Duration lease_duration_ = Duration::infinite();
};

class DestinationOrder {
public:
    DestinationOrder() = default;
    explicit DestinationOrder(DestinationOrderKind kind) : kind_(kind) {}
    static DestinationOrder ReceptionTimestamp() { return DestinationOrder(); }
    static DestinationOrder SourceTimestamp() { return DestinationOrder(DestinationOrderKind::BY_SOURCE_TIMESTAMP); }
    TICKWIRE_DDS_MEMBER(DestinationOrder, DestinationOrderKind, kind)
    void apply(tickwire::detail::Settings &to) const
    {
        const bool by_source = kind_ == DestinationOrderKind::BY_SOURCE_TIMESTAMP;
        to.say("destination_order", by_source ? "by_source_timestamp" : "by_reception_timestamp");
    }
    friend bool operator==(const DestinationOrder &a, const DestinationOrder &b) { return a.kind_ == b.kind_; }
    friend bool operator!=(const DestinationOrder &a, const DestinationOrder &b) { return !(a == b); }

private:
    DestinationOrderKind kind_ = DestinationOrderKind::BY_RECEPTION_TIMESTAMP;
};

class Presentation {
public:
    Presentation() = default;
    Presentation(PresentationAccessScopeKind access_scope, bool coherent_access, bool ordered_access)
        : access_scope_(access_scope), coherent_access_(coherent_access), ordered_access_(ordered_access)
    {
    }
    static Presentation InstanceAccessScope(bool coherent_access = false, bool ordered_access = false)
    {
        return Presentation(PresentationAccessScopeKind::INSTANCE, coherent_access, ordered_access);
    }
    static Presentation TopicAccessScope(bool coherent_access = false, bool ordered_access = false)
    {
        return Presentation(PresentationAccessScopeKind::TOPIC, coherent_access, ordered_access);
    }
    static Presentation GroupAccessScope(bool coherent_access = false, bool ordered_access = false)
    {
        return Presentation(PresentationAccessScopeKind::GROUP, coherent_access, ordered_access);
    }
    TICKWIRE_DDS_MEMBER(Presentation, PresentationAccessScopeKind, access_scope)
    TICKWIRE_DDS_MEMBER(Presentation, bool, coherent_access)
    TICKWIRE_DDS_MEMBER(Presentation, bool, ordered_access)
    void apply(tickwire::detail::Settings &to) const
    {
        static const char *const words[] = {"instance", "topic", "group"};
        to.say("presentation.access_scope", words[static_cast<int>(access_scope_)]);
        to.say("presentation.coherent_access", coherent_access_);
        to.say("presentation.ordered_access", ordered_access_);
    }
    friend bool operator==(const Presentation &a, const Presentation &b)
    {
        return a.access_scope_ == b.access_scope_ && a.coherent_access_ == b.coherent_access_ &&
               a.ordered_access_ == b.ordered_access_;
    }
    friend bool operator!=(const Presentation &a, const Presentation &b) { return !(a == b); }

private:
    PresentationAccessScopeKind access_scope_ = PresentationAccessScopeKind::INSTANCE;
    bool coherent_access_ = false, ordered_access_ = false;
};

class Partition {
public:
    Partition() = default;
    explicit Partition(const std::string &name) : name_{name} {}
    explicit Partition(StringSeq name) : name_(std::move(name)) {}
    TICKWIRE_DDS_MEMBER(Partition, StringSeq, name)
    void apply(tickwire::detail::Settings &to) const { to.names("partition", name_); }
    friend bool operator==(const Partition &a, const Partition &b) { return a.name_ == b.name_; }
    friend bool operator!=(const Partition &a, const Partition &b) { return !(a == b); }

private:
    StringSeq name_;
};

class EntityFactory {
public:
    EntityFactory() = default;
    explicit EntityFactory(bool autoenable) : autoenable_created_entities_(autoenable) {}
    static EntityFactory AutoEnable() { return EntityFactory(true); }
    static EntityFactory ManuallyEnable() { return EntityFactory(false); }
    TICKWIRE_DDS_MEMBER(EntityFactory, bool, autoenable_created_entities)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("entity_factory.autoenable_created_entities", autoenable_created_entities_);
    }
    friend bool operator==(const EntityFactory &a, const EntityFactory &b)
    {
        return a.autoenable_created_entities_ == b.autoenable_created_entities_;
    }
    friend bool operator!=(const EntityFactory &a, const EntityFactory &b) { return !(a == b); }

private:
    bool autoenable_created_entities_ = true;
};

class WriterDataLifecycle {
public:
    WriterDataLifecycle() = default;
    explicit WriterDataLifecycle(bool autodispose) : autodispose_unregistered_instances_(autodispose) {}
    static WriterDataLifecycle AutoDisposeUnregisteredInstances() { return WriterDataLifecycle(true); }
    static WriterDataLifecycle ManuallyDisposeUnregisteredInstances() { return WriterDataLifecycle(false); }
    TICKWIRE_DDS_MEMBER(WriterDataLifecycle, bool, autodispose_unregistered_instances)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("writer_data_lifecycle.autodispose_unregistered_instances", autodispose_unregistered_instances_);
    }
    friend bool operator==(const WriterDataLifecycle &a, const WriterDataLifecycle &b)
    {
        return a.autodispose_unregistered_instances_ == b.autodispose_unregistered_instances_;
    }
    friend bool operator!=(const WriterDataLifecycle &a, const WriterDataLifecycle &b) { return !(a == b); }

private:
    bool autodispose_unregistered_instances_ = true;
};

class ReaderDataLifecycle {
public:
    explicit ReaderDataLifecycle(Duration nowriter = Duration::infinite(), Duration disposed = Duration::infinite())
        : autopurge_nowriter_samples_delay_(nowriter), autopurge_disposed_samples_delay_(disposed)
    {
    }
    static ReaderDataLifecycle NoAutoPurge() { return ReaderDataLifecycle(); }
    TICKWIRE_DDS_MEMBER(ReaderDataLifecycle, Duration, autopurge_nowriter_samples_delay)
    TICKWIRE_DDS_MEMBER(ReaderDataLifecycle, Duration, autopurge_disposed_samples_delay)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("reader_data_lifecycle.autopurge_nowriter_samples_delay", autopurge_nowriter_samples_delay_);
        to.say("reader_data_lifecycle.autopurge_disposed_samples_delay", autopurge_disposed_samples_delay_);
    }
    friend bool operator==(const ReaderDataLifecycle &a, const ReaderDataLifecycle &b)
    {
        return a.autopurge_nowriter_samples_delay_ == b.autopurge_nowriter_samples_delay_ &&
               a.autopurge_disposed_samples_delay_ == b.autopurge_disposed_samples_delay_;
    }
    friend bool operator!=(const ReaderDataLifecycle &a, const ReaderDataLifecycle &b) { return !(a == b); }

private:
    Duration autopurge_nowriter_samples_delay_, autopurge_disposed_samples_delay_;
};

class DurabilityService {
public:
    explicit DurabilityService(Duration service_cleanup_delay = Duration::zero(),
                               HistoryKind history_kind = HistoryKind::KEEP_LAST, std::int32_t history_depth = 1,
                               std::int32_t max_samples = LENGTH_UNLIMITED,
                               std::int32_t max_instances = LENGTH_UNLIMITED,
                               std::int32_t max_samples_per_instance = LENGTH_UNLIMITED)
        : service_cleanup_delay_(service_cleanup_delay), history_kind_(history_kind), history_depth_(history_depth),
          max_samples_(max_samples), max_instances_(max_instances), max_samples_per_instance_(max_samples_per_instance)
    {
    }
    TICKWIRE_DDS_MEMBER(DurabilityService, Duration, service_cleanup_delay)
    TICKWIRE_DDS_MEMBER(DurabilityService, HistoryKind, history_kind)
    TICKWIRE_DDS_MEMBER(DurabilityService, std::int32_t, history_depth)
    TICKWIRE_DDS_MEMBER(DurabilityService, std::int32_t, max_samples)
    TICKWIRE_DDS_MEMBER(DurabilityService, std::int32_t, max_instances)
    TICKWIRE_DDS_MEMBER(DurabilityService, std::int32_t, max_samples_per_instance)
    void apply(tickwire::detail::Settings &to) const
    {
        to.say("durability_service.service_cleanup_delay", service_cleanup_delay_);
        to.say("durability_service.history_kind", history_kind_ == HistoryKind::KEEP_ALL ? "keep_all" : "keep_last");
        to.say("durability_service.history_depth", history_depth_);
        to.limit("durability_service.max_samples", max_samples_);
        to.limit("durability_service.max_instances", max_instances_);
        to.limit("durability_service.max_samples_per_instance", max_samples_per_instance_);
    }
    friend bool operator==(const DurabilityService &a, const DurabilityService &b)
    {
        return a.service_cleanup_delay_ == b.service_cleanup_delay_ && a.history_kind_ == b.history_kind_ &&
               a.history_depth_ == b.history_depth_ && a.max_samples_ == b.max_samples_ &&
               a.max_instances_ == b.max_instances_ && a.max_samples_per_instance_ == b.max_samples_per_instance_;
    }
    friend bool operator!=(const DurabilityService &a, const DurabilityService &b) { return !(a == b); }

private:
    Duration service_cleanup_delay_;
    HistoryKind history_kind_;
    std::int32_t history_depth_, max_samples_, max_instances_, max_samples_per_instance_;
};

/* The encodings that a reader takes, or of which a writer uses the first; those of the type if there are none. */
class DataRepresentation {
public:
    DataRepresentation() = default;
    explicit DataRepresentation(std::vector<DataRepresentationId> value) : value_(std::move(value)) {}
    TICKWIRE_DDS_MEMBER(DataRepresentation, std::vector<DataRepresentationId>, value)
    void apply(tickwire::detail::Settings &to) const
    {
        StringSeq words;
        for (const DataRepresentationId id : value_)
            words.emplace_back(id == DataRepresentationId::XCDR1 ? "xcdr1" : "xcdr2");
        to.names("representation", words);
    }
    friend bool operator==(const DataRepresentation &a, const DataRepresentation &b) { return a.value_ == b.value_; }
    friend bool operator!=(const DataRepresentation &a, const DataRepresentation &b) { return !(a == b); }

private:
    std::vector<DataRepresentationId> value_;
};

#undef TICKWIRE_DDS_MEMBER
#undef TICKWIRE_DDS_OCTETS
#undef TICKWIRE_DDS_SPAN
#undef TICKWIRE_DDS_NUMBER

} // namespace policy
} // namespace core
} // namespace dds

#endif
