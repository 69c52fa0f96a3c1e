/* A service and a client in C++ of the interface Desk (services.py says what they do). */
#include <algorithm>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>

#include <services.hpp>

using tickwire::rpc::RemoteError;
using tickwire::rpc::RemoteExceptionCode;

/* Longer than a program takes to start. */
static const dds::core::Duration PATIENCE(20);

/* Knows one security. */
class Book : public Desk {
public:
    std::string get_version() override { return "1.2"; }
    void ping() override {}
    double price(const std::string &security) override
    {
        if (security == "TICK")
            return 101.25;
        if (security == "OLD")
            throw market::Closed("delisted");
        if (security.empty())
            throw RemoteError(RemoteExceptionCode::INVALID_ARGUMENT);
        if (security == "FAULT")
            throw std::runtime_error("a fault");
        if (subscribed_.count({security, "last"}) == 0)
            throw market::Unknown();
        return 1.0;
    }
    std::vector<market::Level> levels(const std::string &security, market::QuotesTypes::Side side, std::int32_t &count,
                                      bool &more) override
    {
        if (security != "TICK")
            throw market::Unknown();
        const int sign = side == market::QuotesTypes::Side::BID ? -1 : 1;
        const std::int32_t given = std::max(std::min(count, 2), 0);
        std::vector<market::Level> levels;
        for (std::int32_t level = 0; level < given; level++)
            levels.emplace_back(101.25 + sign * level / 4.0, 100);
        more = given < count;
        count = given;
        return levels;
    }
    void subscribe(const std::string &security, const std::string &type) override
    {
        subscribed_.insert({security, type});
    }
    std::uint8_t type(std::uint8_t self) override { return static_cast<std::uint8_t>(self + 1); }
    std::int32_t get_depth() override { return depth_; }
    void set_depth(std::int32_t depth) override { depth_ = depth; }
    std::uint64_t now() override { throw RemoteError(RemoteExceptionCode::UNSUPPORTED); }
    void halt(bool all) override
    {
        if (!all)
            throw market::Closed();
    }

private:
    std::int32_t depth_ = 0;
    std::set<std::pair<std::string, std::string>> subscribed_;
};

/* What comes of a call, as text. */
template <class Ask>
static std::string outcome(Ask ask)
{
    std::ostringstream said;
    try {
        ask(said);
    } catch (const market::Closed &closed) {
        said << closed.what() << "(" << closed.reason() << ")";
    } catch (const market::Unknown &unknown) {
        said << unknown.what();
    } catch (const RemoteError &error) {
        said << "remote " << static_cast<int>(error.code());
    }
    return said.str();
}

#define SAYS(CALL) [&](std::ostream &said) { said << CALL; }
#define DOES(CALL) [&](std::ostream &said) { CALL, said << "done"; }

/* Calls every operation, in every way that it can end. */
static std::string call(const dds::domain::DomainParticipant &participant, const std::string &name)
{
    DeskClient desk(participant, "Desk_" + name, PATIENCE);
    const auto levels = [&](const char *security) {
        return [&desk, security](std::ostream &said) {
            std::int32_t count = 5;
            bool more = false;
            for (const market::Level &level : desk.levels(security, market::QuotesTypes::Side::BID, count, more))
                said << level.price() << "x" << level.size() << " ";
            said << count << " " << more;
        };
    };
    const std::pair<std::string, std::string> outcomes[] = {
        {"1.2", outcome(SAYS(desk.get_version()))},
        {"done", outcome(DOES(desk.ping()))},
        {"done", outcome(DOES(desk.set_depth(7)))},
        {"7", outcome(SAYS(desk.get_depth()))},
        {"101.25", outcome(SAYS(desk.price("TICK")))},
        {"market::Closed(delisted)", outcome(SAYS(desk.price("OLD")))},
        {"market::Unknown", outcome(SAYS(desk.price("X")))},
        {"remote 2", outcome(SAYS(desk.price("")))},
        {"remote 5", outcome(SAYS(desk.price("FAULT")))},
        {"101.25x100 101x100 2 1", outcome(levels("TICK"))},
        {"market::Unknown", outcome(levels("X"))},
        {"done", outcome(DOES(desk.subscribe("cpp", "last")))},
        {"1", outcome(SAYS(desk.price("cpp")))},
        {"5", outcome(SAYS(static_cast<int>(desk.type(4))))},
        {"remote 1", outcome(SAYS(desk.now()))},
        {"done", outcome(DOES(desk.halt(true)))},
        {"market::Closed()", outcome(DOES(desk.halt(false)))},
    };
    for (const auto &[expected, found] : outcomes)
        if (found != expected)
            return found + ", not " + expected;
    return "ok";
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    try {
        dds::domain::DomainParticipant participant(0);
        if (argv[1] == std::string("serve")) {
            DeskService service(participant, "Desk_" + std::string(argv[2]), std::make_shared<Book>());
            std::cin.ignore(std::numeric_limits<std::streamsize>::max());
            return EXIT_SUCCESS;
        }
        std::istringstream names(argv[2]);
        for (std::string name; std::getline(names, name, ',');)
            std::cout << name << " " << call(participant, name) << std::endl;
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    } catch (const dds::core::Exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
