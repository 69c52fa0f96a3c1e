/* A first subscriber as programs for Cyclone DDS's C++ have it, with the header of the types changed and nothing else. */
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
        dds::sub::Subscriber subscriber(participant);
        dds::sub::qos::DataReaderQos qos = subscriber.default_datareader_qos();
        qos << dds::core::policy::Reliability::Reliable(dds::core::Duration::from_secs(10));
        dds::sub::DataReader<HelloWorldData::Msg> reader(subscriber, topic, qos);

        std::cout << "Waiting for a sample" << std::endl;
        for (bool taken = false; !taken;) {
            dds::sub::LoanedSamples<HelloWorldData::Msg> samples = reader.take();
            dds::sub::LoanedSamples<HelloWorldData::Msg>::const_iterator sample;
            for (sample = samples.begin(); sample < samples.end(); ++sample) {
                const HelloWorldData::Msg &msg = sample->data();
                const dds::sub::SampleInfo &info = sample->info();
                if (info.valid()) {
                    std::cout << "Taken " << msg << std::endl;
                    taken = true;
                }
            }
            if (!taken)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
