/* Samples that are written and read in place. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <dds/dds.hpp>

#include "psm.hpp"

#define CHECK(CONDITION) check(__LINE__, (CONDITION), #CONDITION)
static void check(int line, bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "loans.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}

#define THROWS(EXCEPTION, CALL) \
    do { \
        bool thrown = false; \
        try { \
            CALL; \
        } catch (const EXCEPTION &) { \
            thrown = true; \
        } \
        check(__LINE__, thrown, #CALL " throws " #EXCEPTION); \
    } while (0)

using Bytes = tickwire::Bytes;
using InPlace = tickwire::BytesInPlace;
using Lent = dds::sub::LoanedSamples<InPlace>;

static const dds::core::Duration PATIENCE(60);
static const tickwire::BytesType FRAME{"camera::Frame", "pixels", 0, TW_FINAL};
static constexpr std::size_t SIZE = 50000;

static bool all_are(const InPlace &bytes, std::size_t size, std::uint8_t byte)
{
    return bytes.size() == size && std::all_of(bytes.begin(), bytes.end(), [byte](std::uint8_t it) { return it == byte; });
}

static dds::domain::DomainParticipant participant(std::uint32_t domain)
{
    dds::domain::qos::DomainParticipantQos qos;
    return dds::domain::DomainParticipant(domain, qos.setting("trusts_lenders", "true"));
}

static dds::pub::DataWriter<InPlace> writer(const dds::domain::DomainParticipant &of, const char *max_loan)
{
    dds::pub::qos::DataWriterQos qos;
    qos << dds::core::policy::History::KeepAll();
    qos.setting("max_loan", max_loan);
    return {dds::pub::Publisher(of), dds::topic::Topic<InPlace>(of, "Frames", FRAME), qos};
}

template <class T>
static dds::sub::DataReader<T> reader(const dds::domain::DomainParticipant &of)
{
    dds::sub::qos::DataReaderQos qos;
    qos << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
    return {dds::sub::Subscriber(of), dds::topic::Topic<T>(of, "Frames", FRAME), qos};
}

template <class T>
static dds::sub::LoanedSamples<T> taken(const dds::sub::DataReader<T> &reader)
{
    dds::core::cond::WaitSet set;
    set.attach_condition(dds::sub::cond::ReadCondition(reader, dds::sub::status::DataState::any()));
    set.wait(PATIENCE);
    const auto samples = reader.take();
    CHECK(samples.length() == 1);
    return samples;
}

static void fill(tickwire::Loan &loan, std::uint8_t byte)
{
    std::fill(loan.begin(), loan.end(), byte);
}

static void in_place(std::uint32_t domain)
{
    const auto one = participant(domain), two = participant(domain);
    auto writes = writer(one, "64KiB");
    auto reads = reader<InPlace>(two);
    writes.wait_for_matched(1, PATIENCE);
    // Once the reader follows the writer's log, what is lent is read where it lies.
    Lent first;
    for (int turn = 0; first.empty() || !first[0].info().in_place(); turn++) {
        CHECK(turn < 10000);
        tickwire::Loan loan = writes.loan_sample(SIZE);
        CHECK(loan.size() == SIZE && loan.end() == loan.data() + SIZE);
        fill(loan, 1);
        loan.write();
        first = taken(reads);
        CHECK(first[0].info().valid() && all_are(first[0].data(), SIZE, 1));
    }
    // It stays as it is, for all who share it, while others come and go.
    const Lent shared = first;
    first.return_loan();
    CHECK(first.empty());
    for (std::uint8_t byte = 2; byte < 100; byte++) {
        tickwire::Loan loan = writes.loan_sample(SIZE);
        fill(loan, byte);
        loan.truncate(SIZE + 1);
        loan.truncate(SIZE - byte);
        loan.write(dds::core::Time(byte));
        const Lent next = taken(reads);
        CHECK(all_are(next[0].data(), SIZE - byte, byte) && next[0].info().timestamp() == dds::core::Time(byte));
    }
    CHECK(all_are(shared[0].data(), SIZE, 1));
    // A loan ends once; one that is not written ends, too.
    tickwire::Loan loan = writes.loan_sample(10);
    fill(loan, 7);
    tickwire::Loan moved = std::move(loan);
    loan = writes.loan_sample(20);
    loan = std::move(moved);
    loan.write();
    THROWS(dds::core::AlreadyClosedError, loan.write());
    CHECK(loan.size() == 0 && all_are(taken(reads)[0].data(), 10, 7));
    for (int turn = 0; turn < 1000; turn++)
        writes.loan_sample(SIZE);
    // Bytes of the caller's, and none.
    const std::uint8_t own[] = {9, 9, 9};
    writes.write(InPlace(own, sizeof own));
    CHECK(all_are(taken(reads)[0].data(), 3, 9));
    writes << InPlace();
    CHECK(taken(reads)[0].data().empty());
    // What is read can be sent on.
    writes.write(shared[0].data());
    CHECK(all_are(taken(reads)[0].data(), SIZE, 1));
    // Samples that are left in the reader, by a selection, and what there is of both after their entities.
    writes.write(InPlace(own, sizeof own));
    writes.wait_for_acknowledgments(PATIENCE);
    const Lent left = reads.read();
    CHECK(all_are(reads.select().max_samples(1).take()[0].data(), 3, 9) && reads.take().empty());
    tickwire::Loan late = writes.loan_sample(SIZE);
    writes.close();
    reads.close();
    fill(late, 8);
    THROWS(dds::core::AlreadyClosedError, late.write());
    THROWS(dds::core::AlreadyClosedError, writes.loan_sample(1));
    CHECK(all_are(left[0].data(), 3, 9) && all_are(shared[0].data(), SIZE, 1));
}

/* Loans are had of whoever lends none, and read by whoever copies. */
static void copied(std::uint32_t domain)
{
    const auto one = participant(domain);
    auto writes = writer(one, "0B");
    auto reads = reader<Bytes>(one);
    writes.wait_for_matched(1, PATIENCE);
    tickwire::Loan loan = writes.loan_sample(SIZE);
    fill(loan, 5);
    loan.write();
    const auto samples = taken(reads);
    CHECK(!samples[0].info().in_place() && samples[0].data() == Bytes(std::vector<std::uint8_t>(SIZE, 5)));
    dds::topic::Topic<test::Order> topic(one, "Orders");
    dds::pub::DataWriter<test::Order> orders(dds::pub::Publisher(one), topic);
    THROWS(dds::core::PreconditionNotMetError, orders.loan_sample(8));
}

