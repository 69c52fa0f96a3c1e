/* Keyed market data: quotes of several symbols, each an instance that comes and goes.
 *
 *     market_data [DOMAIN]
 */
#include <cstdlib>
#include <iostream>

#include <dds/dds.hpp>

#include "Quotes.hpp"

static void publish(dds::pub::DataWriter<market::Quote> writer)
{
    for (int tick = 1; tick <= 3; tick++)
        for (const char *symbol : {"ESZ6", "NQZ6"})
            writer << market::Quote(symbol, tick, tick + 0.25);
    // The one has expired, of the other this writer has no more to say.
    writer.dispose_instance(market::Quote("ESZ6", 0, 0));
    writer.unregister_instance(market::Quote("NQZ6", 0, 0));
}

/* Prints what happens to instances until so many have gone. */
static void follow(dds::sub::DataReader<market::Quote> reader, int count)
{
    using dds::sub::status::InstanceState;
    dds::core::cond::WaitSet news;
    news += dds::sub::cond::ReadCondition(reader, dds::sub::status::DataState::any());
    while (count > 0) {
        news.wait(dds::core::Duration(60));
        for (const auto &sample : reader.take()) {
            const market::Quote &quote = sample.data();
            const auto &info = sample.info();
            if (info.valid()) {
                std::cout << quote.symbol() << " " << quote.bid() << " " << quote.ask() << std::endl;
                continue;
            }
            // Only the key counts.
            const bool is_disposed = info.state().instance_state() == InstanceState::not_alive_disposed();
            std::cout << quote.symbol() << (is_disposed ? " was disposed of" : " has no writer") << std::endl;
            count--;
        }
    }
}

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::qos::TopicQos all;
        all << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
        dds::topic::Topic<market::Quote> topic(participant, "Quotes", all);
        dds::sub::DataReader<market::Quote> reader(dds::sub::Subscriber(participant), topic, topic.qos());
        dds::pub::qos::DataWriterQos kept = topic.qos();
        kept << dds::core::policy::WriterDataLifecycle::ManuallyDisposeUnregisteredInstances();
        dds::pub::DataWriter<market::Quote> writer(dds::pub::Publisher(participant), topic, kept);
        writer.wait_for_matched(1, dds::core::Duration(60));
        publish(writer);
        follow(reader, 2);
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
