/// What messages contain, for systems that carry bytes.
///
/// A content has
///
///     using Message = ...;                   // what a received one is, see message.hpp
///     std::vector<std::string> topics();     // that they begin with, if they do
///     size_t prepare(uint64_t number, uint64_t time);
///     size_t prepare_echo(const Message&);   // make the next message; return its length
///     void write(uint8_t* place);            // puts what was prepared there
///     Message read(Bytes);                   // valid until the next is read
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "message.hpp"
#include "options.hpp"

namespace lab {

/// Bytes, behind a topic if there is one.
class ByteContent {
public:
    using Message = Bytes;

    explicit ByteContent(const Options& options, std::string topic = {})
        : len_(options.len()), topic_(std::move(topic)) {
        if (options.payload == Payload::typed) throw BadOption("cannot do '--payload typed'");
    }

    std::vector<std::string> topics() const { return {topic_}; }

    size_t prepare(uint64_t number, uint64_t time) {
        number_ = number;
        time_ = time;
        return topic_.size() + len_;
    }

    size_t prepare_echo(const Bytes& message) {
        echo_ = message;
        return topic_.size() + message.len;
    }

    void write(uint8_t* place) {
        std::memcpy(place, topic_.data(), topic_.size());
        place += topic_.size();
        if (echo_.data) {
            std::memcpy(place, echo_.data, echo_.len);
            echo_ = {};
        } else {
            fill(place, len_, number_, time_);
        }
    }

    Bytes read(Bytes bytes) const {
        if (bytes.len < topic_.size()) throw std::runtime_error("a message is shorter than its topic");
        return {bytes.data + topic_.size(), bytes.len - topic_.size()};
    }

private:
    size_t len_;
    std::string topic_;
    uint64_t number_ = 0, time_ = 0;
    Bytes echo_{};
};

}  // namespace lab
