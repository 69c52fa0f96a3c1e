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
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <dds/core/exception.hpp>
#include <tickwire/external.hpp>

namespace dds {
namespace core {

using StringSeq = std::vector<std::string>;
using ByteSeq = std::vector<std::uint8_t>;

template <class T>
using optional = std::optional<T>;
template <class T>
using external = tickwire::external<T>;

} // namespace core
} // namespace dds

namespace tickwire {
namespace detail {

/* Sums and products of 64 bits end where numbers end. */
inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return b > 0 ? INT64_MAX : INT64_MIN;
    return a + b;
}
inline std::int64_t saturated_difference(std::int64_t a, std::int64_t b)
{
    return b == INT64_MIN ? saturated_sum(saturated_sum(a, INT64_MAX), 1) : saturated_sum(a, -b);
}
inline std::int64_t saturated_product(std::int64_t a, std::int64_t factor)
{
    if (a > INT64_MAX / factor || a < INT64_MIN / factor)
        return a > 0 ? INT64_MAX : INT64_MIN;
    return a * factor;
}

/* A number of nanoseconds as seconds and what is above them. */
constexpr std::int64_t NANOSECONDS = 1000000000;
inline std::int64_t whole_seconds(std::int64_t total)
{
    return total / NANOSECONDS - (total % NANOSECONDS < 0 ? 1 : 0);
}
inline std::uint32_t above_seconds(std::int64_t total)
{
    const std::int64_t rest = total % NANOSECONDS;
    return static_cast<std::uint32_t>(rest < 0 ? rest + NANOSECONDS : rest);
}
inline std::int64_t total_nanoseconds(std::int64_t sec, std::uint32_t nanosec)
{
    return saturated_sum(saturated_product(sec, NANOSECONDS), nanosec);
}

} // namespace detail
} // namespace tickwire

namespace dds {
namespace core {

/* A span of time, in nanoseconds, or without end. What is longer than can be told is without end. */
class Duration {
public:
    Duration() = default;
    explicit Duration(std::int64_t sec, std::uint32_t nanosec = 0)
        : total_(tickwire::detail::total_nanoseconds(sec, nanosec))
    {
    }
    template <class Rep, class Period>
    Duration(const std::chrono::duration<Rep, Period> &of)
    {
        const double seconds = std::chrono::duration<double>(of).count();
        // What is not below that is longer than can be told, or no number.
        if (!(seconds < LONGEST))
            total_ = TW_INFINITE;
        else
            total_ = seconds <= -LONGEST ? INT64_MIN : std::chrono::duration_cast<std::chrono::nanoseconds>(of).count();
    }

    static Duration zero() { return Duration(); }
    static Duration infinite() { return nanoseconds(TW_INFINITE); }
    static Duration from_secs(double seconds)
    {
        return seconds < LONGEST ? nanoseconds(static_cast<std::int64_t>(seconds < 0 ? 0 : seconds * 1e9)) : infinite();
    }
    static Duration from_millisecs(std::int64_t count)
    {
        return nanoseconds(tickwire::detail::saturated_product(count, 1000000));
    }
    static Duration from_microsecs(std::int64_t count)
    {
        return nanoseconds(tickwire::detail::saturated_product(count, 1000));
    }
    static Duration nanoseconds(std::int64_t count)
    {
        Duration made;
        made.total_ = count;
        return made;
    }

    std::int64_t sec() const { return tickwire::detail::whole_seconds(total_); }
    std::uint32_t nanosec() const { return tickwire::detail::above_seconds(total_); }
    /* The other part stays. */
    void sec(std::int64_t sec) { *this = Duration(sec, nanosec()); }
    void nanosec(std::uint32_t nanosec) { *this = Duration(sec(), nanosec); }
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
        if (a == infinite() || b == infinite())
            return infinite();
        return nanoseconds(tickwire::detail::saturated_sum(a.total_, b.total_));
    }
    friend Duration operator-(Duration a, Duration b)
    {
        return a == infinite() ? a : nanoseconds(tickwire::detail::saturated_difference(a.total_, b.total_));
    }
    Duration &operator+=(Duration other) { return *this = *this + other; }
    Duration &operator-=(Duration other) { return *this = *this - other; }

private:
    static constexpr double LONGEST = 9.2e9;

    std::int64_t total_ = 0;
};

/* A point in time since 1970-01-01 UTC, or none that is known: invalid. Sums end at the last one. */
class Time {
public:
    Time() = default;
    explicit Time(std::int64_t sec, std::uint32_t nanosec = 0)
        : total_(known(tickwire::detail::total_nanoseconds(sec, nanosec)))
    {
    }

    static Time invalid() { return nanoseconds(TW_TIME_UNKNOWN); }
    static Time now()
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    }
    static Time from_millisecs(std::int64_t count)
    {
        return nanoseconds(known(tickwire::detail::saturated_product(count, 1000000)));
    }
    static Time from_microsecs(std::int64_t count)
    {
        return nanoseconds(known(tickwire::detail::saturated_product(count, 1000)));
    }
    static Time nanoseconds(std::int64_t count)
    {
        Time made;
        made.total_ = count;
        return made;
    }

    std::int64_t sec() const { return tickwire::detail::whole_seconds(total_); }
    std::uint32_t nanosec() const { return tickwire::detail::above_seconds(total_); }
    /* The other part stays. */
    void sec(std::int64_t sec) { *this = Time(sec, nanosec()); }
    void nanosec(std::uint32_t nanosec) { *this = Time(sec(), nanosec); }
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
    /* Without end from or to a time that is invalid. */
    friend Duration operator-(Time a, Time b)
    {
        if (a == invalid() || b == invalid())
            return Duration::infinite();
        return Duration::nanoseconds(tickwire::detail::saturated_difference(a.total_, b.total_));
    }
    /* What is invalid stays so. */
    friend Time operator+(Time a, Duration b)
    {
        return a == invalid() ? a : nanoseconds(known(tickwire::detail::saturated_sum(a.total_, b.count())));
    }
    friend Time operator-(Time a, Duration b)
    {
        return a == invalid() ? a : nanoseconds(known(tickwire::detail::saturated_difference(a.total_, b.count())));
    }
    Time &operator+=(Duration span) { return *this = *this + span; }
    Time &operator-=(Duration span) { return *this = *this - span; }

private:
    /* The first point in time is not what stands for none. */
    static std::int64_t known(std::int64_t count) { return count == TW_TIME_UNKNOWN ? count + 1 : count; }

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

/* A value that several threads read and replace. */
template <class T>
class Guarded {
public:
    explicit Guarded(T value = T()) : value_(std::move(value)) {}

    T get() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return value_;
    }
    void set(T value)
    {
        set(std::move(value), [] {});
    }
    /* The same once `first` has returned. Of two threads one comes after the other with both. */
    template <class First>
    void set(T value, First first)
    {
        const std::lock_guard<std::mutex> turn(turn_);
        first();
        const std::lock_guard<std::mutex> guard(lock_);
        std::swap(value_, value);
    }

private:
    std::mutex turn_;
    mutable std::mutex lock_;
    T value_;
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
