/// ZeroC Ice: publishers call an operation oneway on a topic of IceStorm, which calls the subscribers.
/// Echoes go through a topic of their own.

#include <Ice/Ice.h>
#include <IceStorm/IceStorm.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "broker.hpp"
#include "lab.hpp"
#include "payload.hpp"

namespace {

/// The subscriber's object: hands what IceStorm calls it with to whoever runs.
class Subscriber : public Feeds::Feed {
public:
    explicit Subscriber(lab::Listener<Received>& listener) : listener_(listener) {}

    void publishBytes(std::pair<const Ice::Byte*, const Ice::Byte*> payload, const Ice::Current&) override {
        deliver(payload.first, payload.second);
    }

    void publishFloats(std::pair<const float*, const float*> payload, const Ice::Current&) override {
        deliver(reinterpret_cast<const uint8_t*>(payload.first),
                reinterpret_cast<const uint8_t*>(payload.second));
    }

    void publishRecords(Feeds::Records payload, const Ice::Current&) override {
        Received received;
        received.records = &payload;
        listener_.deliver(received);
    }

private:
    void deliver(const uint8_t* begin, const uint8_t* end) {
        Received received;
        received.bytes = {begin, static_cast<size_t>(end - begin)};
        listener_.deliver(received);
    }

    lab::Listener<Received>& listener_;
};

class Peer {
public:
    using Message = Received;

    explicit Peer(const lab::Options& options)
        : options_(options), communicator_(communicate(options)), ice_(communicator_) {
        if (options.payload == lab::Payload::typed) throw lab::BadOption("cannot do '--payload typed'");
        options.refuse_poll();
        options.refuse_answers_to_many();
        const auto feed = topic("feed"), echoes = topic("echo");
        heard_ = options.is_passive() ? feed : echoes;
        spoken_ = options.is_passive() ? echoes : feed;
        const auto publisher = spoken_->getPublisher()->ice_oneway();
        publisher_ = std::make_unique<Publisher>(options, Ice::uncheckedCast<Feeds::FeedPrx>(publisher));

        const auto adapter = communicator_->createObjectAdapterWithEndpoints("Feed", "tcp -h " + options.here);
        const auto subscriber = adapter->addWithUUID(std::make_shared<Subscriber>(listener_));
        adapter->activate();
        if (options.is_passive() || options.has_answers()) {
            heard_->subscribeAndGetPublisher({}, subscriber->ice_oneway());
        }
    }

    ~Peer() { listener_.close(); }

    /// Waits until all have subscribed to what this one publishes.
    void meet() {
        const bool answers = options_.has_answers() && options_.responds();
        if (options_.is_passive() && !answers) return;
        const size_t expected = options_.is_passive() ? options_.publishers : options_.subscribers;
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        while (spoken_->getSubscribers().size() < expected) {
            const bool is_late = std::chrono::steady_clock::now() > deadline;
            if (is_late) throw std::runtime_error("not all have subscribed");
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    void send(uint64_t number, uint64_t time) { publisher_->send(number, time); }

    void echo(const Received& message) { publisher_->send(message); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        listener_.run(idle, handler);
    }

    std::optional<uint64_t> encoded_bytes() const { return std::nullopt; }

    lab::Settings settings() const {
        return {{"Ice.MessageSizeMax", "0"},
                {"Ice.ThreadPool.Server.Size", std::to_string(options_.threads.value_or(1))},
                {"IceStorm.Transient", "1"}};
    }

private:
    static std::shared_ptr<Ice::Communicator> communicate(const lab::Options& options) {
        Ice::InitializationData data;
        data.properties = Ice::createProperties();
        const std::string threads = std::to_string(options.threads.value_or(1));
        data.properties->setProperty("Ice.MessageSizeMax", "0");
        data.properties->setProperty("Ice.ThreadPool.Server.Size", threads);
        data.properties->setProperty("Ice.ThreadPool.Server.SizeMax", threads);
        return Ice::initialize(data);
    }

    /// The topic of this name, made by whoever comes first.
    std::shared_ptr<IceStorm::TopicPrx> topic(const std::string& name) {
        const std::string where = "IceStorm/TopicManager:" + manager_endpoint(options_);
        const auto proxy = communicator_->stringToProxy(where);
        const auto manager = Ice::uncheckedCast<IceStorm::TopicManagerPrx>(proxy);
        try {
            return manager->create(name);
        } catch (const IceStorm::TopicExists&) {
            return manager->retrieve(name);
        }
    }

    const lab::Options& options_;
    lab::Listener<Received> listener_;
    std::shared_ptr<Ice::Communicator> communicator_;
    Ice::CommunicatorHolder ice_;
    std::shared_ptr<IceStorm::TopicPrx> heard_, spoken_;
    std::unique_ptr<Publisher> publisher_;
};

}  // namespace

int main(int argc, char** argv) {
    lab::Parser parser;
    return lab::main(argc, argv, parser, [](const lab::Options& options) -> std::optional<lab::Answer> {
        if (options.job == lab::Job::broker) {
            run_broker(options);
            return std::nullopt;
        }
        options.refuse_job_without_peer();
        Peer peer(options);
        return lab::run(options, ICE_STRING_VERSION, peer);
    });
}
