/* Prints the greetings that others publish, until nobody does any more. */
#include <cstdlib>
#include <iostream>

#include <dds/dds.hpp>

#include "HelloWorldData.hpp"

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::Topic<HelloWorldData::Msg> topic(participant, "HelloWorldData_Msg");
        dds::sub::Subscriber subscriber(participant);
        dds::sub::qos::DataReaderQos qos;
        qos << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
        dds::sub::DataReader<HelloWorldData::Msg> reader(subscriber, topic, qos);

        dds::sub::cond::ReadCondition news(reader, dds::sub::status::DataState::any());
        dds::core::cond::StatusCondition matches(reader);
        matches.enabled_statuses(dds::core::status::StatusMask::subscription_matched());
        dds::core::cond::WaitSet wait_set;
        wait_set += news;
        wait_set += matches;
        std::cerr << "waiting for hello_publisher, for a minute at most" << std::endl;
        for (bool over = false; !over;) {
            wait_set.wait(dds::core::Duration(60));
            const auto matched = reader.subscription_matched_status();
            for (const auto &sample : reader.take())
                if (sample.info().valid())
                    std::cout << sample.data().userID() << ": " << sample.data().message() << std::endl;
            over = matched.total_count() > 0 && matched.current_count() == 0;
        }
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
