/* Time, instances, and what all references have in common. */
#ifndef TICKWIRE_DDS_CORE_TYPES_HPP
#define TICKWIRE_DDS_CORE_TYPES_HPP

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <dds/core/exception.hpp>

namespace dds {
namespace core {

using StringSeq = std::vector<std::string>;
using ByteSeq = std::vector<std::uint8_t>;

/* A span of time, in nanoseconds, or without end. */
class Duration {
public:
    Duration() = default;
    explicit Duration(std::int32_t sec, std::uint32_t nanosec = 0)
        : total_(std::int64_t{sec} * 1000000000 + nanosec)
    {
    }
    template <class Rep, class Period>
    Duration(const std::chrono::duration<Rep, Period> &of)
        : total_(std::chrono::duration_cast<std::chrono::nanoseconds>(of).count())
    {
    }

    static Duration zero() { return Duration(); }
    static Duration infinite() { return nanoseconds(TW_INFINITE); }
    static Duration from_secs(double seconds)
    {
        // What is not below that is longer than can be told, or no number.
        return seconds < 9.2e9 ? nanoseconds(static_cast<std::int64_t>(seconds < 0 ? 0 : seconds * 1e9)) : infinite();
    }
    static Duration from_millisecs(std::int64_t count) { return nanoseconds(count * 1000000); }
    static Duration from_microsecs(std::int64_t count) { return nanoseconds(count * 1000); }
    static Duration nanoseconds(std::int64_t count)
    {
        Duration made;
        made.total_ = count;
        return made;
    }

    std::int64_t sec() const { return total_ / 1000000000; }
    std::uint32_t nanosec() const { return static_cast<std::uint32_t>(total_ % 1000000000); }
    double to_secs() const { return static_cast<double>(total_) / 1e9; }
    std::int64_t to_millisecs() const { return total_ / 1000000; }
    std::int64_t to_microsecs() const { return total_ / 1000; }
    /* In nanoseconds; TW_INFINITE is without end. */
    std::int64_t count() const { return total_; }

    friend bool operator==(Duration a, Duration b) { return a.total_ == b.total_; }
    friend bool operator!=(Duration a, Duration b) { return a.total_ != b.total_; }
    friend bool operator<(Duration a, Duration b) { return a.total_ < b.total_; }
    friend bool operator>(Duration a, Duration b) { return a.total_ > b.total_; }
    friend bool operator<=(Duration a, Duration b) { return a.total_ <= b.total_; }
    friend bool operator>=(Duration a, Duration b) { return a.total_ >= b.total_; }
    friend Duration operator+(Duration a, Duration b)
    {
        return a == infinite() || b == infinite() ? infinite() : nanoseconds(a.total_ + b.total_);
    }
    friend Duration operator-(Duration a, Duration b)
    {
        return a == infinite() ? infinite() : nanoseconds(a.total_ - b.total_);
    }

private:
    std::int64_t total_ = 0;
};

/* A point in time since 1970-01-01 UTC. */
class Time {
public:
    Time() = default;
    explicit Time(std::int64_t sec, std::uint32_t nanosec = 0) : total_(sec * 1000000000 + nanosec) {}

    static Time invalid() { return nanoseconds(TW_TIME_UNKNOWN); }
    static Time now()
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    }
    static Time nanoseconds(std::int64_t count)
    {
        Time made;
        made.total_ = count;
        return made;
    }

    std::int64_t sec() const { return total_ / 1000000000; }
    std::uint32_t nanosec() const { return static_cast<std::uint32_t>(total_ % 1000000000); }
    double to_secs() const { return static_cast<double>(total_) / 1e9; }
    std::int64_t to_millisecs() const { return total_ / 1000000; }
    std::int64_t to_microsecs() const { return total_ / 1000; }
    std::int64_t count() const { return total_; }

