/* A first publisher as programs for Cyclone DDS's C++ have it, with the header of the types changed and nothing else. */
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "dds/dds.hpp"

#include "HelloWorldData.hpp"

using namespace org::eclipse::cyclonedds;

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : domain::default_id());
        dds::topic::Topic<HelloWorldData::Msg> topic(participant, "HelloWorldData_Msg");
        dds::pub::Publisher publisher(participant);
        dds::pub::DataWriter<HelloWorldData::Msg> writer(publisher, topic);

        std::cout << "Waiting for a subscriber" << std::endl;
        while (writer.publication_matched_status().current_count() == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));

        HelloWorldData::Msg msg(1, "Hello World");
        std::cout << "Writing " << msg << std::endl;
        writer.write(msg);

        std::cout << "Waiting for the subscriber to take it" << std::endl;
        while (writer.publication_matched_status().current_count() > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
