/* Sends back market data and quote requests, until the publisher is done.
 *
 *     typed_subscriber [-domain DOMAIN]
 */
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "typed.hpp"

using MiddlewareNewsBrief::DoneToken;
using MiddlewareNewsBrief::MarketData;
using MiddlewareNewsBrief::QuoteRequest;

/* Sends each message of one kind back. */
template <class T>
class Echo {
public:
    Echo(const dds::sub::Subscriber &subscriber, const dds::pub::Publisher &publisher, const std::string &name)
        : reader_(reader<T>(subscriber, name)), writer_(writer<T>(publisher, name + " echo")),
          news_(reader_, dds::sub::status::DataState::any(), [this] { answer(); })
    {
    }
    const dds::sub::cond::ReadCondition &news() const { return news_; }
    std::uint64_t count() const { return count_; }

private:
    void answer()
    {
        while (reader_.take(&sample_, 1) > 0) {
            if (!sample_.info().valid())
                continue;
            sample_.data().is_echo(true);
            writer_.write(sample_.data());
            count_++;
        }
    }

    dds::sub::DataReader<T> reader_;
    dds::pub::DataWriter<T> writer_;
    dds::sub::cond::ReadCondition news_;
    dds::sub::Sample<T> sample_;
    std::uint64_t count_ = 0;
};

int main(int argc, char **argv)
{
    const bool named = argc > 2 && std::strcmp(argv[1], "-domain") == 0;
    try {
        dds::domain::DomainParticipant participant(named ? std::strtoul(argv[2], nullptr, 10) : 0);
        dds::pub::Publisher publisher(participant);
        dds::sub::Subscriber subscriber(participant);
        dds::sub::DataReader<DoneToken> done = reader<DoneToken>(subscriber, "DoneToken");
        Echo<MarketData> market_data(subscriber, publisher, "MarketData");
        Echo<QuoteRequest> quote_requests(subscriber, publisher, "QuoteRequest");

        bool is_done = false;
        dds::sub::cond::ReadCondition end(done, dds::sub::status::DataState::any(), [&] {
            for (const auto &sample : done.take())
                is_done = is_done || (sample.info().valid() && sample.data().text() == "done");
        });
        dds::core::cond::WaitSet wait_set;
        wait_set += market_data.news();
        wait_set += quote_requests.news();
        wait_set += end;
        std::cerr << "waiting for typed_publisher, for a minute at most" << std::endl;
        while (!is_done)
            wait_set.dispatch(dds::core::Duration(60));
        std::cout << "Echoed " << market_data.count() << " MarketData, " << quote_requests.count() << " QuoteRequest"
                  << std::endl;
    } catch (const dds::core::Exception &e) {
        std::cerr << "Exception: " << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
