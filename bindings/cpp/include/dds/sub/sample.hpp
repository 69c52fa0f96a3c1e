/* Samples, and their circumstances. */
#ifndef TICKWIRE_DDS_SUB_SAMPLE_HPP
#define TICKWIRE_DDS_SUB_SAMPLE_HPP

#include <iterator>

#include <dds/core/types.hpp>

namespace dds {
namespace sub {
namespace status {

/* Some states of one group; all of them at first. */
template <std::uint32_t All>
class StateMask {
public:
    constexpr StateMask() = default;
    constexpr explicit StateMask(std::uint32_t bits) : bits_(bits) {}
    static constexpr StateMask any() { return StateMask(); }
    constexpr std::uint32_t bits() const { return bits_; }
    friend constexpr StateMask operator|(StateMask a, StateMask b) { return StateMask(a.bits_ | b.bits_); }
    friend constexpr StateMask operator&(StateMask a, StateMask b) { return StateMask(a.bits_ & b.bits_); }
    friend constexpr bool operator==(StateMask a, StateMask b) { return a.bits_ == b.bits_; }
    friend constexpr bool operator!=(StateMask a, StateMask b) { return a.bits_ != b.bits_; }

protected:
    std::uint32_t bits_ = All;
};

/* Whether the sample was returned by a read before. */
class SampleState : public StateMask<TW_READ | TW_NOT_READ> {
public:
    using StateMask::StateMask;
    constexpr SampleState(const StateMask &of) : StateMask(of) {}
    static constexpr SampleState read() { return SampleState(TW_READ); }
    static constexpr SampleState not_read() { return SampleState(TW_NOT_READ); }
    static constexpr SampleState any() { return SampleState(); }
};

/* Whether its instance is new to the reader, or back to life. */
class ViewState : public StateMask<TW_NEW | TW_NOT_NEW> {
public:
    using StateMask::StateMask;
    constexpr ViewState(const StateMask &of) : StateMask(of) {}
    static constexpr ViewState new_view() { return ViewState(TW_NEW); }
    static constexpr ViewState not_new_view() { return ViewState(TW_NOT_NEW); }
    static constexpr ViewState any() { return ViewState(); }
};

/* Whether its instance has a writer, and was not disposed of. */
class InstanceState : public StateMask<TW_ALIVE | TW_DISPOSED | TW_NO_WRITERS> {
public:
    using StateMask::StateMask;
    constexpr InstanceState(const StateMask &of) : StateMask(of) {}
    static constexpr InstanceState alive() { return InstanceState(TW_ALIVE); }
    static constexpr InstanceState not_alive_disposed() { return InstanceState(TW_DISPOSED); }
    static constexpr InstanceState not_alive_no_writers() { return InstanceState(TW_NO_WRITERS); }
    static constexpr InstanceState not_alive_mask() { return InstanceState(TW_DISPOSED | TW_NO_WRITERS); }
    static constexpr InstanceState any() { return InstanceState(); }
};

class DataState {
public:
    constexpr DataState() = default;
    constexpr DataState(SampleState sample, ViewState view = {}, InstanceState instance = {})
        : sample_(sample), view_(view), instance_(instance)
    {
    }
    constexpr DataState(ViewState view) : view_(view) {}
    constexpr DataState(InstanceState instance) : instance_(instance) {}
    static constexpr DataState any() { return DataState(); }
    static constexpr DataState any_data() { return {SampleState::any(), ViewState::any(), InstanceState::alive()}; }
    static constexpr DataState new_data() { return {SampleState::not_read(), ViewState::any(), InstanceState::alive()}; }
    static constexpr DataState new_instance()
    {
        return {SampleState::any(), ViewState::new_view(), InstanceState::alive()};
    }

    static constexpr DataState of_bits(std::uint32_t bits)
    {
        return {SampleState(bits & SampleState::any().bits()), ViewState(bits & ViewState::any().bits()),
                InstanceState(bits & InstanceState::any().bits())};
    }

    constexpr SampleState sample_state() const { return sample_; }
    constexpr ViewState view_state() const { return view_; }
    constexpr InstanceState instance_state() const { return instance_; }
    DataState &operator<<(SampleState state)
    {
        sample_ = state;
        return *this;
    }
    DataState &operator<<(ViewState state)
    {
        view_ = state;
        return *this;
    }
    DataState &operator<<(InstanceState state)
    {
        instance_ = state;
        return *this;
    }
    constexpr std::uint32_t bits() const { return sample_.bits() | view_.bits() | instance_.bits(); }
    friend constexpr bool operator==(DataState a, DataState b) { return a.bits() == b.bits(); }
    friend constexpr bool operator!=(DataState a, DataState b) { return a.bits() != b.bits(); }

private:
    SampleState sample_;
    ViewState view_;
    InstanceState instance_;
};

} // namespace status

/* How often the instance had come back from disposal, and had found a writer again, when the sample arrived. */
struct GenerationCount {
    std::int32_t disposed_count, no_writers_count;
    std::int32_t disposed() const { return disposed_count; }
    std::int32_t no_writers() const { return no_writers_count; }
};

/* Samples of the instance that follow; generations between the sample and the last of these, and the last received. */
struct Rank {
    std::int32_t sample_rank, generation_rank, absolute_rank;
    std::int32_t sample() const { return sample_rank; }
    std::int32_t generation() const { return generation_rank; }
    std::int32_t absolute_generation() const { return absolute_rank; }
};

class SampleInfo {
public:
    SampleInfo() = default;
    explicit SampleInfo(const tw_sample_info &of) : of_(of) {}

