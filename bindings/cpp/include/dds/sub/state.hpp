/* What references to a reader share, and how samples become values. */
#ifndef TICKWIRE_DDS_SUB_STATE_HPP
#define TICKWIRE_DDS_SUB_STATE_HPP

#include <array>
#include <new>

#include <dds/sub/listener.hpp>
#include <dds/sub/sample.hpp>
#include <dds/sub/subscriber.hpp>
#include <tickwire/local.hpp>

namespace tickwire {
namespace detail {

template <class T>
class ReaderState : public EntityState {
public:
    ReaderState(void *handle, dds::sub::Subscriber subscriber, dds::topic::TopicDescription<T> topic,
                dds::sub::qos::DataReaderQos qos)
        : EntityState(handle, subscriber.state()), subscriber(std::move(subscriber)), topic(std::move(topic)),
          qos(std::move(qos))
    {
    }
    ~ReaderState() override { this->close(); }

    tw_reader *raw() const { return static_cast<tw_reader *>(handle()); }

    /* Memory for samples: what was returned and is not looked at any more, else new. */
    std::shared_ptr<Batch<T>> batch()
    {
        // Another thread that looks for one at the same time takes a new one.
        if (is_looked_for_.test_and_set(std::memory_order_acquire))
            return std::make_shared<Batch<T>>();
        std::shared_ptr<Batch<T>> found = kept();
        is_looked_for_.clear(std::memory_order_release);
        if (!found)
            found = std::make_shared<Batch<T>>();
        return found;
    }

    const dds::sub::Subscriber subscriber;
    const dds::topic::TopicDescription<T> topic;
    Guarded<dds::sub::qos::DataReaderQos> qos;
    /* Bits of the states that read() and take() are after. */
    std::atomic<std::uint32_t> default_state{dds::sub::status::DataState::any().bits()};
    std::atomic<dds::sub::DataReaderListener<T> *> listener{nullptr};
    std::weak_ptr<ReaderState> uncounted;
    /* Samples whose bytes are none of the type. */
    std::atomic<std::uint64_t> undecodable{0};

private:
    static constexpr std::size_t kept_batches = 8, kept_samples = 1024;

    /* One that nobody looks at, which is made where there are few; or none. */
    std::shared_ptr<Batch<T>> kept() noexcept
    {
        for (auto &batch : batches_) {
            if (!batch)
                return batch = made();
            if (batch.use_count() == 1) {
                // Whoever let go of it last has done with it.
                std::atomic_thread_fence(std::memory_order_acquire);
                if (batch->all.size() > kept_samples)
                    batch->all.resize(kept_samples);
                return batch;
            }
        }
        return nullptr;
    }
    static std::shared_ptr<Batch<T>> made() noexcept
    {
        try {
            return std::make_shared<Batch<T>>();
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
    }

    std::atomic_flag is_looked_for_ = ATOMIC_FLAG_INIT;
    std::array<std::shared_ptr<Batch<T>>, kept_batches> batches_;
};

/* Decodes a sample; false if its bytes are none of the type. */
template <class T>
bool decode(const tw_sample &from, dds::sub::Sample<T> &to)
{
    to.info(dds::sub::SampleInfo(from.info));
    if (from.info.valid_data != 0)
        return TypeSupport<T>::decode(to.data(), from.data, from.len);
    begin_anew(to.data());
    return from.len == 0 || TypeSupport<T>::decode_key(to.data(), from.data, from.len);
}

} // namespace detail
} // namespace tickwire

#endif
