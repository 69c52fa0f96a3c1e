/* A reader that comes late gets the last quote of each symbol, which a TRANSIENT_LOCAL writer keeps for it. */
#include <cstdlib>
#include <iostream>
#include <set>

#include <dds/dds.hpp>

#include "Quotes.hpp"

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::qos::TopicQos kept;
        kept << dds::core::policy::Durability::TransientLocal() << dds::core::policy::Reliability::Reliable();
        dds::topic::Topic<market::Quote> topic(participant, "LateQuotes", kept);

        dds::pub::DataWriter<market::Quote> writer(dds::pub::Publisher(participant), topic, topic.qos());
        for (int tick = 1; tick <= 100; tick++)
            for (const char *symbol : {"ESZ6", "NQZ6", "YMZ6"})
                writer << market::Quote(symbol, tick, tick + 0.25);

        dds::sub::DataReader<market::Quote> reader(dds::sub::Subscriber(participant), topic, topic.qos());
        reader.wait_for_matched(1, dds::core::Duration(60));
        reader.wait_for_historical_data(dds::core::Duration(60));
        std::set<std::string> lines;
        for (const auto &sample : reader.take())
            lines.insert(sample.data().symbol() + " " + std::to_string(static_cast<int>(sample.data().bid())));
        for (const std::string &line : lines)
            std::cout << line << std::endl;
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
