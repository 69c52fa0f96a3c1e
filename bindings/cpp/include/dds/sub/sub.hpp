/* Readers, and what else belongs to subscribing. */
#ifndef TICKWIRE_DDS_SUB_SUB_HPP
#define TICKWIRE_DDS_SUB_SUB_HPP

#include <dds/sub/cond.hpp>
#include <dds/sub/state.hpp>

namespace dds {
namespace sub {

/* A reader: best effort, and the last sample of each instance is kept, unless its QoS says otherwise. */
template <class T>
class DataReader : public core::NamedEntityOf<tickwire::detail::ReaderState<T>> {
    using State = tickwire::detail::ReaderState<T>;
    using Support = tickwire::detail::TypeSupport<T>;
    using Fetch = tickwire::detail::Held;

public:
    using DataType = T;
    using core::NamedEntityOf<State>::NamedEntityOf;

    DataReader(const Subscriber &subscriber, const topic::TopicDescription<T> &topic)
        : DataReader(subscriber, topic, subscriber.default_datareader_qos())
    {
    }
    DataReader(const Subscriber &subscriber, const topic::TopicDescription<T> &topic, const qos::DataReaderQos &qos,
               DataReaderListener<T> *listener = nullptr,
               const core::status::StatusMask &mask = core::status::StatusMask::all())
        : core::NamedEntityOf<State>(make(subscriber, topic, qos))
    {
        if (listener != nullptr)
            this->listener(listener, mask);
    }

    /* Which samples read() and take() return, and how. */
    class Selector {
    public:
        explicit Selector(const DataReader &reader) : reader_(reader), state_(reader.default_filter_state()) {}

        Selector &instance(const core::InstanceHandle &instance)
        {
            which_ = Which::One;
            instance_ = instance;
            return *this;
        }
        /* Of the first instance behind this one that has such samples; behind nil it is the first of all. */
        Selector &next_instance(const core::InstanceHandle &instance)
        {
            which_ = Which::Next;
            instance_ = instance;
            return *this;
        }
        Selector &state(const status::DataState &state)
        {
            state_ = state;
            return *this;
        }
        Selector &max_samples(std::uint32_t max)
        {
            max_ = max;
            return *this;
        }
        Selector &content(const Query &query)
        {
            query_ = std::make_shared<Query>(query);
            return *this;
        }
        Selector &condition(const cond::ReadCondition &condition)
        {
            condition_ = condition;
            return *this;
        }
        LoanedSamples<T> read() { return loaned(false); }
        LoanedSamples<T> take() { return loaned(true); }
        /* Into samples of the caller's, up to `max`; returns how many. */
        template <class Iterator>
        std::uint32_t read(Iterator to, std::uint32_t max)
        {
            return into(false, to, max);
        }
        template <class Iterator>
        std::uint32_t take(Iterator to, std::uint32_t max)
        {
            return into(true, to, max);
        }
        /* The same of all, which is for iterators that make room for what comes, as std::back_inserter() does. */
        template <class Iterator>
        std::uint32_t read(Iterator to)
        {
            return all_into(false, to);
        }
        template <class Iterator>
        std::uint32_t take(Iterator to)
        {
            return all_into(true, to);
        }

    private:
        friend class DataReader;
        enum class Which { All, One, Next };