    /* Whether there is a value. If not, the sample tells of a change of its instance, and of the data only the key counts. */
    bool valid() const { return of_.valid_data != 0; }
    /* When the writer made it. */
    core::Time timestamp() const { return core::Time::nanoseconds(of_.source_timestamp_ns); }
    status::DataState state() const { return status::DataState::of_bits(of_.states); }
    GenerationCount generation_count() const
    {
        return {static_cast<std::int32_t>(of_.disposed_generation_count),
                static_cast<std::int32_t>(of_.no_writers_generation_count)};
    }
    Rank rank() const
    {
        return {static_cast<std::int32_t>(of_.sample_rank), static_cast<std::int32_t>(of_.generation_rank),
                static_cast<std::int32_t>(of_.absolute_generation_rank)};
    }
    core::InstanceHandle instance_handle() const { return core::InstanceHandle(of_.instance); }
    core::InstanceHandle publication_handle() const { return core::InstanceHandle(of_.writer); }
    /* Tickwire's own: when it arrived, and its place in the writer's history. */
    core::Time reception_timestamp() const { return core::Time::nanoseconds(of_.reception_timestamp_ns); }
    std::int64_t sequence_number() const { return of_.sequence_number; }
    /* Tickwire's own: whether a value that is read in place lies where the writer wrote it, on loan. */
    bool in_place() const { return of_.in_place != 0; }

private:
    tw_sample_info of_ = {};
};

/* A value and its circumstances. */
template <class T>
class Sample {
public:
    using DataType = T;

    Sample() = default;
    Sample(const T &data, const SampleInfo &info) : data_(data), info_(info) {}
    const T &data() const { return data_; }
    T &data() { return data_; }
    void data(const T &data) { data_ = data; }
    operator const T &() const { return data_; }
    const SampleInfo &info() const { return info_; }
    void info(const SampleInfo &info) { info_ = info; }

private:
    T data_{};
    SampleInfo info_;
};

} // namespace sub
} // namespace dds

namespace tickwire {
namespace detail {

/* Samples of the library, which are given back in the end. */
class Held {
public:
    Held() = default;
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    ~Held() { tw_samples_return(&samples); }

    tw_samples samples = {};
};

/* Values that are used again; `count` of them are samples that were returned. */
template <class T>
struct Batch {
    /* What values that are read in place lie in. */
    Held held;
    std::vector<dds::sub::Sample<T>> all;
    std::size_t count = 0;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace sub {

/* Samples that a reader returned. Copies share them; their memory goes back to the reader with the last. */
template <class T>
class LoanedSamples {
public:
    using DataType = T;
    using const_iterator = typename std::vector<Sample<T>>::const_iterator;
    using iterator = const_iterator;
    using value_type = Sample<T>;

    LoanedSamples() = default;
    explicit LoanedSamples(std::shared_ptr<const tickwire::detail::Batch<T>> batch) : batch_(std::move(batch)) {}

    const_iterator begin() const { return batch_ ? batch_->all.begin() : const_iterator(); }
    const_iterator end() const
    {
        return batch_ ? batch_->all.begin() + static_cast<std::ptrdiff_t>(batch_->count) : const_iterator();
    }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    std::uint32_t length() const { return batch_ ? static_cast<std::uint32_t>(batch_->count) : 0; }
    std::size_t size() const { return length(); }
    bool empty() const { return length() == 0; }
    const Sample<T> &operator[](std::size_t at) const { return batch_->all[at]; }
    /* Gives the samples back. */
    void return_loan() { batch_.reset(); }

private:
    std::shared_ptr<const tickwire::detail::Batch<T>> batch_;
};

/* Those that are shared are the same. */
template <class T>
using SharedSamples = LoanedSamples<T>;

/* Takes the samples out of a variable. */
template <class T>
LoanedSamples<T> move(LoanedSamples<T> &samples)
{
    return std::move(samples);
}

template <class T>
typename LoanedSamples<T>::const_iterator begin(const LoanedSamples<T> &samples)
{
    return samples.begin();
}
template <class T>
typename LoanedSamples<T>::const_iterator end(const LoanedSamples<T> &samples)
{
    return samples.end();
}

} // namespace sub
} // namespace dds

#endif
