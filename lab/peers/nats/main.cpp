/// NATS: publishers send to nats-server, which sends to all who have subscribed. Echoes have a subject of
/// their own.

#include <chrono>
#include <optional>
#include <string>

#include "broker.hpp"
#include "connection.hpp"
#include "lab.hpp"

namespace {

class Peer {
public:
    using Message = lab::Bytes;

    explicit Peer(const lab::Options& options)
        : options_(options), content_(options), connection_(options) {
        if (options.payload != lab::Payload::bytes) throw lab::BadOption("can do '--payload bytes' only");
        options.refuse_poll();
        options.refuse_answers_to_many();
        if (options.is_passive() || options.has_answers()) connection_.subscribe(heard());
        connection_.synchronize();
    }

    /// The server knows all subscriptions: who is passive is ready when it does.
    void meet() {}

    void send(uint64_t number, uint64_t time) { publish(content_.prepare(number, time)); }

    void echo(const lab::Bytes& message) { publish(content_.prepare_echo(message)); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        connection_.flush();
        auto patience = idle.first;
        while (const auto bytes = connection_.take(patience)) {
            if (handler.take(content_.read(*bytes)) == lab::Flow::stop) return;
            patience = idle.between;
        }
    }

    /// Has the server take what has been sent.
    void finish() { connection_.synchronize(); }

    /// Of the server, and of the client, which is the protocol by hand and has none.
    std::string version() const {
        return "nats-server " + connection_.server_version() + ", client: protocol 1 by hand";
    }

    std::optional<uint64_t> encoded_bytes() const { return sent_.get(); }

    lab::Settings settings() const {
        return {{"max_payload", std::to_string(MAX_PAYLOAD)},
                {"max_pending", std::to_string(MAX_PENDING)},
                {"bytes a write", std::to_string(gathers() ? GATHERED : 0)}};
    }

private:
    /// Bytes that are written at once.
    static constexpr size_t GATHERED = 1 << 16;

    const std::string& heard() const { return options_.is_passive() ? feed_ : echoes_; }
    const std::string& spoken() const { return options_.is_passive() ? echoes_ : feed_; }

    /// Whether messages may wait for others that go with them.
    bool gathers() const { return options_.job == lab::Job::send && !options_.rate; }

    /// Sends what the content has prepared.
    void publish(size_t len) {
        content_.write(connection_.begin(spoken(), len));
        sent_.add(len);
        if (!gathers() || connection_.pending() >= GATHERED) connection_.flush();
    }

    const lab::Options& options_;
    const std::string feed_ = "feed", echoes_ = "echo";
    lab::ByteContent content_;
    Connection connection_;
    lab::MeanLen sent_;
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
        lab::Answer answer = lab::run(options, peer.version(), peer);
        if (options.job == lab::Job::send) peer.finish();
        return answer;
    });
}
