/* What the typed publisher and subscriber share: a topic by which messages go, and one by which they come back. */
#ifndef TYPED_HPP
#define TYPED_HPP

#include <string>

#include <dds/dds.hpp>

#include "MarketData.hpp"

/* All of a topic, in order. */
inline dds::topic::qos::TopicQos reliable()
{
    dds::topic::qos::TopicQos qos;
    qos << dds::core::policy::Reliability::Reliable(dds::core::Duration(10)) << dds::core::policy::History::KeepAll();
    return qos;
}

template <class T>
dds::pub::DataWriter<T> writer(const dds::pub::Publisher &publisher, const std::string &name)
{
    return {publisher, dds::topic::Topic<T>(publisher.participant(), name), reliable()};
}

template <class T>
dds::sub::DataReader<T> reader(const dds::sub::Subscriber &subscriber, const std::string &name)
{
    return {subscriber, dds::topic::Topic<T>(subscriber.participant(), name), reliable()};
}

#endif
