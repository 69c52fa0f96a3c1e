/* Statuses of entities, and masks of them. */
#ifndef TICKWIRE_DDS_CORE_STATUS_HPP
#define TICKWIRE_DDS_CORE_STATUS_HPP

#include <dds/core/types.hpp>

namespace dds {
namespace core {
namespace status {

class StatusMask {
public:
    constexpr StatusMask(std::uint32_t bits = 0) : bits_(bits) {}
    static constexpr StatusMask none() { return StatusMask(0); }
    static constexpr StatusMask all() { return StatusMask(TW_ALL_STATUSES); }
    static constexpr StatusMask inconsistent_topic() { return StatusMask(TW_INCONSISTENT_TOPIC); }
    static constexpr StatusMask offered_deadline_missed() { return StatusMask(TW_OFFERED_DEADLINE_MISSED); }
    static constexpr StatusMask requested_deadline_missed() { return StatusMask(TW_REQUESTED_DEADLINE_MISSED); }
    static constexpr StatusMask offered_incompatible_qos() { return StatusMask(TW_OFFERED_INCOMPATIBLE_QOS); }
    static constexpr StatusMask requested_incompatible_qos() { return StatusMask(TW_REQUESTED_INCOMPATIBLE_QOS); }
    static constexpr StatusMask sample_lost() { return StatusMask(TW_SAMPLE_LOST); }
    static constexpr StatusMask sample_rejected() { return StatusMask(TW_SAMPLE_REJECTED); }
    static constexpr StatusMask data_on_readers() { return StatusMask(TW_DATA_ON_READERS); }
    static constexpr StatusMask data_available() { return StatusMask(TW_DATA_AVAILABLE); }
    static constexpr StatusMask liveliness_lost() { return StatusMask(TW_LIVELINESS_LOST); }
    static constexpr StatusMask liveliness_changed() { return StatusMask(TW_LIVELINESS_CHANGED); }
    static constexpr StatusMask publication_matched() { return StatusMask(TW_PUBLICATION_MATCHED); }
    static constexpr StatusMask subscription_matched() { return StatusMask(TW_SUBSCRIPTION_MATCHED); }

