/// The command line that all programs understand.
#pragma once

#include <arpa/inet.h>
#include <sched.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace lab {

/// An option that nobody knows, or a value that cannot be done.
struct BadOption : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads `--name value` and `--name=value` into variables.
class Parser {
public:
    template <class Number>
    void number(const std::string& name, Number& value, Number min = 0,
                Number max = std::numeric_limits<Number>::max()) {
        options_[name] = [=, &value](const std::string& text) {
            value = read_number(name, text, min, max);
        };
    }

    template <class Number>
    void number(const std::string& name, std::optional<Number>& value, Number min = 0) {
        options_[name] = [=, &value](const std::string& text) {
            value = read_number(name, text, min, std::numeric_limits<Number>::max());
        };
    }

    void text(const std::string& name, std::string& value) {
        options_[name] = [&value](const std::string& text) { value = text; };
    }

    template <class Value>
    void choice(const std::string& name, Value& value, std::map<std::string, Value> choices) {
        options_[name] = [=, &value](const std::string& text) {
            const auto choice = choices.find(text);
            if (choice == choices.end()) throw bad(name, text);
            value = choice->second;
        };
    }

    /// An IPv4 address in digits.
    void address(const std::string& name, std::string& value) {
        options_[name] = [=, &value](const std::string& text) {
            in_addr address;
            if (inet_pton(AF_INET, text.c_str(), &address) != 1) throw bad(name, text);
            value = text;
        };
    }

    /// Reads all; `required` have to be there.
    void parse(int argc, char** argv, const std::set<std::string>& required) {
        auto missing = required;
        for (int at = 1; at < argc; ++at) {
            std::string name = argv[at];
            if (name.compare(0, 2, "--") != 0) throw BadOption("unexpected argument '" + name + "'");
            name.erase(0, 2);
            std::string value;
            if (const auto equals = name.find('='); equals != std::string::npos) {
                value = name.substr(equals + 1);
                name.erase(equals);
            } else if (++at < argc) {
                value = argv[at];
            } else {
                throw BadOption("a value is required for '--" + name + "'");
            }
            const auto option = options_.find(name);
            if (option == options_.end()) throw BadOption("unexpected argument '--" + name + "'");
            option->second(value);
            missing.erase(name);
        }
        if (!missing.empty()) throw BadOption("'--" + *missing.begin() + "' is required");
    }

private:
    static BadOption bad(const std::string& name, const std::string& value) {
        return BadOption("invalid value '" + value + "' for '--" + name + "'");
    }

    template <class Number>
    static Number read_number(const std::string& name, const std::string& text, Number min, Number max) {
        Number number{};
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc() || stop != end || number < min || number > max) throw bad(name, text);
        return number;
    }

    std::map<std::string, std::function<void(const std::string&)>> options_;
};

/// What a process does.
enum class Job {
    /// Sends a message, waits for its echoes, sends the next.
    ping,
    /// Echoes.
    pong,
    /// Sends messages.
    send,
    /// Receives them.
    receive,
    /// Encodes and decodes typed messages without sending them.
    codec,
    /// Forwards what others send.
    broker,
};

/// What messages are.
enum class Payload {
    bytes,
    /// MarketData and QuoteRequest of the first article.
    typed,
    /// An array of f32.
    floats,
    /// An array of structures of 28 bytes.
    structs,
};

/// Which typed messages there are, and how often.
enum class Mix {
    /// Nine MarketData, one QuoteRequest.
    equal,
    /// As the article's program of the system had it.
    published,
    market_data,
    quote_request,
};

/// Which subscribers echo.
enum class Responders { all, one };

/// How a process waits for messages: sleeps until the system wakes it, or asks again and again.
enum class Wait { block, poll };

/// How long nothing may come.
struct Idle {
    /// Until the first message.
    std::chrono::milliseconds first;
    /// After it.
    std::chrono::milliseconds between;
};

/// How long the other side may take to come.
constexpr std::chrono::seconds PATIENCE{30};

/// What the runner asks of a program.
struct Options {
    std::string system;
    Job job = Job::ping;
    /// Length of a payload in bytes.
    uint32_t size = 64;
    Payload payload = Payload::bytes;
    Mix mix = Mix::equal;
    /// Messages to measure, and before them.
    uint64_t count = 10'000, warmup = 1'000;
    uint32_t publishers = 1, subscribers = 1;
    /// Which one of its kind this is.
    uint32_t index = 0;
    Responders responders = Responders::all;
    /// Messages in a burst; after each the sender waits for one answer.
    std::optional<uint64_t> demand;
    /// Messages a second, by the clock.
    std::optional<uint64_t> rate;
    Wait wait = Wait::block;
    /// Threads of the system, where it has such an option.
    std::optional<uint32_t> threads;
    std::optional<uint32_t> core;
    /// The first of 20 free ports.
    uint16_t first_port = 17'000;
    /// This process's own address, where it listens and which interface it uses, and that of the other side.
    std::string here = "127.0.0.1", there = "127.0.0.1";
    /// An empty folder of this run.
    std::string dir = ".";
    /// Longest datagram in bytes, with its IP header, that is lost as a whole or not at all.
    std::optional<uint32_t> mtu;
    /// Seconds without a message after which the rest counts as lost.
    uint32_t idle_seconds = 2;