/* A listener that echoes what it reads in place, and then makes something else of its argument. */
class Echo : public dds::sub::NoOpDataReaderListener<InPlace> {
public:
    explicit Echo(dds::pub::DataWriter<InPlace> back) : back_(std::move(back)) {}

    void on_data_available(dds::sub::DataReader<InPlace> &reader) override
    {
        for (const auto &sample : reader.take())
            if (sample.info().valid())
                back_.write(sample.data());
        reader = dds::core::null;
    }

private:
    dds::pub::DataWriter<InPlace> back_;
};

static void echoed(std::uint32_t domain)
{
    const auto one = participant(domain), two = participant(domain);
    auto there = writer(one, "64KiB");
    auto hears = reader<InPlace>(two);
    dds::topic::Topic<InPlace> answers(two, "Answers", FRAME), ours(one, "Answers", FRAME);
    dds::pub::qos::DataWriterQos all;
    all << dds::core::policy::History::KeepAll();
    dds::pub::DataWriter<InPlace> back(dds::pub::Publisher(two), answers, all);
    dds::sub::qos::DataReaderQos every;
    every << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
    dds::sub::DataReader<InPlace> reads(dds::sub::Subscriber(one), ours, every);
    back.wait_for_matched(1, PATIENCE);
    there.wait_for_matched(1, PATIENCE);
    Echo echo(back);
    hears.listener(&echo, dds::core::status::StatusMask::data_available());
    for (std::uint8_t byte = 0; byte < 20; byte++) {
        tickwire::Loan loan = there.loan_sample(SIZE);
        fill(loan, byte);
        loan.write();
        CHECK(all_are(taken(reads)[0].data(), SIZE, byte));
    }
    hears.listener(nullptr, dds::core::status::StatusMask::none());
}

int main(int argc, char **argv)
{
    const auto domain = argc > 1 ? static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 131;
    try {
        in_place(domain);
        copied(domain);
        echoed(domain);
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "loans.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
