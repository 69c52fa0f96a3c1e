/* Publishes ten greetings, once somebody listens. */
#include <cstdlib>
#include <iostream>
#include <string>

#include <dds/dds.hpp>

#include "HelloWorldData.hpp"

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::Topic<HelloWorldData::Msg> topic(participant, "HelloWorldData_Msg");
        dds::pub::Publisher publisher(participant);
        dds::pub::qos::DataWriterQos qos;
        qos << dds::core::policy::History::KeepAll();
        dds::pub::DataWriter<HelloWorldData::Msg> writer(publisher, topic, qos);

        std::cerr << "waiting for hello_subscriber, for a minute at most" << std::endl;
        writer.wait_for_matched(1, dds::core::Duration(60));
        HelloWorldData::Msg msg(1, "hello 1");
        writer.write(msg);
        for (int number = 2; number <= 10; number++) {
            msg.message("hello " + std::to_string(number));
            writer << msg;
        }
        writer.wait_for_acknowledgments(dds::core::Duration(60));
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
