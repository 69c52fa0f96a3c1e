/* What readers tell. */
#ifndef TICKWIRE_DDS_SUB_LISTENER_HPP
#define TICKWIRE_DDS_SUB_LISTENER_HPP

#include <dds/core/listener.hpp>

namespace dds {
namespace sub {

template <class T>
class DataReader;

/* What a reader tells, on a thread that delivers data. No exception may leave it. */
template <class T>
class DataReaderListener {
public:
    virtual ~DataReaderListener() = default;
    virtual void on_requested_deadline_missed(DataReader<T> &reader,
                                              const core::status::RequestedDeadlineMissedStatus &status) = 0;
    virtual void on_requested_incompatible_qos(DataReader<T> &reader,
                                               const core::status::RequestedIncompatibleQosStatus &status) = 0;
    virtual void on_sample_rejected(DataReader<T> &reader, const core::status::SampleRejectedStatus &status) = 0;
    virtual void on_liveliness_changed(DataReader<T> &reader, const core::status::LivelinessChangedStatus &status) = 0;
    virtual void on_data_available(DataReader<T> &reader) = 0;
    virtual void on_subscription_matched(DataReader<T> &reader,
                                         const core::status::SubscriptionMatchedStatus &status) = 0;
    virtual void on_sample_lost(DataReader<T> &reader, const core::status::SampleLostStatus &status) = 0;
};

template <class T>
class NoOpDataReaderListener : public virtual DataReaderListener<T> {
public:
    void on_requested_deadline_missed(DataReader<T> &, const core::status::RequestedDeadlineMissedStatus &) override {}
    void on_requested_incompatible_qos(DataReader<T> &, const core::status::RequestedIncompatibleQosStatus &) override
    {
    }
    void on_sample_rejected(DataReader<T> &, const core::status::SampleRejectedStatus &) override {}
    void on_liveliness_changed(DataReader<T> &, const core::status::LivelinessChangedStatus &) override {}
    void on_data_available(DataReader<T> &) override {}
    void on_subscription_matched(DataReader<T> &, const core::status::SubscriptionMatchedStatus &) override {}
    void on_sample_lost(DataReader<T> &, const core::status::SampleLostStatus &) override {}
};

} // namespace sub
} // namespace dds

#endif
