/// Typed messages as bytes that a codec makes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "market.hpp"
#include "message.hpp"
#include "options.hpp"

namespace lab {

/// A content (see content.hpp) of MarketData and QuoteRequest. An echo is decoded, marked as such, and
/// encoded again, as in the article.
///
/// A codec has types `MarketData` and `QuoteRequest`, functions `market_data()` and `quote_request()`
/// with the article's values, and, for a message of either type,
///
///     static void mark(Type&, uint32_t counter, bool is_echo);
///     static uint32_t counter(const Type&);
///     static bool are_equal(const Type&, const Type&);
///     size_t encode(Kind, const Type&);                   // keeps the bytes, returns their number
///     void write(uint8_t* place);                         // puts them there
///     Kind decode(Bytes, MarketData&, QuoteRequest&);     // into one of them
template <class Codec>
class Typed {
public:
    class Message {
    public:
        explicit Message(Typed& typed) : typed_(typed) {}

        uint64_t number(uint64_t expected) const {
            const auto ahead = typed_.counter() - static_cast<uint32_t>(expected);
            return expected + static_cast<int32_t>(ahead);
        }

        std::optional<uint64_t> time() const { return std::nullopt; }

        bool is_intact(uint64_t number) const { return typed_.is_intact(number); }

    private:
        Typed& typed_;
    };

    explicit Typed(const Options& options) : mix_(options.mix), expects_echoes_(options.job == Job::ping) {
        if (options.payload != Payload::typed) throw BadOption("can do '--payload typed' only");
    }

    std::vector<std::string> topics() const {
        return {topic(Kind::market_data) + '\0', topic(Kind::quote_request) + '\0'};
    }

    size_t prepare(uint64_t number, uint64_t) {
        const Kind kind = kind_of(number, mix_);
        const auto encode = [&](auto& message) {
            codec_.mark(message, static_cast<uint32_t>(number), false);
            return codec_.encode(kind, message);
        };
        return kind == Kind::market_data ? encode(sent_data_) : encode(sent_request_);
    }

    size_t prepare_echo(const Message&) {
        const auto encode = [this](auto& message) {
            codec_.mark(message, codec_.counter(message), true);
            return codec_.encode(came_, message);
        };
        return came_ == Kind::market_data ? encode(data_) : encode(request_);
    }

    void write(uint8_t* place) { codec_.write(place); }

    Message read(Bytes bytes) {
        came_ = codec_.decode(bytes, data_, request_);
        return Message(*this);
    }

private:
    uint32_t counter() const {
        return came_ == Kind::market_data ? Codec::counter(data_) : Codec::counter(request_);
    }

    bool is_intact(uint64_t number) {
        if (came_ != kind_of(number, mix_)) return false;
        const auto is_equal = [&](auto& expected, const auto& message) {
            codec_.mark(expected, static_cast<uint32_t>(number), expects_echoes_);
            return Codec::are_equal(expected, message);
        };
        return came_ == Kind::market_data ? is_equal(sent_data_, data_)
                                          : is_equal(sent_request_, request_);
    }

    Mix mix_;
    bool expects_echoes_;
    Codec codec_;
    typename Codec::MarketData sent_data_ = Codec::market_data(), data_;
    typename Codec::QuoteRequest sent_request_ = Codec::quote_request(), request_;
    /// Which of the two has come.
    Kind came_ = Kind::market_data;
};

/// Such messages alone, without a topic, as measure_codec wants them: their number says which of the two
/// they are.
template <class Codec>
class TypedCodec {
public:
    explicit TypedCodec(const Options& options) : mix_(options.mix) {
        if (options.payload != Payload::typed) throw BadOption("can do '--payload typed' only");
    }

    size_t encode(uint64_t number) {
        const auto encode = [&](auto& message) {
            codec_.mark(message, static_cast<uint32_t>(number), false);
            return codec_.encode(message);
        };
        return is_data(number) ? encode(sent_data_) : encode(sent_request_);
    }

    void write(uint8_t* place) { codec_.write(place); }

    void decode(uint64_t number, Bytes bytes) {
        is_data(number) ? codec_.decode(bytes, data_) : codec_.decode(bytes, request_);
    }

    bool is_intact(uint64_t number) {
        const auto is_equal = [&](auto& expected, const auto& message) {
            codec_.mark(expected, static_cast<uint32_t>(number), false);
            return Codec::are_equal(expected, message);
        };
        return is_data(number) ? is_equal(sent_data_, data_) : is_equal(sent_request_, request_);
    }

private:
    bool is_data(uint64_t number) const { return kind_of(number, mix_) == Kind::market_data; }

    Mix mix_;
    Codec codec_;
    typename Codec::MarketData sent_data_ = Codec::market_data(), data_;
    typename Codec::QuoteRequest sent_request_ = Codec::quote_request(), request_;
};

/// Has messages of a codec begin with their topic and a zero byte.
///
/// Of the codec, `encode(const Type&)` and `decode(Bytes, Type&)` need not care which type it is.
template <class Codec>
class BehindTopic : public Codec {
public:
    template <class Message>
    size_t encode(Kind kind, const Message& message) {
        topic_ = &topic(kind);
        return topic_->size() + 1 + Codec::encode(message);
    }

    void write(uint8_t* place) {
        std::memcpy(place, topic_->c_str(), topic_->size() + 1);
        Codec::write(place + topic_->size() + 1);
    }

    template <class MarketData, class QuoteRequest>
    Kind decode(Bytes bytes, MarketData& data, QuoteRequest& request) {
        const auto* text = reinterpret_cast<const char*>(bytes.data);
        const std::string name(text, strnlen(text, bytes.len));
        const Kind kind = kind_of(name);
        if (name.size() == bytes.len) throw std::runtime_error("a topic has no end");
        const Bytes body{bytes.data + name.size() + 1, bytes.len - name.size() - 1};
        kind == Kind::market_data ? Codec::decode(body, data) : Codec::decode(body, request);
        return kind;
    }

private:
    const std::string* topic_ = nullptr;
};

}  // namespace lab
