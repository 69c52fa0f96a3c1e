/// A connection to nats-server, by the client protocol: lines of text, and payloads behind some of them.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lab.hpp"

/// Bytes of the largest message, and of those that the server keeps for one subscriber.
constexpr uint64_t MAX_PAYLOAD = 64 << 20, MAX_PENDING = 1 << 30;

/// Memory that begins a page: what malloc gives of such a length begins 16 bytes behind one, where the kernel's copy takes more
/// than three times as long on AMD's Zen 3.
template <class T>
struct Pages {
    using value_type = T;

    Pages() = default;
    template <class U>
    Pages(const Pages<U>&) {}

    T* allocate(size_t count) {
        constexpr size_t PAGE = 4096;
        const size_t len = (count * sizeof(T) + PAGE - 1) / PAGE * PAGE;
        if (void* const memory = std::aligned_alloc(PAGE, len)) return static_cast<T*>(memory);
        throw std::bad_alloc();
    }

    void deallocate(T* memory, size_t) { std::free(memory); }
    bool operator==(const Pages&) const { return true; }
    bool operator!=(const Pages&) const { return false; }
};

class Connection {
public:
    explicit Connection(const lab::Options& options) {
        connect(options.broker(), options.port(0));
        put(R"(CONNECT {"verbose":false,"pedantic":false,"echo":false})"
            "\r\n");
    }

    ~Connection() { close(socket_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void subscribe(const std::string& subject) { put("SUB " + subject + " 1\r\n"); }

    /// Begins a message; returns the place for its payload, which the next call makes invalid.
    uint8_t* begin(const std::string& subject, size_t len) {
        put("PUB " + subject + ' ' + std::to_string(len) + "\r\n");
        const size_t at = out_.size();
        out_.resize(at + len + 2);
        out_[at + len] = '\r';
        out_[at + len + 1] = '\n';
        return out_.data() + at;
    }

    /// The server's, as it says of itself when somebody connects; empty before.
    const std::string& server_version() const { return server_version_; }

    /// Bytes that are still to be written.
    size_t pending() const { return out_.size(); }

    void flush() {
        for (size_t at = 0; at < out_.size();) {
            const ssize_t sent = send(socket_, out_.data() + at, out_.size() - at, MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR) fail("send");
            at += sent > 0 ? static_cast<size_t>(sent) : 0;
        }
        out_.clear();
    }

    /// Waits until the server has done all that it was asked for. What it sends meanwhile is lost.
    void synchronize() {
        put("PING\r\n");
        flush();
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        for (pongs_ = 0; pongs_ == 0;) {
            const auto left = deadline - std::chrono::steady_clock::now();
            const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(left);
            while (next() && pongs_ == 0) continue;
            if (pongs_ == 0 && (patience.count() <= 0 || !receive(patience))) {
                throw std::runtime_error("the server does not answer");
            }
        }
    }

    /// The next payload, valid until the next call; none if none comes for so long.
    std::optional<lab::Bytes> take(std::chrono::milliseconds patience) {
        for (;;) {
            if (const auto payload = next()) return payload;
            if (!receive(patience)) return std::nullopt;
        }
    }

private:
    [[noreturn]] static void fail(const char* what) {
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    }

    /// Connects as soon as the server is there.
    void connect(const std::string& broker, uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        inet_pton(AF_INET, broker.c_str(), &address.sin_addr);
        const auto deadline = std::chrono::steady_clock::now() + lab::PATIENCE;
        for (;;) {
            socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
            close(socket_);
            if (std::chrono::steady_clock::now() > deadline) fail("connect");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        const int yes = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }

    void put(std::string_view text) { out_.insert(out_.end(), text.begin(), text.end()); }

    /// A payload that has come whole. Answers what the server asks.
    std::optional<lab::Bytes> next() {
        for (;;) {
            const std::string_view rest(reinterpret_cast<const char*>(in_.data()) + begin_, end_ - begin_);
            const size_t line_len = rest.find("\r\n");
            if (line_len == rest.npos) return std::nullopt;
            const std::string_view line = rest.substr(0, line_len);
            if (line.substr(0, 4) == "MSG ") {
                const size_t len = payload_len(line), all = line_len + 2 + len + 2;
                if (rest.size() < all) {
                    wanted_ = all;
                    return std::nullopt;
                }
                const lab::Bytes payload{in_.data() + begin_ + line_len + 2, len};
                begin_ += all;
                return payload;
            }
            if (line == "PING") {
                put("PONG\r\n");
                flush();
            } else if (line == "PONG") {
                ++pongs_;
            } else if (line.substr(0, 5) == "INFO ") {
                server_version_ = version_in(line);
            } else if (line.substr(0, 4) == "-ERR") {
                throw std::runtime_error(std::string(line));
            }
            begin_ += line_len + 2;
            if (pongs_ > 0 && line == "PONG") return std::nullopt;
        }
    }

    /// Of what the server says of itself, in JSON.
    static std::string version_in(std::string_view info) {
        constexpr std::string_view NAME = "\"version\":\"";
        const size_t at = info.find(NAME);
        if (at == info.npos) return {};
        info.remove_prefix(at + NAME.size());
        return std::string(info.substr(0, info.find('"')));
    }

    /// The last word of the line.
    static size_t payload_len(std::string_view line) {
        const std::string_view word = line.substr(line.rfind(' ') + 1);
        size_t len = 0;
        const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), len);
        if (error != std::errc() || stop != word.data() + word.size() || len > MAX_PAYLOAD) {
            throw std::runtime_error("a message has no length");
        }
        return len;
    }

    /// Waits for bytes; false if none come for so long.
    bool receive(std::chrono::milliseconds patience) {
        make_room();
        if (patience != patience_) {
            const auto ms = std::max<int64_t>(1, patience.count());
            const timeval time{ms / 1000, ms % 1000 * 1000};
            setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
            patience_ = patience;
        }
        for (;;) {
            const ssize_t len = recv(socket_, in_.data() + end_, in_.size() - end_, 0);
            if (len > 0) {
                end_ += static_cast<size_t>(len);
                return true;
            }
            if (len == 0) throw std::runtime_error("the server has closed the connection");
            if (errno == EINTR) continue;
            if (errno != EAGAIN) fail("receive");
            return false;
        }
    }

    /// Has the buffer hold all of the message that is coming.
    void make_room() {
        if (begin_ == end_) begin_ = end_ = 0;
        if (end_ < in_.size() && begin_ + wanted_ <= in_.size()) return;
        std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        in_.resize(std::max({in_.size(), wanted_, 2 * end_}));
    }

    int socket_ = -1;
    std::vector<uint8_t> out_;
    /// What has come is from `begin_` to `end_`.
    using Buffer = std::vector<uint8_t, Pages<uint8_t>>;
    Buffer in_ = Buffer(1 << 18);
    size_t begin_ = 0, end_ = 0;
    /// Length of the message that has not come whole, with its line.
    size_t wanted_ = 0;
    uint32_t pongs_ = 0;
    std::string server_version_;
    std::chrono::milliseconds patience_{-1};
};