        LoanedSamples<T> loaned(bool take)
        {
            Fetch held;
            fetch(take, held.samples);
            return reader_.loaned(held);
        }
        template <class Iterator>
        std::uint32_t into(bool take, Iterator to, std::uint32_t max)
        {
            Fetch held;
            max_ = max_ == 0 || max < max_ ? max : max_;
            if (max == 0)
                return 0;
            fetch(take, held.samples);
            return reader_.put_all(held.samples, to);
        }
        template <class Iterator>
        std::uint32_t all_into(bool take, Iterator to)
        {
            static_assert(makes_room<Iterator>, "how many samples there is room for is the second argument");
            Fetch held;
            fetch(take, held.samples);
            return reader_.put_all(held.samples, to);
        }
        void fetch(bool take, tw_samples &samples)
        {
            using tickwire::detail::check;
            tw_reader *reader = reader_.get().raw();
            const tw_instance instance = instance_.instance();
            const bool by_condition = query_ || !condition_.is_nil();
            if (by_condition && which_ != Which::All)
                throw core::UnsupportedError("samples are selected by an instance or a condition, not by both");
            if (query_) {
                const cond::QueryCondition made(*query_, state_);
                const auto function = take ? tw_reader_take_by : tw_reader_read_by;
                return check(function(reader, max_, made.get().handle(), &samples));
            }
            if (by_condition) {
                const auto function = take ? tw_reader_take_by : tw_reader_read_by;
                return check(function(reader, max_, condition_.get().handle(), &samples));
            }
            if (which_ == Which::Next) {
                const auto function = take ? tw_reader_take_next_instance : tw_reader_read_next_instance;
                return check(function(reader, max_, state_.bits(), instance_.is_nil() ? nullptr : &instance, &samples));
            }
            const auto function = take ? tw_reader_take : tw_reader_read;
            check(function(reader, max_, state_.bits(), which_ == Which::One ? &instance : nullptr, &samples));
        }

        DataReader reader_;
        status::DataState state_;
        Which which_ = Which::All;
        core::InstanceHandle instance_;
        std::size_t max_ = 0;
        std::shared_ptr<Query> query_;
        cond::ReadCondition condition_{core::null};
    };

    Selector select() const { return Selector(*this); }
    status::DataState default_filter_state() const
    {
        return status::DataState::of_bits(this->get().default_state.load());
    }
    DataReader &default_filter_state(const status::DataState &state)
    {
        this->get().default_state = state.bits();
        return *this;
    }

    /* Removes samples from the reader; none is no error. */
    LoanedSamples<T> take() const { return all(tw_reader_take); }
    /* Leaves them there, marked as read. */
    LoanedSamples<T> read() const { return all(tw_reader_read); }
    const DataReader &operator>>(LoanedSamples<T> &samples) const
    {
        samples = read();
        return *this;
    }
    /* Into samples of the caller's, whose memory is used again: up to `max`; returns how many. */
    template <class Iterator>
    std::uint32_t take(Iterator to, std::uint32_t max) const
    {
        return into(tw_reader_take, to, max);
    }
    template <class Iterator>
    std::uint32_t read(Iterator to, std::uint32_t max) const
    {
        return into(tw_reader_read, to, max);
    }
    /* The same of all, which is for iterators that make room for what comes, as std::back_inserter() does. */
    template <class Iterator>
    std::uint32_t take(Iterator to) const
    {
        return all_into(tw_reader_take, to);
    }
    template <class Iterator>
    std::uint32_t read(Iterator to) const
    {
        return all_into(tw_reader_read, to);
    }

    /* The handle of the instance of a sample's key, or nil if the reader does not know it. */
    core::InstanceHandle lookup_instance(const T &sample) const
    {
        const auto key = Support::encode_key(sample, Support::version);
        tw_instance instance;
        const tw_result result =
            tw_reader_lookup_instance(this->get().raw(), key.data, key.size, TW_KEY, &instance);
        if (result == TW_NOT_FOUND)
            return core::InstanceHandle::nil();
        tickwire::detail::check(result);
        return core::InstanceHandle(instance);
    }
    /* The key of an instance; other members stay as they are. */
    T &key_value(T &sample, const core::InstanceHandle &handle) const
    {
        const tw_instance instance = handle.instance();
        std::vector<std::uint8_t> key(256);
        std::size_t size = 0;
        tw_result result = tw_reader_key_value(this->get().raw(), &instance, key.data(), key.size(), &size);
        while (result == TW_TOO_SMALL) {
            key.resize(size);
            result = tw_reader_key_value(this->get().raw(), &instance, key.data(), key.size(), &size);
        }
        tickwire::detail::check(result);
        if (!Support::decode_key(sample, key.data(), size))
            throw core::InvalidDataError("the key cannot be read");
        return sample;
    }

