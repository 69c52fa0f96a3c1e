/* What services count of requests, whatever these are; ends with 1 at the first that is not as it should be. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <dds/dds.hpp>

#include "services.hpp"

using tickwire::rpc::RemoteError;
using tickwire::rpc::RemoteExceptionCode;

#define CHECK(CONDITION) check(__LINE__, (CONDITION), #CONDITION)
static void check(int line, bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "services.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}

static const dds::core::Duration PATIENCE(60);

class Book : public test::Prices {
public:
    double price(const std::string &symbol) override
    {
        if (symbol == "closed")
            throw test::Closed("holiday");
        if (symbol == "refused")
            throw RemoteError(RemoteExceptionCode::OUT_OF_RESOURCES);
        if (symbol == "fault")
            throw std::runtime_error("a fault");
        return 1.5;
    }
    void ping() override {}
    void note(const std::string &) override {}
};

static RemoteExceptionCode refusal(test::Prices &prices, const char *symbol)
{
    try {
        prices.price(symbol);
    } catch (const RemoteError &error) {
        return error.code();
    }
    return RemoteExceptionCode::OK;
}

/* Requests that no client makes, of a requester that knows no operations. */
class Stranger {
public:
    explicit Stranger(const dds::domain::DomainParticipant &participant)
    {
        const auto types = test::PricesWire::types();
        tw_type *request, *reply;
        CHECK(tw_type_from_idl(types.request_idl, types.request, nullptr, &request) == TW_OK);
        CHECK(tw_type_from_idl(types.reply_idl, types.reply, nullptr, &reply) == TW_OK);
        CHECK(tw_requester_create(static_cast<tw_participant *>(participant.handle()), "Prices_Request", "Prices_Reply",
                                  request, reply, &requester_) == TW_OK);
        CHECK(tw_requester_wait_for_service(requester_, PATIENCE.count()) == TW_OK);
        tw_delete(request);
        tw_delete(reply);
    }
    ~Stranger() { tw_delete(requester_); }

    /* A member of this id with some number. */
    void ask(std::uint32_t id, std::uint32_t value)
    {
        const auto payload = tickwire::rpc::detail::encoded(
            "a request", id, tickwire::rpc::detail::NEXT_INT,
            [&](tw_cdr_writer *w) { return tw_cdr_write_uint32(w, value); });
        tw_samples reply;
        CHECK(tw_requester_call(requester_, payload.data, payload.size, PATIENCE.count(), &reply) == TW_OK);
        tw_samples_return(&reply);
    }
    void tell(const std::string &bytes)
    {
        CHECK(tw_requester_tell(requester_, bytes.data(), bytes.size()) == TW_OK);
    }

private:
    tw_requester *requester_;
};

int main(int argc, char **argv)
{
    try {
        dds::domain::DomainParticipant one(static_cast<std::uint32_t>(std::atoi(argc > 1 ? argv[1] : "0"))),
            two(one.domain_id());
        test::PricesService service(one, "Prices", std::make_shared<Book>());
        test::PricesClient prices(two, "Prices", PATIENCE);
        CHECK(prices.price("TICK") == 1.5);
        try {
            prices.price("closed");
            CHECK(false);
        } catch (const test::Closed &closed) {
            CHECK(closed.reason() == "holiday");
        }
        CHECK(refusal(prices, "refused") == RemoteExceptionCode::OUT_OF_RESOURCES);
        CHECK(refusal(prices, "fault") == RemoteExceptionCode::UNKNOWN_EXCEPTION);
        prices.note("nobody hears of it");
        Stranger stranger(two);
        stranger.ask(1, 7);
        stranger.tell(std::string("\x00\x0b\x00\x00\x63\x00\x00\x00", 8));
        /* The text has not so many bytes. */
        stranger.ask(test::PricesWire::operations[0].id, 99);
        prices.ping();
        const auto counters = service.counters();
        CHECK(counters.requests == 8);
        CHECK(counters.returned == 2 && counters.raised == 1 && counters.told == 1);
        CHECK(counters.unknown_operations == 1 && counters.refused == 2 && counters.failures == 1);
        CHECK(counters.unsent == 0 && counters.undecodable == 1);
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "services.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