    constexpr std::uint32_t to_ulong() const { return bits_; }
    constexpr bool any() const { return bits_ != 0; }
    friend constexpr StatusMask operator|(StatusMask a, StatusMask b) { return StatusMask(a.bits_ | b.bits_); }
    friend constexpr StatusMask operator&(StatusMask a, StatusMask b) { return StatusMask(a.bits_ & b.bits_); }
    StatusMask &operator|=(StatusMask other) { return *this = *this | other; }
    StatusMask &operator<<(StatusMask other) { return *this |= other; }
    friend constexpr bool operator==(StatusMask a, StatusMask b) { return a.bits_ == b.bits_; }
    friend constexpr bool operator!=(StatusMask a, StatusMask b) { return a.bits_ != b.bits_; }

private:
    std::uint32_t bits_;
};

/* Endpoints that match: so far, of them since the status was last read, now, and how that has changed. */
class MatchedStatus {
public:
    MatchedStatus() = default;
    explicit MatchedStatus(const tw_matched_status &of) : of_(of) {}
    std::int32_t total_count() const { return static_cast<std::int32_t>(of_.total_count); }
    std::int32_t total_count_change() const { return static_cast<std::int32_t>(of_.total_count_change); }
    std::int32_t current_count() const { return static_cast<std::int32_t>(of_.current_count); }
    std::int32_t current_count_change() const { return of_.current_count_change; }
    /* The last that matched or left. */
    InstanceHandle last_publication_handle() const { return InstanceHandle(of_.last); }
    InstanceHandle last_subscription_handle() const { return InstanceHandle(of_.last); }

private:
    tw_matched_status of_ = {};
};
class PublicationMatchedStatus : public MatchedStatus {
public:
    using MatchedStatus::MatchedStatus;
};
class SubscriptionMatchedStatus : public MatchedStatus {
public:
    using MatchedStatus::MatchedStatus;
};

/* Endpoints of the topic that do not match. */
class IncompatibleQosStatus {
public:
    IncompatibleQosStatus() = default;
    explicit IncompatibleQosStatus(const tw_incompatible_qos_status &of) : of_(of) {}
    std::int32_t total_count() const { return static_cast<std::int32_t>(of_.total_count); }
    std::int32_t total_count_change() const { return static_cast<std::int32_t>(of_.total_count_change); }
    /* The first policy that the last one disagreed on, by its number in DDS 1.4, or 0. */
    std::uint32_t last_policy_id() const { return of_.last_policy_id; }
    /* Tickwire's own: all that it disagreed on, and what to change. */
    std::string why() const { return of_.why; }

private:
    tw_incompatible_qos_status of_ = {};
};
class OfferedIncompatibleQosStatus : public IncompatibleQosStatus {
public:
    using IncompatibleQosStatus::IncompatibleQosStatus;
};
class RequestedIncompatibleQosStatus : public IncompatibleQosStatus {
public:
    using IncompatibleQosStatus::IncompatibleQosStatus;
};

class CountStatus {
public:
    CountStatus() = default;
    explicit CountStatus(const tw_count_status &of) : of_(of) {}
    std::int64_t total_count() const { return static_cast<std::int64_t>(of_.total_count); }
    std::int64_t total_count_change() const { return static_cast<std::int64_t>(of_.total_count_change); }

private:
    tw_count_status of_ = {};
};
class LivelinessLostStatus : public CountStatus {
public:
    using CountStatus::CountStatus;
};
class SampleLostStatus : public CountStatus {
public:
    using CountStatus::CountStatus;
};
class InconsistentTopicStatus : public CountStatus {
public:
    using CountStatus::CountStatus;
};

class DeadlineMissedStatus {
public:
    DeadlineMissedStatus() = default;
    explicit DeadlineMissedStatus(const tw_deadline_missed_status &of) : of_(of) {}
    std::int64_t total_count() const { return static_cast<std::int64_t>(of_.total_count); }
    std::int64_t total_count_change() const { return static_cast<std::int64_t>(of_.total_count_change); }
    InstanceHandle last_instance_handle() const { return InstanceHandle(of_.last_instance); }

private:
    tw_deadline_missed_status of_ = {};
};
class OfferedDeadlineMissedStatus : public DeadlineMissedStatus {
public:
    using DeadlineMissedStatus::DeadlineMissedStatus;
};
class RequestedDeadlineMissedStatus : public DeadlineMissedStatus {
public:
    using DeadlineMissedStatus::DeadlineMissedStatus;
};

class LivelinessChangedStatus {
public:
    LivelinessChangedStatus() = default;
    explicit LivelinessChangedStatus(const tw_liveliness_changed_status &of) : of_(of) {}
    std::int32_t alive_count() const { return static_cast<std::int32_t>(of_.alive_count); }
    std::int32_t not_alive_count() const { return static_cast<std::int32_t>(of_.not_alive_count); }
    std::int32_t alive_count_change() const { return of_.alive_count_change; }
    std::int32_t not_alive_count_change() const { return of_.not_alive_count_change; }
    InstanceHandle last_publication_handle() const { return InstanceHandle(of_.last); }

private:
    tw_liveliness_changed_status of_ = {};
};

/* Which limit a sample met that found no room. */
enum class SampleRejectedState { NOT_REJECTED, BY_INSTANCES_LIMIT, BY_SAMPLES_LIMIT, BY_SAMPLES_PER_INSTANCE_LIMIT };

class SampleRejectedStatus {
public:
    SampleRejectedStatus() = default;
    explicit SampleRejectedStatus(const tw_sample_rejected_status &of) : of_(of) {}
    std::int64_t total_count() const { return static_cast<std::int64_t>(of_.total_count); }
    std::int64_t total_count_change() const { return static_cast<std::int64_t>(of_.total_count_change); }
    SampleRejectedState last_reason() const { return static_cast<SampleRejectedState>(of_.last_reason); }
    InstanceHandle last_instance_handle() const { return InstanceHandle(of_.last_instance); }

private:
    tw_sample_rejected_status of_ = {};
};

} // namespace status
} // namespace core
} // namespace dds

namespace tickwire {
namespace detail {

/* Reads a status by a function of the library. */
template <class Status, class Raw, class Handle>
Status ask(tw_result (*function)(Handle *, Raw *), void *handle)
{
    Raw raw;
    check(function(static_cast<Handle *>(handle), &raw));
    return Status(raw);
}

} // namespace detail
} // namespace tickwire

#endif