    /* Waits until what the writers that match now had written before has come, or never will. */
    void wait_for_historical_data(const core::Duration &timeout)
    {
        tickwire::detail::check(tw_reader_wait_for_historical_data(this->get().raw(), timeout.count()));
    }
    /* Tickwire's own: waits until at least `count` writers match. */
    void wait_for_matched(std::uint32_t count, const core::Duration &timeout)
    {
        tickwire::detail::check(tw_reader_wait_for_matched(this->get().raw(), count, timeout.count()));
    }
    /* Tickwire's own: samples that were left out as their bytes are none of the type, or, by take_each(), as there was no memory
     * for them. */
    std::uint64_t undecodable() const { return this->get().undecodable; }

    /* Tickwire's own: what tickwire.h says of tw_reader_counters. */
    tw_reader_counters counters() const
    {
        return tickwire::detail::counters(tw_reader_get_counters, this->get().handle());
    }

    const topic::TopicDescription<T> &topic_description() const { return this->get().topic; }
    const Subscriber &subscriber() const { return this->get().subscriber; }
    qos::DataReaderQos qos() const { return this->get().qos.get(); }
    void qos(const qos::DataReaderQos &qos)
    {
        const tickwire::detail::QosHandle with = qos.make();
        this->get().qos.set(qos, [&] {
            tickwire::detail::check(tw_set_qos(this->get().handle(), static_cast<tw_qos *>(with->handle())));
        });
    }
    DataReader &operator<<(const qos::DataReaderQos &qos)
    {
        this->qos(qos);
        return *this;
    }
    const DataReader &operator>>(qos::DataReaderQos &qos) const
    {
        qos = this->qos();
        return *this;
    }

    core::status::SubscriptionMatchedStatus subscription_matched_status() const
    {
        return ask<core::status::SubscriptionMatchedStatus>(tw_reader_subscription_matched);
    }
    core::status::RequestedIncompatibleQosStatus requested_incompatible_qos_status() const
    {
        return ask<core::status::RequestedIncompatibleQosStatus>(tw_reader_requested_incompatible_qos);
    }
    core::status::RequestedDeadlineMissedStatus requested_deadline_missed_status() const
    {
        return ask<core::status::RequestedDeadlineMissedStatus>(tw_reader_requested_deadline_missed);
    }
    core::status::LivelinessChangedStatus liveliness_changed_status() const
    {
        return ask<core::status::LivelinessChangedStatus>(tw_reader_liveliness_changed);
    }
    core::status::SampleLostStatus sample_lost_status() const
    {
        return ask<core::status::SampleLostStatus>(tw_reader_sample_lost);
    }
    core::status::SampleRejectedStatus sample_rejected_status() const
    {
        return ask<core::status::SampleRejectedStatus>(tw_reader_sample_rejected);
    }

    /* Has a listener told of what happens to these statuses, in place of the one before, and of data that is there
     * already. It is the caller's, and must live until it is taken away by nullptr, the reader is closed, or the last
     * reference ends. Each of these waits until a call of it on another thread has returned, so hold no lock that it takes;
     * in any listener none of them waits. */
    void listener(DataReaderListener<T> *listener, const core::status::StatusMask &mask);
    DataReaderListener<T> *listener() const { return this->get().listener; }

