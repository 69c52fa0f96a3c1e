/// Payloads as Ice has them: byte and float sequences as they lie in memory, structures one by one.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "Feed.h"
#include "lab.hpp"

constexpr size_t RECORD_LEN = 28;

/// A record of these 28 bytes.
inline Feeds::Record unpack(const uint8_t* bytes) {
    Feeds::Record record;
    std::memcpy(&record.a, bytes, 4);
    std::memcpy(&record.b, bytes + 4, 4);
    std::memcpy(&record.c, bytes + 8, 4);
    std::memcpy(&record.d, bytes + 12, 4);
    std::memcpy(&record.e, bytes + 16, 4);
    std::memcpy(&record.f, bytes + 20, 8);
    return record;
}

/// The 28 bytes of a record.
inline void pack(const Feeds::Record& record, uint8_t* bytes) {
    std::memcpy(bytes, &record.a, 4);
    std::memcpy(bytes + 4, &record.b, 4);
    std::memcpy(bytes + 8, &record.c, 4);
    std::memcpy(bytes + 12, &record.d, 4);
    std::memcpy(bytes + 16, &record.e, 4);
    std::memcpy(bytes + 20, &record.f, 8);
}

/// A received message: bytes, or records if there are some.
struct Received {
    lab::Bytes bytes{};
    const Feeds::Records* records = nullptr;

    uint64_t number(uint64_t expected) const { return head().number(expected); }

    std::optional<uint64_t> time() const { return head().time(); }

    bool is_intact(uint64_t number) const {
        if (!records) return bytes.is_intact(number);
        std::vector<uint8_t> packed(records->size() * RECORD_LEN);
        for (size_t at = 0; at < records->size(); ++at) pack((*records)[at], &packed[at * RECORD_LEN]);
        return lab::Bytes{packed.data(), packed.size()}.is_intact(number);
    }

private:
    /// At least number and time.
    lab::Bytes head() const {
        if (!records) return bytes;
        static thread_local uint8_t first[RECORD_LEN];
        if (records->empty()) return {};
        pack(records->front(), first);
        return {first, RECORD_LEN};
    }
};

/// Publishes messages with a proxy of a topic.
class Publisher {
public:
    Publisher(const lab::Options& options, std::shared_ptr<Feeds::FeedPrx> feed)
        : payload_(options.payload), feed_(std::move(feed)), bytes_(options.len()) {}

    void send(uint64_t number, uint64_t time) {
        lab::fill(bytes_.data(), bytes_.size(), number, time);
        if (payload_ == lab::Payload::structs) {
            records_.resize(bytes_.size() / RECORD_LEN);
            for (size_t at = 0; at < records_.size(); ++at) records_[at] = unpack(&bytes_[at * RECORD_LEN]);
            feed_->publishRecords(records_);
        } else {
            publish({bytes_.data(), bytes_.size()});
        }
    }

    void send(const Received& message) {
        message.records ? feed_->publishRecords(*message.records) : publish(message.bytes);
    }

private:
    void publish(lab::Bytes bytes) {
        if (payload_ == lab::Payload::floats) {
            const auto* begin = reinterpret_cast<const float*>(bytes.data);
            feed_->publishFloats({begin, begin + bytes.len / sizeof(float)});
        } else {
            feed_->publishBytes({bytes.data, bytes.data + bytes.len});
        }
    }

    lab::Payload payload_;
    std::shared_ptr<Feeds::FeedPrx> feed_;
    std::vector<uint8_t> bytes_;
    Feeds::Records records_;
};
