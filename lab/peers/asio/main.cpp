/// Boost.Asio over TCP, as the first article had it: the subscriber listens, the publisher connects to
/// each subscriber, writes to one after the other and reads what comes back.

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/version.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "boost.hpp"
#include "lab.hpp"
#include "typed.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

/// Lets blocking calls of `socket` end with would_block when nothing has come for so long.
///
/// Asio's own blocking calls have no time limit. Hence the kernel's socket blocks, with its limit, and
/// Asio, which believes that it does not, says would_block instead of waiting on.
template <class Socket>
void limit(Socket& socket, milliseconds patience) {
    socket.non_blocking(true);
    const int descriptor = socket.native_handle();
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    const timeval time{patience.count() / 1000, patience.count() % 1000 * 1000};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

/// A socket and what was read from it.
class Connection {
public:
    /// Messages have `len` bytes, or a length before them if that is 0.
    Connection(tcp::socket socket, size_t len)
        : socket(std::move(socket)), room_((BUFFER_LEN + len + PAGE - 1) / PAGE * PAGE),
          buffer_(static_cast<uint8_t*>(std::aligned_alloc(PAGE, room_))), len_(len) {
        if (!buffer_) throw std::bad_alloc();
        this->socket.set_option(tcp::no_delay(true));
    }

    tcp::socket socket;
    bool is_open = true;

    /// A message, if there is a whole one.
    std::optional<lab::Bytes> next() {
        const auto found = peek();
        if (found) begin_ = static_cast<size_t>(found->data + found->len - buffer_.get());
        return found;
    }

    bool has_message() const { return peek().has_value(); }

    /// Reads what there is; false if there was nothing.
    bool read() {
        if (begin_ == end_) begin_ = end_ = 0;
        if (room_ - begin_ < std::max(len_, MAX_TYPED_LEN)) {
            std::copy(buffer_.get() + begin_, buffer_.get() + end_, buffer_.get());
            end_ -= begin_;
            begin_ = 0;
        }
        error_code error;
        end_ += socket.read_some(asio::buffer(buffer_.get() + end_, room_ - end_), error);
        is_open = !error || error == asio::error::would_block;
        return !error;
    }

    void write(const uint8_t* bytes, size_t len) {
        while (len > 0) {
            error_code error;
            const size_t written = socket.write_some(asio::buffer(bytes, len), error);
            if (error && error != asio::error::would_block) throw boost::system::system_error(error);
            bytes += written;
            len -= written;
        }
    }

    /// Has reads wait for so long.
    void wait(milliseconds patience) {
        if (patience == patience_) return;
        limit(socket, patience);
        patience_ = patience;
    }

private:
    static constexpr size_t BUFFER_LEN = 256 * 1024;
    static constexpr size_t MAX_TYPED_LEN = 4096;
    static constexpr size_t PAGE = 4096;

    struct Free {
        void operator()(uint8_t* bytes) const { std::free(bytes); }
    };

    std::optional<lab::Bytes> peek() const {
        const uint8_t* begin = buffer_.get() + begin_;
        size_t there = end_ - begin_, len = len_;
        if (len_ == 0) {
            uint32_t prefix;
            if (there < sizeof prefix) return std::nullopt;
            std::memcpy(&prefix, begin, sizeof prefix);
            if (prefix > MAX_TYPED_LEN - sizeof prefix) throw std::runtime_error("a message is too long");
            len = prefix;
            begin += sizeof prefix;
            there -= sizeof prefix;
        }
        return there < len ? std::nullopt : std::optional(lab::Bytes{begin, len});
    }

    size_t room_;
    /// Begins a page: what malloc gives of such a length begins 16 bytes behind one, where the kernel's copy takes more than
    /// three times as long on AMD's Zen 3.
    std::unique_ptr<uint8_t[], Free> buffer_;
    size_t begin_ = 0, end_ = 0, len_;
    milliseconds patience_{0};
};

template <class Content>
class Peer {
public:
    using Message = typename Content::Message;

    explicit Peer(const lab::Options& options) : options_(options), content_(options), acceptor_(context_) {
        options.refuse_threads();
        if (!options.is_passive()) return;
        const tcp::endpoint here(asio::ip::make_address_v4(options.here), options.port(options.index));
        acceptor_.open(here.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(here);
        acceptor_.listen();
    }

    /// The passive side accepts all publishers, the active side connects to all subscribers.
    void meet() {
        if (options_.is_passive()) {
            limit(acceptor_, lab::PATIENCE);
            for (uint32_t each = 0; each < options_.publishers; ++each) add(acceptor_.accept());
        } else {
            for (uint32_t each = 0; each < options_.subscribers; ++each) {
                tcp::socket socket(context_);
                socket.connect({asio::ip::make_address_v4(options_.there), options_.port(each)});
                add(std::move(socket));
            }
        }
        // Who does not answer is not read.
        readable_ = options_.is_passive() ? connections_.size() : answers();
    }

    void send(uint64_t number, uint64_t time) {
        pack(content_.prepare(number, time));
        for (const auto& connection : connections_) connection->write(packed_.data(), packed_.size());
    }

    void echo(const Message& message) {
        if constexpr (std::is_same_v<Message, lab::Bytes>) {
            sent_.add(message.len);
            source_->write(message.data, message.len);
        } else {
            pack(content_.prepare_echo(message));
            source_->write(packed_.data(), packed_.size());
        }
    }

    template <class Handler>
    void run(lab::Idle idle, Handler& handler) {
        milliseconds patience = idle.first;
        while ((source_ = next(patience))) {
            const auto message = content_.read(*source_->next());
            if (handler.take(message) == lab::Flow::stop) return;
            patience = idle.between;
        }
    }

    std::optional<uint64_t> encoded_bytes() const { return sent_.get(); }

    lab::Settings settings() const { return {{"TCP_NODELAY", "1"}}; }

private:
    void add(tcp::socket socket) {
        const size_t len = PREFIX_LEN == 0 ? options_.len() : 0;
        connections_.push_back(std::make_unique<Connection>(std::move(socket), len));
        if (options_.wait == lab::Wait::poll) connections_.back()->socket.non_blocking(true);
    }

    /// How many of the subscribers answer.
    size_t answers() const { return options_.job == lab::Job::ping ? options_.echoes() : 1; }

    void pack(size_t len) {
        packed_.resize(PREFIX_LEN + len);
        if constexpr (PREFIX_LEN > 0) {
            const auto prefix = static_cast<uint32_t>(len);
            std::memcpy(packed_.data(), &prefix, sizeof prefix);
        }
        content_.write(packed_.data() + PREFIX_LEN);
        sent_.add(packed_.size());
    }

    /// Waits until a connection has a message; nothing if none comes for so long.
    Connection* next(milliseconds patience) {
        // Each has its turn: a ping needs the echoes of all.
        take_turn();
        const bool has_one = options_.wait == lab::Wait::poll ? spin(patience)
                             : chooses()                      ? choose(patience)
                                                              : block(patience);
        return has_one ? connections_[turn_].get() : nullptr;
    }

    void take_turn() { turn_ = (turn_ + 1) % readable_; }

    /// Whether the next message may be of any publisher.
    bool chooses() const { return options_.job == lab::Job::receive && readable_ > 1; }

    /// Waits for the connection whose turn it is.
    bool block(milliseconds patience) {
        Connection& connection = *connections_[turn_];
        connection.wait(patience);
        while (!connection.has_message()) {
            if (!connection.read()) return false;
        }
        return true;
    }

    /// Asks one after the other.
    bool spin(milliseconds patience) {
        if (connections_[turn_]->has_message()) return true;
        const uint64_t deadline = lab::now() + static_cast<uint64_t>(patience.count()) * 1'000'000;
        while (!connections_[turn_]->has_message()) {
            const bool has_come = connections_[turn_]->read();
            if (!has_come && (!is_any_open() || lab::now() > deadline)) return false;
            if (!connections_[turn_]->has_message()) take_turn();
        }
        return true;
    }

    /// Waits for any of them.
    bool choose(milliseconds patience) {
        for (size_t each = 0; each < readable_; ++each, take_turn()) {
            if (connections_[turn_]->has_message()) return true;
        }
        while (is_any_open()) {
            std::vector<pollfd> polled;
            for (const auto& connection : connections_) {
                const int descriptor = connection->is_open ? connection->socket.native_handle() : -1;
                polled.push_back({descriptor, POLLIN, 0});
            }
            if (poll(polled.data(), polled.size(), static_cast<int>(patience.count())) <= 0) return false;
            while (polled[turn_].revents == 0) take_turn();
            connections_[turn_]->read();
            if (connections_[turn_]->has_message()) return true;
        }
        return false;
    }

    bool is_any_open() const {
        return std::any_of(connections_.begin(), connections_.end(),
                           [](const auto& connection) { return connection->is_open; });
    }

    static constexpr size_t PREFIX_LEN = std::is_same_v<Message, lab::Bytes> ? 0 : sizeof(uint32_t);

    const lab::Options& options_;
    Content content_;
    asio::io_context context_;
    tcp::acceptor acceptor_;
    std::vector<std::unique_ptr<Connection>> connections_;
    /// How many of them are read, whose turn it is, and who sent the message that is being taken.
    size_t readable_ = 0, turn_ = 0;
    Connection* source_ = nullptr;
    std::vector<uint8_t> packed_;
    lab::MeanLen sent_;
};

const std::string VERSION =
    std::to_string(BOOST_VERSION / 100'000) + '.' + std::to_string(BOOST_VERSION / 100 % 1'000);

template <class Content>
lab::Answer converse(const lab::Options& options) {
    Peer<Content> peer(options);
    return lab::run(options, VERSION, peer);
}

/// Sends and receives typed messages, or only encodes and decodes them.
template <class Archive>
lab::Answer work_with(const lab::Options& options) {
    if (options.job == lab::Job::codec) {
        lab::TypedCodec<lab::boost_archive::Codec<Archive>> codec(options);
        return lab::measure_codec(options, VERSION, codec);
    }
    return converse<lab::Typed<lab::boost_archive::CodecWithTopic<Archive>>>(options);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace lab::boost_archive;
    using Work = lab::Answer (*)(const lab::Options&);
    Work work = converse<lab::ByteContent>;
    lab::Parser parser;
    parser.choice<Work>("codec", work,
                        {{"boost-binary", work_with<Binary>},
                         {"boost-text", work_with<Text>},
                         {"boost-tuned", work_with<Tuned>}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) { return work(options); });
}
