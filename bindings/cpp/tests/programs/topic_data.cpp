/* A writer, and readers of a topic and of a filtered one, which are there until the input ends. */
#include <cstdio>
#include <cstdlib>

#include <dds/dds.hpp>

#include "psm.hpp"

using namespace dds::core::policy;
using test::Order;

int main(int, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(static_cast<std::uint32_t>(std::atoi(argv[1])));
        dds::topic::qos::TopicQos described;
        described << TopicData(dds::core::ByteSeq{1, 2, 255}) << Reliability::Reliable();
        const dds::topic::Topic<Order> topic(participant, "Described", described);
        const dds::topic::ContentFilteredTopic<Order> some(topic, "some", dds::topic::Filter("id = 1"));
        const dds::pub::Publisher publisher(participant);
        const dds::sub::Subscriber subscriber(participant);
        // What else these are made with changes nothing.
        const dds::pub::DataWriter<Order> writer(publisher, topic, dds::pub::qos::DataWriterQos() << History::KeepAll());
        const dds::sub::DataReader<Order> reader(subscriber, topic);
        const dds::sub::DataReader<Order> of_some(subscriber, some);
        // Of what a profile says the topic's own QoS has its way.
        const auto provider = dds::core::QosProvider::parse("[profiles.p.topic]\ntopic_data = [7]\n");
        const dds::sub::DataReader<Order> with_profile(subscriber, topic, provider.datareader_qos());
        const dds::topic::Topic<Order> profiled(participant, "Profiled", provider.topic_qos());
        const dds::pub::DataWriter<Order> writer_of_profiled(publisher, profiled);
        const dds::topic::Topic<Order> plain(participant, "Plain");
        const dds::pub::DataWriter<Order> writer_of_plain(publisher, plain);
        const dds::sub::DataReader<Order> reader_of_plain(subscriber, plain, provider.datareader_qos());
        while (std::getchar() != EOF)
            continue;
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "topic_data.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
