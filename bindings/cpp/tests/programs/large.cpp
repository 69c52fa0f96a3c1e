/* Large values do not pass the stack, and payloads do not dictate how much memory is taken. */
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <dds/dds.hpp>

#include "large.hpp"

#define CHECK(CONDITION) check(__LINE__, (CONDITION), #CONDITION)
static void check(int line, bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "large.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}

static void put(std::vector<std::uint8_t> &to, std::uint32_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        to.push_back(static_cast<std::uint8_t>(value >> shift));
}

/* What becomes of a sequence or map of so many elements, which is the member of Bombs behind so many that are empty. An
 * element is `element`, which is of whole words. */
static tw_cdr_status read(std::uint32_t before, std::uint32_t count, const std::vector<std::uint8_t> &element)
{
    std::vector<std::uint8_t> payload{0, 9, 0, 0};
    const auto whole = static_cast<std::uint32_t>(count * element.size());
    put(payload, before * 8 + 8 + whole);
    for (; before > 0; before--) {
        put(payload, 4);
        put(payload, 0);
    }
    put(payload, 4 + whole);
    put(payload, count);
    for (std::uint32_t i = 0; i < count; i++)
        payload.insert(payload.end(), element.begin(), element.end());
    large::Bombs bombs;
    return tickwire::from_payload(bombs, payload.data(), payload.size());
}

static void bombs()
{
    // Structs that have all of their members missing.
    const std::vector<std::uint8_t> empty{0, 0, 0, 0};
    for (const std::uint32_t before : {0, 3}) {
        CHECK(read(before, 1, empty) == TW_CDR_OK);
        CHECK(read(before, 100000, empty) == TW_CDR_TOO_LARGE);
    }
    CHECK(read(1, 1000, empty) == TW_CDR_OK);
    // One that has a struct which has its members missing.
    const std::vector<std::uint8_t> present{12, 0, 0, 0, 0, 0, 0, 0x40, 4, 0, 0, 0, 0, 0, 0, 0};
    CHECK(read(1, 1, present) == TW_CDR_OK && read(1, 100000, present) == TW_CDR_TOO_LARGE);
    // A union that has such a struct, though not at first.
    const std::vector<std::uint8_t> chosen{8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
    CHECK(read(2, 1, chosen) == TW_CDR_OK && read(2, 100000, chosen) == TW_CDR_TOO_LARGE);
    // Entries of a map, with one key or each with its own.
    const std::vector<std::uint8_t> entry{1, 0, 0, 0, 0, 0, 0, 0};
    CHECK(read(4, 1, entry) == TW_CDR_OK && read(4, 100000, entry) == TW_CDR_TOO_LARGE);
    // Whatever fits is read.
    large::Bombs whole;
    whole.far().resize(10);
    whole.choices().resize(10);
    whole.choices()[5].there(large::Thousands{1, 2, 3});
    whole.maybe().resize(2);
    whole.maybe()[1].there(large::Thousands{4});
    whole.trees().resize(100);
    whole.trees()[7].branch(large::Branch());
    whole.trees()[7].branch()->left()->branch(large::Branch());
    tickwire::Buffer buffer;
    large::Bombs again;
    CHECK(tickwire::to_payload(whole, TW_CDR_XCDR2, buffer) == TW_CDR_OK);
    CHECK(tickwire::from_payload(again, buffer.data(), buffer.size()) == TW_CDR_OK && again == whole);
}

static void pages(std::uint32_t domain)
{
    // Missing members begin anew.
    const auto book = std::make_unique<large::Book>();
    book->inner().page()[5] = 5;
    const std::vector<std::uint8_t> empty{0, 11, 0, 0, 0, 0, 0, 0};
    CHECK(tickwire::from_payload(*book, empty.data(), empty.size()) == TW_CDR_OK && book->inner().page()[5] == 0);

    book->inner().page()[5] = 5;
    const auto inner = std::make_unique<large::Inner>(book->inner().page(), 7);
    const auto same = std::make_unique<large::Book>(1, *inner);
    CHECK(same->inner() == *inner && same->inner().page()[5] == 5 && same->inner().last() == 7);

    const auto either = std::make_unique<large::Either>(), other = std::make_unique<large::Either>();
    either->_d(1);
    either->page()[5] = 5;
    other->page(either->page());
    CHECK(*other == *either);
    either->page(either->page());
    CHECK(either->page()[5] == 5);
    swap(*either, *other);
    CHECK(*other == *either);

    dds::domain::DomainParticipant participant(domain);
    dds::topic::Topic<large::Book> topic(participant, "Books");
    dds::topic::qos::TopicQos all;
    all << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
    dds::pub::DataWriter<large::Book> writer(dds::pub::Publisher(participant), topic, all);
    dds::sub::DataReader<large::Book> reader(dds::sub::Subscriber(participant), topic, all);
    writer.wait_for_matched(1, dds::core::Duration(60));
    for (int id = 1; id <= 2; id++) {
        book->id(id);
        writer.dispose_instance(*book);
    }
    writer.wait_for_acknowledgments(dds::core::Duration(60));
    CHECK(reader.select().max_samples(1).take()[0].data().id() == 1);
    std::vector<dds::sub::Sample<large::Book>> own;
    CHECK(reader.take(std::back_inserter(own), 1) == 1 && own[0].data().id() == 2);
}

int main(int argc, char **argv)
{
    try {
        bombs();
        pages(argc > 1 ? static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 128);
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "large.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
