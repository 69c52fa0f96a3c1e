/* Request and reply: two topics, and what a reply says of the request that it answers.
 *
 * A request is known by its writer and its number there, which every sample has; the reply repeats both. The client reads
 * replies to its own requests alone, as their writer is part of the key.
 *
 *     request_reply [DOMAIN]
 */
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <dds/dds.hpp>

#include "RequestReply.hpp"

static const dds::core::Duration PATIENCE(60);

static dds::topic::qos::TopicQos all()
{
    dds::topic::qos::TopicQos qos;
    qos << dds::core::policy::Reliability::Reliable() << dds::core::policy::History::KeepAll();
    return qos;
}

/* A reply that is written before its client's reader is known waits for it. */
static dds::topic::qos::TopicQos kept()
{
    return all() << dds::core::policy::Durability::TransientLocal();
}

static std::string name(const dds::core::InstanceHandle &handle)
{
    std::ostringstream name;
    name << handle;
    return name.str();
}

/* Answers on a thread of its participant's, until it ends. */
class Server : dds::sub::NoOpDataReaderListener<desk::Request> {
public:
    explicit Server(const dds::domain::DomainParticipant &participant)
        : replies_(dds::pub::Publisher(participant), dds::topic::Topic<desk::Reply>(participant, "Replies"),
                   dds::pub::qos::DataWriterQos(kept()) << dds::core::policy::Lifespan(dds::core::Duration(10))),
          requests_(dds::sub::Subscriber(participant), dds::topic::Topic<desk::Request>(participant, "Requests"), all(),
                    this, dds::core::status::StatusMask::data_available())
    {
    }

private:
    void on_data_available(dds::sub::DataReader<desk::Request> &requests) override
    {
        for (const auto &request : requests.take())
            if (request.info().valid())
                replies_ << desk::Reply(name(request.info().publication_handle()), request.info().sequence_number(),
                                        101.25 * request.data().quantity());
    }

    dds::pub::DataWriter<desk::Reply> replies_;
    dds::sub::DataReader<desk::Request> requests_;
};

class Client {
public:
    explicit Client(const dds::domain::DomainParticipant &participant)
        : requests_(dds::pub::Publisher(participant), dds::topic::Topic<desk::Request>(participant, "Requests"), all()),
          mine_(dds::topic::Topic<desk::Reply>(participant, "Replies"), "My replies",
                dds::topic::Filter("client = %0").add_parameter("'" + name(requests_.instance_handle()) + "'")),
          replies_(dds::sub::Subscriber(participant), mine_, kept()),
          news_(replies_, dds::sub::status::DataState::any())
    {
        answered_ += news_;
        requests_.wait_for_matched(1, PATIENCE);
    }

    /* Throws TimeoutError if there is no answer in time. */
    double price(const std::string &symbol, std::int32_t quantity)
    {
        requests_ << desk::Request(symbol, quantity);
        asked_++;
        for (;;) {
            answered_.wait(PATIENCE);
            for (const auto &reply : replies_.take())
                if (reply.info().valid() && reply.data().number() == asked_)
                    return reply.data().price();
        }
    }

private:
    dds::pub::DataWriter<desk::Request> requests_;
    /* Samples are counted from 1 on. */
    std::int64_t asked_ = 0;
    dds::topic::ContentFilteredTopic<desk::Reply> mine_;
    dds::sub::DataReader<desk::Reply> replies_;
    dds::sub::cond::ReadCondition news_;
    dds::core::cond::WaitSet answered_;
};

int main(int argc, char **argv)
{
    try {
        const auto domain = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::domain::DomainParticipant exchange(domain), desk(domain);
        Server server(exchange);
        Client client(desk);
        for (const int quantity : {1, 100})
            std::cout << quantity << " cost " << client.price("TICK", quantity) << std::endl;
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
