/* Request and reply: an interface of IDL, a service that implements it, and a client that calls it.
 *
 *     request_reply [DOMAIN]
 */
#include <cstdlib>
#include <iostream>

#include <dds/dds.hpp>

#include "RequestReply.hpp"

static const dds::core::Duration PATIENCE(60);

/* Answers on a thread of its service's. */
class Exchange : public desk::Desk {
public:
    double cost(const std::string &symbol, std::int32_t quantity) override
    {
        if (symbol != "TICK" || is_closed_)
            throw desk::UnknownSecurity(symbol);
        return 101.25 * quantity;
    }
    void close_of_trading() override { is_closed_ = true; }

private:
    bool is_closed_ = false;
};

static void ask(desk::Desk &desk, const std::string &symbol, std::int32_t quantity)
{
    try {
        const double cost = desk.cost(symbol, quantity);
        std::cout << quantity << " cost " << cost << std::endl;
    } catch (const desk::UnknownSecurity &unknown) {
        std::cout << "unknown: " << unknown.symbol() << std::endl;
    }
}

int main(int argc, char **argv)
{
    try {
        const auto domain = static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
        dds::domain::DomainParticipant exchange(domain), trader(domain);
        desk::DeskService service(exchange, "Desk", std::make_shared<Exchange>());
        desk::DeskClient desk(trader, "Desk", PATIENCE);
        ask(desk, "TICK", 1);
        ask(desk, "TICK", 100);
        ask(desk, "TOCK", 1);
        desk.close_of_trading();
        ask(desk, "TICK", 1);
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
