/// nng's publish/subscribe protocol. Subscribers listen, publishers dial, as in the programs of ZeroMQ.

#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "lab.hpp"

namespace {

using std::chrono::milliseconds;

/// Messages in a queue, the most that nng takes.
constexpr int QUEUE_LEN = 8192;

void check(int result, const std::string& what) {
    if (result != 0) throw std::runtime_error(what + ": " + nng_strerror(result));
}

struct Free {
    void operator()(nng_msg* message) const { nng_msg_free(message); }
};
using OwnedMessage = std::unique_ptr<nng_msg, Free>;

/// A socket that knows how many others it is connected to.
class Socket {
public:
    explicit Socket(int (*open)(nng_socket*)) {
        check(open(&socket_), "open");
        check(nng_pipe_notify(socket_, NNG_PIPE_EV_ADD_POST, count, this), "notify");
        set_ms(NNG_OPT_RECONNMINT, milliseconds(10));
        check(nng_socket_set_size(socket_, NNG_OPT_RECVMAXSZ, 0), NNG_OPT_RECVMAXSZ);
    }

    ~Socket() { nng_close(socket_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    void set(const char* option, int value) { check(nng_socket_set_int(socket_, option, value), option); }

    void set_ms(const char* option, milliseconds value) {
        check(nng_socket_set_ms(socket_, option, static_cast<nng_duration>(value.count())), option);
    }

    void subscribe(const std::string& topic) {
        check(nng_socket_set(socket_, NNG_OPT_SUB_SUBSCRIBE, topic.data(), topic.size()), "subscribe");
    }

    void listen(const std::string& url) { check(nng_listen(socket_, url.c_str(), nullptr, 0), url); }
    void dial(const std::string& url) { check(nng_dial(socket_, url.c_str(), nullptr, 0), url); }

    /// Waits until it is connected to so many.
    void meet(uint32_t others) {
        std::unique_lock lock(mutex_);
        const auto are_there = [&] { return connected_ >= others; };
        if (!changed_.wait_for(lock, lab::PATIENCE, are_there)) {
            throw std::runtime_error("not all have connected");
        }
    }

    void send(OwnedMessage message) {
        check(nng_sendmsg(socket_, message.get(), 0), "send");
        static_cast<void>(message.release());
    }

    /// The next message; none if there is none in time.
    OwnedMessage receive(int flags) {
        nng_msg* message = nullptr;
        const int result = nng_recvmsg(socket_, &message, flags);
        if (result != NNG_EAGAIN && result != NNG_ETIMEDOUT) check(result, "receive");
        return OwnedMessage(message);
    }

private:
    static void count(nng_pipe, nng_pipe_ev, void* socket) {
        auto& self = *static_cast<Socket*>(socket);
        const std::lock_guard lock(self.mutex_);
        ++self.connected_;
        self.changed_.notify_all();
    }

    nng_socket socket_{};
    std::mutex mutex_;
    std::condition_variable changed_;
    uint32_t connected_ = 0;
};

/// A subscriber has two endpoints: one that hears, and one that sends its echoes.
class Peer {
public:
    using Message = lab::Bytes;

    Peer(const lab::Options& options, const std::string& transport)
        : options_(options),
          transport_(transport),
          content_(options, {"DataFeed", 9}),
          publisher_(nng_pub0_open),
          subscriber_(nng_sub0_open) {
        if (options.payload != lab::Payload::bytes) throw lab::BadOption("can do '--payload bytes' only");
        options.refuse_threads();
        options.refuse_answers_to_many();
        publisher_.set(NNG_OPT_SENDBUF, QUEUE_LEN);
        subscriber_.set(NNG_OPT_RECVBUF, QUEUE_LEN);
        for (const std::string& topic : content_.topics()) subscriber_.subscribe(topic);
        if (options.is_passive()) {
            subscriber_.listen(endpoint(2 * options.index));
            publisher_.listen(endpoint(2 * options.index + 1));
        }
    }

    void meet() {
        for (uint32_t each = 0; !options_.is_passive() && each < options_.subscribers; ++each) {
            publisher_.dial(endpoint(2 * each));
            subscriber_.dial(endpoint(2 * each + 1));
        }
        const uint32_t others = options_.is_passive() ? options_.publishers : options_.subscribers;
        publisher_.meet(others);
        subscriber_.meet(others);
    }

    void send(uint64_t number, uint64_t time) { send(content_.prepare(number, time)); }

    void echo(const lab::Bytes& message) { send(content_.prepare_echo(message)); }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        milliseconds patience = idle.first;
        while (const OwnedMessage message = receive(patience)) {
            const auto* body = static_cast<const uint8_t*>(nng_msg_body(message.get()));
            const lab::Bytes bytes = content_.read({body, nng_msg_len(message.get())});
            if (handler.take(bytes) == lab::Flow::stop) return;
            patience = idle.between;
        }
    }

    std::optional<uint64_t> encoded_bytes() const { return sent_.get(); }

    lab::Settings settings() const {
        const std::string len = std::to_string(QUEUE_LEN);
        return {{"NNG_OPT_SENDBUF", len}, {"NNG_OPT_RECVBUF", len}, {"NNG_OPT_RECVMAXSZ", "0"}};
    }

private:
    std::string endpoint(uint32_t at) const {
        if (transport_ == "ipc") return "ipc://" + options_.dir + "/nng." + std::to_string(at);
        const std::string& address = options_.is_passive() ? options_.here : options_.there;
        return "tcp://" + address + ':' + std::to_string(options_.port(at));
    }

    /// Sends what the content has prepared.
    void send(size_t len) {
        nng_msg* message = nullptr;
        check(nng_msg_alloc(&message, len), "allocate");
        content_.write(static_cast<uint8_t*>(nng_msg_body(message)));
        sent_.add(len);
        publisher_.send(OwnedMessage(message));
    }

    OwnedMessage receive(milliseconds patience) {
        if (options_.wait == lab::Wait::block) {
            if (patience != patience_) subscriber_.set_ms(NNG_OPT_RECVTIMEO, patience_ = patience);
            return subscriber_.receive(0);
        }
        if (OwnedMessage message = subscriber_.receive(NNG_FLAG_NONBLOCK)) return message;
        const uint64_t deadline = lab::now() + static_cast<uint64_t>(patience.count()) * 1'000'000;
        while (lab::now() < deadline) {
            if (OwnedMessage message = subscriber_.receive(NNG_FLAG_NONBLOCK)) return message;
        }
        return nullptr;
    }

    const lab::Options& options_;
    const std::string& transport_;
    lab::ByteContent content_;
    Socket publisher_, subscriber_;
    milliseconds patience_{-1};
    lab::MeanLen sent_;
};

}  // namespace

int main(int argc, char** argv) {
    std::string transport = "tcp";
    lab::Parser parser;
    parser.choice<std::string>("transport", transport, {{"tcp", "tcp"}, {"ipc", "ipc"}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) {
        Peer peer(options, transport);
        return lab::run(options, nng_version(), peer);
    });
}
