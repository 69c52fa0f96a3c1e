/* A reader that gets what an expression asks for alone, and a query over what it has. */
#include <cstdlib>
#include <iostream>

#include <dds/dds.hpp>

#include "Quotes.hpp"

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::qos::TopicQos all;
        all << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
        dds::topic::Topic<market::Quote> topic(participant, "FilteredQuotes", all);
        dds::topic::ContentFilteredTopic<market::Quote> wanted(
            topic, "ES alone", dds::topic::Filter("symbol LIKE %0 AND bid > 2").add_parameter("'ES%'"));

        dds::sub::DataReader<market::Quote> reader(dds::sub::Subscriber(participant), wanted, topic.qos());
        dds::pub::DataWriter<market::Quote> writer(dds::pub::Publisher(participant), topic, topic.qos());
        writer.wait_for_matched(1, dds::core::Duration(60));
        for (int tick = 1; tick <= 5; tick++)
            for (const char *symbol : {"ESZ6", "NQZ6"})
                writer << market::Quote(symbol, tick, tick + 0.25);
        writer.wait_for_acknowledgments(dds::core::Duration(60));

        dds::sub::Query dear(reader, "bid > %0 ORDER BY bid", {"3"});
        for (const auto &sample : reader.select().content(dear).read())
            std::cout << "dear: " << sample.data().symbol() << " " << sample.data().bid() << std::endl;
        for (const auto &sample : reader.take())
            std::cout << sample.data().symbol() << " " << sample.data().bid() << std::endl;
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