    /* Tickwire's own: has `each(const Sample<T> &)` called with each sample as it comes, and with those that are there
     * already: as if a listener took all whenever there are some, for less. What took them before is stopped first, as by
     * stop_taking(), which waits. The sample is there during the call alone. Nobody else hears of data meanwhile, neither wait sets nor listeners, which are told of
     * all else, maybe at the same time. It is called where a listener is, and allowed what that is; no exception may leave
     * it, and it is not to own the reader, which would never end then. It ends as a listener does, or by stop_taking(). */
    template <class Each>
    void take_each(Each each)
    {
        auto taker = std::make_unique<Taker<Each>>(Taker<Each>{this->get().uncounted, std::move(each), {}});
        // What ends with the one before may look here.
        stop_taking();
        if (this->get().take_each(Taker<Each>::give, taker.get(), Taker<Each>::free))
            taker.release();
    }
    /* Tickwire's own: has samples stay in the reader again. Waits as listener() does. */
    void stop_taking() { tickwire::detail::check(tw_reader_take_each(this->get().raw(), nullptr, nullptr, nullptr)); }

private:
    /* What takes each sample, in memory that is used again. */
    template <class Each>
    struct Taker {
        std::weak_ptr<State> state;
        Each each;
        Sample<T> sample;

        static void give(const tw_sample *from, void *context) noexcept
        {
            auto *it = static_cast<Taker *>(context);
            tickwire::detail::listeners_on_this_thread()++;
            if (it->is_decoded(*from))
                it->each(static_cast<const Sample<T> &>(it->sample));
            else if (const auto state = it->state.lock())
                state->undecodable++;
            tickwire::detail::listeners_on_this_thread()--;
        }
        bool is_decoded(const tw_sample &from)
        {
            try {
                return tickwire::detail::decode(from, sample);
            } catch (const std::bad_alloc &) {
                return false;
            }
        }
        static void free(void *context)
        {
            // What it keeps may end with it.
            tickwire::detail::listeners_on_this_thread()++;
            delete static_cast<Taker *>(context);
            tickwire::detail::listeners_on_this_thread()--;
        }
    };

    using Take = tw_result(tw_reader *, std::size_t, std::uint32_t, const tw_instance *, tw_samples *);

    static std::shared_ptr<State> make(const Subscriber &subscriber, const topic::TopicDescription<T> &topic,
                                       const qos::DataReaderQos &qos)
    {
        tw_reader *made;
        const tickwire::detail::QosHandle with = tickwire::detail::make_with_topic(qos, topic.get());
        tickwire::detail::check(tw_reader_create(subscriber.handle(), static_cast<const tw_topic *>(topic.handle()),
                                                 static_cast<tw_qos *>(with->handle()), &made));
        return tickwire::detail::counted(std::make_shared<State>(made, subscriber, topic, qos));
    }

    template <class Status, class Raw>
    Status ask(tw_result (*function)(tw_reader *, Raw *)) const
    {
        return tickwire::detail::ask<Status>(function, this->get().handle());
    }

    LoanedSamples<T> all(Take *function) const
    {
        Fetch held;
        State &state = this->get();
        tickwire::detail::check(function(state.raw(), 0, state.default_state.load(), nullptr, &held.samples));
        return loaned(held);
    }
    LoanedSamples<T> loaned(Fetch &held) const
    {
        const tw_samples samples = held.samples;
        if (samples.count == 0)
            return LoanedSamples<T>();
        State &state = this->get();
        std::shared_ptr<tickwire::detail::Batch<T>> batch;
        if constexpr (Support::in_place) {
            // Not one that is used again: its end gives the samples back.
            batch = std::make_shared<tickwire::detail::Batch<T>>();
            std::swap(batch->held.samples, held.samples);
        } else {
            batch = state.batch();
        }
        batch->count = 0;
        if (batch->all.size() < samples.count)
            batch->all.resize(samples.count);
        for (std::size_t at = 0; at < samples.count; at++) {
            if (tickwire::detail::decode(samples.samples[at], batch->all[batch->count]))
                batch->count++;
            else
                state.undecodable++;
        }
        return LoanedSamples<T>(std::move(batch));
    }
    template <class Iterator>
    static constexpr bool makes_room =
        std::is_same_v<typename std::iterator_traits<Iterator>::iterator_category, std::output_iterator_tag>;