    void read(Parser& parser, int argc, char** argv);

    /// Binds the process, with the threads that are to come, to its core.
    void bind() const {
        if (!core) return;
        cpu_set_t set;
        CPU_ZERO(&set);
        if (*core < CPU_SETSIZE) CPU_SET(*core, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0) {
            throw std::runtime_error("cannot be bound to core " + std::to_string(*core) + ": " +
                                     std::strerror(errno));
        }
    }

    /// Whether it is there first, and hears before it sends.
    bool is_passive() const { return job == Job::pong || job == Job::receive; }

    /// Whether anything goes back to the publishers.
    bool has_answers() const { return job == Job::ping || job == Job::pong || demand; }

    /// How many echoes a ping waits for.
    uint32_t echoes() const { return responders == Responders::all ? subscribers : 1; }

    /// Whether this process echoes pings, or answers bursts.
    bool responds() const {
        return index == 0 || (job == Job::pong && responders == Responders::all);
    }

    /// Messages of one publisher, warm-up included.
    uint64_t total() const { return warmup + count; }

    /// Length of a payload: the size, rounded down to whole elements.
    size_t len() const { return size / element() * element(); }

    /// Length of one element of a payload.
    size_t element() const {
        return payload == Payload::floats ? 4 : payload == Payload::structs ? 28 : 1;
    }

    /// Port number `at` of this run.
    uint16_t port(uint32_t at) const {
        if (at >= 20 || first_port + at > 65'535) throw BadOption("needs more than 20 ports");
        return static_cast<uint16_t>(first_port + at);
    }

    /// Where the broker is: with the passive side.
    const std::string& broker() const { return is_passive() || job == Job::broker ? here : there; }

    /// A DDS domain of this run, low enough that its ports are below those that the kernel gives away (32768).
    uint32_t domain() const { return first_port / 20 % 100; }

    Idle idle() const { return {PATIENCE, std::chrono::seconds(idle_seconds)}; }

    /// Name of the job, as in the answer.
    std::string job_name() const {
        for (const auto& [name, value] : jobs()) {
            if (value == job) return name;
        }
        return {};
    }

    /// For what is done with messages that are sent.
    void refuse_job_without_peer() const {
        if (job == Job::codec || job == Job::broker) throw BadOption("cannot do '--job " + job_name() + "'");
    }

    /// For systems that cannot wait otherwise.
    void refuse_poll() const {
        if (wait == Wait::poll) throw BadOption("cannot do '--wait poll'");
    }

    /// For systems without such an option.
    void refuse_threads() const {
        if (threads && *threads > 1) throw BadOption("cannot do '--threads': it has no such option");
    }

    /// For systems whose echoes go to all publishers.
    void refuse_answers_to_many() const {
        if (publishers > 1 && has_answers()) throw BadOption("cannot answer several publishers");
    }

private:
    static std::map<std::string, Job> jobs() {
        return {{"ping", Job::ping},       {"pong", Job::pong},   {"send", Job::send},
                {"receive", Job::receive}, {"codec", Job::codec}, {"broker", Job::broker}};
    }
};

inline void Options::read(Parser& parser, int argc, char** argv) {
    parser.text("system", system);
    parser.choice("job", job, jobs());
    parser.number("size", size, 1U);
    parser.choice<Payload>("payload", payload,
                           {{"bytes", Payload::bytes},
                            {"typed", Payload::typed},
                            {"floats", Payload::floats},
                            {"structs", Payload::structs}});
    parser.choice<Mix>("mix", mix,
                       {{"equal", Mix::equal},
                        {"published", Mix::published},
                        {"marketdata", Mix::market_data},
                        {"quoterequest", Mix::quote_request}});
    parser.number("count", count);
    parser.number("warmup", warmup);
    parser.number("publishers", publishers, 1U, 255U);
    parser.number("subscribers", subscribers, 1U, 255U);
    parser.number("index", index, 0U, 255U);
    parser.choice<Responders>("responders", responders,
                              {{"all", Responders::all}, {"one", Responders::one}});
    parser.number<uint64_t>("demand", demand, 1);
    parser.number<uint64_t>("rate", rate, 1);
    parser.choice<Wait>("wait", wait, {{"block", Wait::block}, {"poll", Wait::poll}});
    parser.number<uint32_t>("threads", threads, 1);
    parser.number("core", core);
    parser.number("port", first_port);
    parser.address("here", here);
    parser.address("there", there);
    parser.text("dir", dir);
    parser.number<uint32_t>("mtu", mtu, 576);
    parser.number("idle", idle_seconds);
    parser.parse(argc, argv, {"system", "job"});

    if (len() == 0) throw BadOption("--size is less than one element");
    const bool has_publisher = payload != Payload::typed && len() >= 16;
    if (publishers > 1 && !has_publisher) {
        throw BadOption("messages of several publishers need 16 bytes for their numbers");
    }
}

}  // namespace lab
