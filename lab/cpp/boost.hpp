/// Typed messages by Boost.Serialization. Needs Boost.
#pragma once

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <streambuf>
#include <string>

#include "market.hpp"
#include "message.hpp"

namespace lab::boost_archive {

/// As in the article: a string stream and an archive of its own for each message, which is decoded into
/// a new object.
template <class Out, class In>
class Stream {
public:
    template <class... Values>
    size_t pack(const Values&... values) {
        std::ostringstream stream(std::ios::binary);
        Out archive(stream);
        (archive << ... << values);
        bytes_ = stream.str();
        return bytes_.size();
    }

    void write(uint8_t* place) const { std::memcpy(place, bytes_.data(), bytes_.size()); }

    template <class Read>
    void unpack(Bytes bytes, Read&& read) {
        const auto* data = reinterpret_cast<const char*>(bytes.data);
        std::istringstream stream(std::string(data, bytes.len), std::ios::binary);
        In archive(stream);
        read(archive);
    }

    template <class Value>
    void renew(Value& value) {
        value = Value();
    }

private:
    std::string bytes_;
};

using Binary = Stream<boost::archive::binary_oarchive, boost::archive::binary_iarchive>;
using Text = Stream<boost::archive::text_oarchive, boost::archive::text_iarchive>;

/// As fast as the library can: one buffer for all messages, archives without header, locale and tracking
/// of addresses, objects that are used again.
class Tuned {
public:
    template <class... Values>
    size_t pack(const Values&... values) {
        buffer_.begin_put();
        boost::archive::binary_oarchive archive(buffer_, FLAGS);
        (archive << ... << values);
        return buffer_.len();
    }

    void write(uint8_t* place) const { std::memcpy(place, buffer_.data(), buffer_.len()); }

    template <class Read>
    void unpack(Bytes bytes, Read&& read) {
        buffer_.begin_get(bytes);
        boost::archive::binary_iarchive archive(buffer_, FLAGS);
        read(archive);
    }

    template <class Value>
    void renew(Value&) {}

private:
    static constexpr unsigned FLAGS =
        boost::archive::no_header | boost::archive::no_tracking | boost::archive::no_codecvt;

    class Buffer : public std::streambuf {
    public:
        void begin_put() { setp(bytes_, bytes_ + sizeof bytes_); }

        void begin_get(Bytes bytes) {
            auto* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data));
            setg(begin, begin, begin + bytes.len);
        }

        const char* data() const { return bytes_; }
        size_t len() const { return static_cast<size_t>(pptr() - pbase()); }

    private:
        char bytes_[4096];
    };

    Buffer buffer_;
};

/// What codecs of these structures have in common, see typed.hpp.
struct Types {
    using MarketData = lab::MarketData;
    using QuoteRequest = lab::QuoteRequest;

    static MarketData market_data() { return lab::market_data(); }
    static QuoteRequest quote_request() { return lab::quote_request(); }

    template <class Message>
    static void mark(Message& message, uint32_t counter, bool is_echo) {
        message.counter = counter;
        message.isEcho = is_echo;
    }

    template <class Message>
    static uint32_t counter(const Message& message) {
        return message.counter;
    }

    template <class Message>
    static bool are_equal(const Message& left, const Message& right) {
        return left == right;
    }
};

/// The message alone is in the archive.
template <class Archive>
class Codec : public Types {
public:
    template <class Message>
    size_t encode(const Message& message) {
        return archive_.pack(message);
    }

    void write(uint8_t* place) const { archive_.write(place); }

    template <class Message>
    void decode(Bytes bytes, Message& message) {
        archive_.renew(message);
        archive_.unpack(bytes, [&message](auto& archive) { archive >> message; });
    }

private:
    Archive archive_;
};

/// The topic is in the archive, before the message.
template <class Archive>
class CodecWithTopic : public Types {
public:
    template <class Message>
    size_t encode(Kind kind, const Message& message) {
        return archive_.pack(topic(kind), message);
    }

    void write(uint8_t* place) const { archive_.write(place); }

    Kind decode(Bytes bytes, MarketData& data, QuoteRequest& request) {
        Kind kind{};
        archive_.unpack(bytes, [&](auto& archive) {
            const auto read = [&](auto& message) {
                archive_.renew(message);
                archive >> message;
            };
            archive >> topic_;
            kind = kind_of(topic_);
            kind == Kind::market_data ? read(data) : read(request);
        });
        return kind;
    }

private:
    Archive archive_;
    std::string topic_;
};

}  // namespace lab::boost_archive
