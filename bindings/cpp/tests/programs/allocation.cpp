/* Counts what C++ allocates while samples of one size are written and taken, and what conditions keep. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <dds/dds.hpp>

#include "MarketData.hpp"

static std::atomic<unsigned long> allocations{0}, freed{0};

[[gnu::noinline]] void *operator new(std::size_t size)
{
    allocations++;
    if (void *made = std::malloc(size == 0 ? 1 : size))
        return made;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept
{
    freed += memory != nullptr;
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept
{
    operator delete(memory);
}

/* How many allocations there are more when wait sets have come and gone. */
static unsigned long kept_of_wait_sets(const dds::core::cond::Condition &condition)
{
    unsigned long before = 0;
    for (int number = 0; number < 100; number++) {
        if (number == 10)
            before = allocations - freed;
        dds::core::cond::WaitSet().attach_condition(condition);
    }
    return allocations - freed - before;
}

int main(int argc, char **argv)
{
    using MiddlewareNewsBrief::MarketData;
    try {
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::topic::qos::TopicQos all;
        all << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
        dds::topic::Topic<MarketData> topic(participant, "MarketData", all);
        dds::pub::DataWriter<MarketData> writer(dds::pub::Publisher(participant), topic, all);
        dds::sub::DataReader<MarketData> reader(dds::sub::Subscriber(participant), topic, all);
        writer.wait_for_matched(1, dds::core::Duration(60));

        MarketData written;
        written.applVersionID("a text that does not fit into the string itself");
        written.mdEntries().resize(3);
        for (auto &entry : written.mdEntries())
            entry.tradeCondition("another text that does not fit into the string");
        dds::sub::Sample<MarketData> sample;
        unsigned long before = 0;
        for (std::uint32_t number = 0; number < 1000; number++) {
            if (number == 10)
                before = allocations;
            written.counter(number);
            writer.write(written);
            writer.wait_for_acknowledgments(dds::core::Duration(60));
            // Into one sample of our own, and into those that the reader keeps.
            if (number % 2 == 0) {
                if (reader.take(&sample, 1) != 1 || sample.data() != written)
                    return std::fprintf(stderr, "it is not the sample\n");
            } else {
                const auto samples = reader.take();
                if (samples.length() != 1 || samples[0].data() != written)
                    return std::fprintf(stderr, "it is not the sample\n");
            }
        }
        const unsigned long since = allocations - before;
        if (since != 0)
            return std::fprintf(stderr, "%lu allocations\n", since);
        const unsigned long kept = kept_of_wait_sets(dds::core::cond::GuardCondition());
        if (kept != 0)
            return std::fprintf(stderr, "a condition keeps %lu allocations of wait sets\n", kept);
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
