/* Writes market data and quote requests, waits for the echo of each, and tells the mean latency.
 *
 *     typed_publisher [-num MESSAGES] [-ns SUBSCRIBERS] [-domain DOMAIN]
 */
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "typed.hpp"

using MiddlewareNewsBrief::DoneToken;
using MiddlewareNewsBrief::MarketData;
using MiddlewareNewsBrief::MarketDataEntry;
using MiddlewareNewsBrief::QuoteRequest;
using MiddlewareNewsBrief::RelatedSym;

/* One kind of message, and its echo. */
template <class T>
class Messages {
public:
    Messages(const dds::pub::Publisher &publisher, const dds::sub::Subscriber &subscriber, const std::string &name)
        : writer_(writer<T>(publisher, name)), echo_(reader<T>(subscriber, name + " echo"))
    {
        wait_set_ += dds::sub::cond::ReadCondition(echo_, dds::sub::status::DataState::any());
    }
    void wait_for(std::uint32_t subscribers)
    {
        writer_.wait_for_matched(subscribers, dds::core::Duration(60));
        echo_.wait_for_matched(subscribers, dds::core::Duration(60));
    }
    /* Writes a message, and waits until each subscriber has sent it back. */
    void round_trip(T &message, std::uint32_t counter, std::uint32_t subscribers)
    {
        message.is_echo(false);
        message.counter(counter);
        writer_.write(message);
        for (std::uint32_t heard = 0; heard < subscribers;) {
            wait_set_.wait(dds::core::Duration(60));
            heard += echo_.take(&sample_, 1);
            if (sample_.info().valid() && (!sample_.data().is_echo() || sample_.data().counter() != counter))
                std::cerr << "reply isEcho or counter mismatch" << std::endl;
        }
    }

private:
    dds::pub::DataWriter<T> writer_;
    dds::sub::DataReader<T> echo_;
    dds::core::cond::WaitSet wait_set_;
    dds::sub::Sample<T> sample_;
};

static MarketData create_market_data()
{
    MarketData md;
    md.securityID(12345);
    md.applVersionID("1.0");
    md.messageType("X");
    md.senderCompID("CME");
    md.mdEntries().resize(2);
    for (MarketDataEntry &entry : md.mdEntries()) {
        entry.securityID(12345);
        entry.mdEntryType("0");
        entry.mdEntryPx(102.5);
        entry.mdEntrySize(10);
        entry.tradeCondition("E");
    }
    return md;
}

static QuoteRequest create_quote_request()
{
    QuoteRequest qr;
    qr.securityID(12345);
    qr.quoteReqID("request");
    qr.related().push_back(RelatedSym("GEZ9", 25, 1, 0, 1, 12345, 8));
    return qr;
}

int main(int argc, char **argv)
{
    std::uint32_t num_messages = 10000, num_subscribers = 1, domain = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        const auto value = static_cast<std::uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
        if (name == "-num")
            num_messages = value;
        else if (name == "-ns")
            num_subscribers = value;
        else if (name == "-domain")
            domain = value;
    }
    std::cout << "Number of messages is " << num_messages << std::endl;
    try {
        dds::domain::DomainParticipant participant(domain);
        dds::pub::Publisher publisher(participant);
        dds::sub::Subscriber subscriber(participant);
        dds::pub::DataWriter<DoneToken> done = writer<DoneToken>(publisher, "DoneToken");
        Messages<MarketData> market_data(publisher, subscriber, "MarketData");
        Messages<QuoteRequest> quote_requests(publisher, subscriber, "QuoteRequest");
        std::cerr << "waiting for " << num_subscribers << " of typed_subscriber, for a minute at most" << std::endl;
        market_data.wait_for(num_subscribers);
        quote_requests.wait_for(num_subscribers);
        done.wait_for_matched(num_subscribers, dds::core::Duration(60));

        MarketData md = create_market_data();
        QuoteRequest qr = create_quote_request();
        std::cout << "Writing..." << std::endl;
        const auto start = std::chrono::steady_clock::now();
        for (std::uint32_t i = 0; i < num_messages; i++) {
            if (i % 10 == 5)
                quote_requests.round_trip(qr, i, num_subscribers);
            else
                market_data.round_trip(md, i, num_subscribers);
        }
        const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
        std::cout << "Average latency in milliseconds: " << taken.count() / (num_messages * 2.0) / num_subscribers
                  << std::endl;

        done.write(DoneToken("done"));
        publisher.flush();
        done.wait_for_acknowledgments(dds::core::Duration(60));
    } catch (const dds::core::Exception &e) {
        std::cerr << "Exception: " << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