    template <class Iterator>
    std::uint32_t into(Take *function, Iterator to, std::uint32_t max) const
    {
        return max == 0 ? 0 : fetch_into(function, to, max);
    }
    template <class Iterator>
    std::uint32_t all_into(Take *function, Iterator to) const
    {
        static_assert(makes_room<Iterator>, "how many samples there is room for is the second argument");
        return fetch_into(function, to, 0);
    }
    /* All if `max` is 0. */
    template <class Iterator>
    std::uint32_t fetch_into(Take *function, Iterator to, std::size_t max) const
    {
        Fetch held;
        State &state = this->get();
        tickwire::detail::check(function(state.raw(), max, state.default_state.load(), nullptr, &held.samples));
        return put_all(held.samples, to);
    }
    template <class Iterator>
    std::uint32_t put_all(const tw_samples &samples, Iterator to) const
    {
        static_assert(!Support::in_place, "values that are read in place are in LoanedSamples: take() or read()");
        State &state = this->get();
        std::uint32_t count = 0;
        for (std::size_t at = 0; at < samples.count; at++) {
            if (put(samples.samples[at], to))
                count++;
            else
                state.undecodable++;
        }
        return count;
    }
    template <class Iterator>
    static bool put(const tw_sample &from, Iterator &to)
    {
        if constexpr (makes_room<Iterator>) {
            tickwire::detail::Local<Sample<T>> sample;
            if (!tickwire::detail::decode(from, *sample))
                return false;
            *to++ = std::move(*sample);
        } else {
            if (!tickwire::detail::decode(from, *to))
                return false;
            ++to;
        }
        return true;
    }
};

/* The writers that match now. */
template <class T>
core::InstanceHandleSeq matched_publications(const DataReader<T> &reader)
{
    return tickwire::detail::matched(tw_reader_matched_writers, reader.handle());
}

template <class T>
void DataReader<T>::listener(DataReaderListener<T> *listener, const core::status::StatusMask &mask)
{
    using namespace core::status;
    using Listener = DataReaderListener<T>;
    using Context = tickwire::detail::ListenerContext<DataReader<T>, State, Listener>;
    State &state = this->get();
    tickwire::detail::check(tickwire::detail::take_listener_away(state.handle()));
    state.listener = nullptr;
    if (listener == nullptr)
        return;
    tw_listener functions = {};
    functions.on_data_available = [](tw_reader *, void *context) {
        Context::tell(context, [](DataReader<T> &reader, Listener &listener) { listener.on_data_available(reader); });
    };
    functions.on_subscription_matched = [](tw_reader *, const tw_matched_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_subscription_matched(reader, SubscriptionMatchedStatus(*status));
        });
    };
    functions.on_requested_incompatible_qos = [](tw_reader *, const tw_incompatible_qos_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_requested_incompatible_qos(reader, RequestedIncompatibleQosStatus(*status));
        });
    };
    functions.on_liveliness_changed = [](tw_reader *, const tw_liveliness_changed_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_liveliness_changed(reader, LivelinessChangedStatus(*status));
        });
    };
    functions.on_requested_deadline_missed = [](tw_reader *, const tw_deadline_missed_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_requested_deadline_missed(reader, RequestedDeadlineMissedStatus(*status));
        });
    };
    functions.on_sample_lost = [](tw_reader *, const tw_count_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_sample_lost(reader, SampleLostStatus(*status));
        });
    };
    functions.on_sample_rejected = [](tw_reader *, const tw_sample_rejected_status *status, void *context) {
        Context::tell(context, [&](DataReader<T> &reader, Listener &listener) {
            listener.on_sample_rejected(reader, SampleRejectedStatus(*status));
        });
    };
    Context::set(state, listener, functions, mask);
    state.listener = listener;
}

} // namespace sub
} // namespace dds

#endif
