/// Encoding and decoding as a write and a take do them, without sending.
#pragma once

#include <stdexcept>

#include "lab.hpp"
#include "type.hpp"

/// A codec as measure_codec wants it (see codec.hpp).
class Codec {
public:
    explicit Codec(const lab::Options& options) : mix_(options.mix) {}

    size_t encode(uint64_t number) {
        const auto measure = [&](auto& sample, auto& type) {
            sample.counter = static_cast<uint32_t>(number);
            return type.getSerializedSizeProvider(&sample)();
        };
        is_data_ = is_data(number);
        return len_ = is_data_ ? measure(data_, data_type_) : measure(request_, request_type_);
    }

    void write(uint8_t* place) {
        const Place payload(place, len_);
        const bool is_encoded = is_data_ ? data_type_.serialize(&data_, payload.get())
                                         : request_type_.serialize(&request_, payload.get());
        if (!is_encoded) throw std::runtime_error("a sample cannot be encoded");
    }

    void decode(uint64_t number, lab::Bytes bytes) {
        const Place payload(const_cast<uint8_t*>(bytes.data), bytes.len);
        const bool is_decoded = is_data(number) ? data_type_.deserialize(payload.get(), &decoded_data_)
                                                : request_type_.deserialize(payload.get(), &decoded_request_);
        if (!is_decoded) throw std::runtime_error("a sample cannot be decoded");
    }

    bool is_intact(uint64_t number) {
        const auto is_equal = [&](auto& expected, const auto& decoded) {
            expected.counter = static_cast<uint32_t>(number);
            return expected == decoded;
        };
        return is_data(number) ? is_equal(data_, decoded_data_) : is_equal(request_, decoded_request_);
    }

private:
    /// A payload in somebody else's memory.
    class Place {
    public:
        Place(uint8_t* place, size_t len) {
            payload_.data = place;
            payload_.length = payload_.max_size = static_cast<uint32_t>(len);
        }

        ~Place() { payload_.data = nullptr; }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;

        eprosima::fastrtps::rtps::SerializedPayload_t* get() const { return &payload_; }

    private:
        mutable eprosima::fastrtps::rtps::SerializedPayload_t payload_;
    };

    bool is_data(uint64_t number) const {
        return lab::kind_of(number, mix_, lab::Published::four_in_five) == lab::Kind::market_data;
    }

    lab::Mix mix_;
    Type<lab::MarketData> data_type_{"lab::MarketData", 0, false};
    Type<lab::QuoteRequest> request_type_{"lab::QuoteRequest", 0, false};
    lab::MarketData data_ = lab::market_data(), decoded_data_;
    lab::QuoteRequest request_ = lab::quote_request(), decoded_request_;
    /// What is being encoded.
    bool is_data_ = true;
    size_t len_ = 0;
};
