/// ZeroMQ, as the first article had it: a PUB socket that is connected to the SUB sockets of all who
/// listen, and messages that begin with their topic.

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <zmq.hpp>

#include "boost.hpp"
#include "lab.hpp"
#include "protobuf.hpp"
#include "typed.hpp"

namespace {

using std::chrono::milliseconds;

enum class Transport { tcp, ipc };

/// Options of this program.
struct Own {
    Transport transport = Transport::tcp;
    /// ZMQ_SNDHWM and ZMQ_RCVHWM: messages in a queue before more are dropped, 0 for no limit.
    int high_water_mark = 0;
};

std::string version() {
    const auto [major, minor, patch] = zmq::version();
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

/// A subscriber has two endpoints: one that hears, and one that sends its echoes.
///
/// The publishing socket is XPUB, which is PUB that tells who has subscribed.
template <class Content>
class Peer {
public:
    using Message = typename Content::Message;

    Peer(const lab::Options& options, const Own& own, Content content)
        : options_(options),
          own_(own),
          content_(std::move(content)),
          context_(static_cast<int>(options.threads.value_or(1))),
          publisher_(context_, zmq::socket_type::xpub),
          subscriber_(context_, zmq::socket_type::sub) {
        options.refuse_answers_to_many();
        publisher_.set(zmq::sockopt::sndhwm, own.high_water_mark);
        publisher_.set(zmq::sockopt::linger, static_cast<int>(PATIENCE.count()));
        publisher_.set(zmq::sockopt::xpub_verbose, true);
        subscriber_.set(zmq::sockopt::rcvhwm, own.high_water_mark);
        for (const std::string& topic : content_.topics()) subscriber_.set(zmq::sockopt::subscribe, topic);

        if (options.is_passive()) {
            subscriber_.bind(endpoint(2 * options.index));
            if (speaks()) publisher_.bind(endpoint(2 * options.index + 1));
            return;
        }
        for (uint32_t each = 0; each < options.subscribers; ++each) publisher_.connect(endpoint(2 * each));
        for (uint32_t each = 0; each < answers(); ++each) subscriber_.connect(endpoint(2 * each + 1));
    }

    /// Waits until all have subscribed to what this one sends.
    void meet() {
        size_t missing = speaks() ? others() * content_.topics().size() : 0;
        const uint64_t deadline = lab::now() + static_cast<uint64_t>(PATIENCE.count()) * 1'000'000;
        while (missing > 0) {
            // A socket that nobody asks does not send its own subscriptions.
            zmq::pollitem_t sockets[] = {{publisher_.handle(), 0, ZMQ_POLLIN, 0},
                                         {subscriber_.handle(), 0, ZMQ_POLLIN, 0}};
            zmq::poll(sockets, 2, PATIENCE);
            zmq::message_t notice;
            while (publisher_.recv(notice, zmq::recv_flags::dontwait)) {
                missing -= notice.size() > 0 && notice.data<uint8_t>()[0] == 1;
            }
            if (lab::now() > deadline) throw std::runtime_error("not all have subscribed");
        }
    }

    void send(uint64_t number, uint64_t time) {
        zmq::message_t packed(content_.prepare(number, time));
        content_.write(packed.template data<uint8_t>());
        send(packed);
    }

    void echo(const Message& message) {
        if constexpr (std::is_same_v<Message, lab::Bytes>) {
            zmq::message_t same;
            same.copy(received_);
            send(same);
        } else {
            zmq::message_t packed(content_.prepare_echo(message));
            content_.write(packed.template data<uint8_t>());
            send(packed);
        }
    }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        milliseconds patience = idle.first;
        while (receive(patience)) {
            const auto message = content_.read({received_.data<uint8_t>(), received_.size()});
            if (handler.take(message) == lab::Flow::stop) return;
            patience = idle.between;
        }
    }

    std::optional<uint64_t> encoded_bytes() const { return sent_.get(); }

    lab::Settings settings() const {
        const std::string mark = std::to_string(own_.high_water_mark);
        return {{"ZMQ_SNDHWM", mark},
                {"ZMQ_RCVHWM", mark},
                {"ZMQ_XPUB_VERBOSE", "1"},
                {"ZMQ_IO_THREADS", std::to_string(options_.threads.value_or(1))}};
    }

private:
    static constexpr milliseconds PATIENCE = lab::PATIENCE;

    /// Whether this one sends anything.
    bool speaks() const {
        return !options_.is_passive() || (options_.has_answers() && options_.responds());
    }

    /// How many there are on the other side.
    uint32_t others() const { return options_.is_passive() ? options_.publishers : options_.subscribers; }

    /// How many of them answer.
    uint32_t answers() const {
        return options_.job == lab::Job::ping ? options_.echoes() : options_.demand ? 1 : 0;
    }

    std::string endpoint(uint32_t at) const {
        if (own_.transport == Transport::ipc) return "ipc://" + options_.dir + "/zmq." + std::to_string(at);
        const std::string& address = options_.is_passive() ? options_.here : options_.there;
        return "tcp://" + address + ':' + std::to_string(options_.port(at));
    }

    void send(zmq::message_t& message) {
        sent_.add(message.size());
        publisher_.send(message, zmq::send_flags::none);
    }

    /// Waits for a message; false if none comes for so long.
    bool receive(milliseconds patience) {
        if (options_.wait == lab::Wait::block) {
            if (patience != patience_) {
                subscriber_.set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
                patience_ = patience;
            }
            return subscriber_.recv(received_).has_value();
        }
        if (subscriber_.recv(received_, zmq::recv_flags::dontwait)) return true;
        const uint64_t deadline = lab::now() + static_cast<uint64_t>(patience.count()) * 1'000'000;
        while (!subscriber_.recv(received_, zmq::recv_flags::dontwait)) {
            if (lab::now() > deadline) return false;
        }
        return true;
    }

    const lab::Options& options_;
    const Own& own_;
    Content content_;
    zmq::context_t context_;
    zmq::socket_t publisher_, subscriber_;
    zmq::message_t received_;
    milliseconds patience_{-1};
    lab::MeanLen sent_;
};

/// Sends and receives messages of bytes.
lab::Answer work_with_bytes(const lab::Options& options, const Own& own) {
    if (options.payload != lab::Payload::bytes) throw lab::BadOption("can do '--payload bytes' only");
    Peer<lab::ByteContent> peer(options, own, lab::ByteContent(options, {"DataFeed", 9}));
    return lab::run(options, version(), peer);
}

/// Sends and receives typed messages, or only encodes and decodes them.
template <class Codec>
lab::Answer work_with(const lab::Options& options, const Own& own) {
    using Content = lab::Typed<lab::BehindTopic<Codec>>;
    if (options.job == lab::Job::codec) {
        lab::TypedCodec<Codec> codec(options);
        return lab::measure_codec(options, version(), codec);
    }
    Peer<Content> peer(options, own, Content(options));
    return lab::run(options, version(), peer);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace lab::boost_archive;
    using Work = lab::Answer (*)(const lab::Options&, const Own&);
    Own own;
    Work work = work_with_bytes;
    lab::Parser parser;
    parser.choice<Transport>("transport", own.transport, {{"tcp", Transport::tcp}, {"ipc", Transport::ipc}});
    parser.number("hwm", own.high_water_mark);
    parser.choice<Work>("codec", work,
                        {{"protobuf", work_with<Protobuf>},
                         {"boost-binary", work_with<Codec<Binary>>},
                         {"boost-text", work_with<Codec<Text>>}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) { return work(options, own); });
}