    friend bool operator==(Time a, Time b) { return a.total_ == b.total_; }
    friend bool operator!=(Time a, Time b) { return a.total_ != b.total_; }
    friend bool operator<(Time a, Time b) { return a.total_ < b.total_; }
    friend bool operator>(Time a, Time b) { return a.total_ > b.total_; }
    friend bool operator<=(Time a, Time b) { return a.total_ <= b.total_; }
    friend bool operator>=(Time a, Time b) { return a.total_ >= b.total_; }
    friend Duration operator-(Time a, Time b) { return Duration::nanoseconds(a.total_ - b.total_); }
    friend Time operator+(Time a, Duration b) { return nanoseconds(a.total_ + b.count()); }

private:
    std::int64_t total_ = 0;
};

/* No object. */
struct null_type {};
constexpr null_type null{};

/* The name of an instance, or of a participant, writer or reader: 16 bytes, of which all zeros is none. */
class InstanceHandle {
public:
    InstanceHandle() { std::memset(value_, 0, sizeof value_); }
    InstanceHandle(null_type) : InstanceHandle() {}
    explicit InstanceHandle(const tw_instance &of) { std::memcpy(value_, of.value, sizeof value_); }
    explicit InstanceHandle(const tw_guid &of) { std::memcpy(value_, of.value, sizeof value_); }

    static InstanceHandle nil() { return InstanceHandle(); }
    bool is_nil() const { return *this == InstanceHandle(); }
    tw_instance instance() const
    {
        tw_instance made;
        std::memcpy(made.value, value_, sizeof value_);
        return made;
    }

    friend bool operator==(const InstanceHandle &a, const InstanceHandle &b) { return a.compare(b) == 0; }
    friend bool operator!=(const InstanceHandle &a, const InstanceHandle &b) { return a.compare(b) != 0; }
    friend bool operator<(const InstanceHandle &a, const InstanceHandle &b) { return a.compare(b) < 0; }
    friend bool operator>(const InstanceHandle &a, const InstanceHandle &b) { return a.compare(b) > 0; }
    friend std::ostream &operator<<(std::ostream &out, const InstanceHandle &of)
    {
        for (const std::uint8_t byte : of.value_) {
            char digits[3];
            std::snprintf(digits, sizeof digits, "%02x", byte);
            out << digits;
        }
        return out;
    }

private:
    int compare(const InstanceHandle &other) const { return std::memcmp(value_, other.value_, sizeof value_); }

    std::uint8_t value_[16];
};

using InstanceHandleSeq = std::vector<InstanceHandle>;

} // namespace core
} // namespace dds

namespace tickwire {
namespace detail {

/* An object of the library, which ends with the last reference to it. */
class Object {
public:
    explicit Object(void *handle) : handle_(handle) {}
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
    virtual ~Object() { close(); }

    /* Calls with it fail from here on. */
    void close()
    {
        if (!closed_.exchange(true))
            tw_delete(handle_);
    }
    /* Stays the same when it is closed: the library knows that it is gone. */
    void *handle() const { return handle_; }

private:
    void *const handle_;
    std::atomic<bool> closed_{false};
};

/* What references to all kinds of objects have: copies name the same object. */
template <class State>
class Reference {
public:
    Reference(dds::core::null_type = dds::core::null) {}
    explicit Reference(std::shared_ptr<State> state) : state_(std::move(state)) {}

    bool is_nil() const { return !state_; }
    explicit operator bool() const { return !is_nil(); }
    friend bool operator==(const Reference &a, dds::core::null_type) { return a.is_nil(); }
    friend bool operator!=(const Reference &a, dds::core::null_type) { return !a.is_nil(); }

    const std::shared_ptr<State> &state() const { return state_; }
    /* The state; throws NullReferenceError if there is none. */
    State &get() const
    {
        if (!state_)
            throw dds::core::NullReferenceError("a reference to nothing was used: give it an object first");
        return *state_;
    }

private:
    std::shared_ptr<State> state_;
};

template <class A, class B>
bool operator==(const Reference<A> &a, const Reference<B> &b)
{
    return static_cast<const void *>(a.state().get()) == static_cast<const void *>(b.state().get());
}
template <class A, class B>
bool operator!=(const Reference<A> &a, const Reference<B> &b)
{
    return !(a == b);
}

} // namespace detail
} // namespace tickwire

#endif
