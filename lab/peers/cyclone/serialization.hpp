/// Encoding and decoding as a write and a take do them, without sending.
#pragma once

#include <dds/ddsi/ddsi_serdata.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "sample.hpp"
#include "session.hpp"

/// A type as the library keeps it, with which it encodes.
template <class Sample>
class Type {
public:
    /// It comes with each sample that was written.
    Type(const Session& session, const dds_topic_descriptor_t& type, const std::string& name, const Sample& sample)
        : descriptor_(type) {
        const dds_entity_t topic =
            check(dds_create_topic(session.participant, &type, name.c_str(), nullptr, nullptr), "topic");
        const dds_entity_t reader =
            check(dds_create_reader(session.participant, topic, session.qos().get(), nullptr), "reader");
        const dds_entity_t writer =
            check(dds_create_writer(session.participant, topic, session.qos().get(), nullptr), "writer");
        check(dds_write(writer, &sample), "write");
        dds_sample_info_t info;
        if (dds_takecdr(reader, &written_, 1, &info, DDS_ANY_STATE) != 1) throw std::runtime_error("nothing to take");
    }

    ~Type() {
        ddsi_serdata_unref(written_);
        dds_sample_free(&decoded_, &descriptor_, DDS_FREE_CONTENTS);
    }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;

    ddsi_serdata* encode(const Sample& sample) const {
        return encoded(ddsi_serdata_from_sample(written_->type, SDK_DATA, &sample));
    }

    /// Decodes into a sample that is used again.
    const Sample& decode(lab::Bytes bytes) {
        const ddsrt_iovec_t place{const_cast<uint8_t*>(bytes.data), bytes.len};
        ddsi_serdata* data = encoded(ddsi_serdata_from_ser_iov(written_->type, SDK_DATA, 1, &place, bytes.len));
        const bool is_decoded = ddsi_serdata_to_sample(data, &decoded_, nullptr, nullptr);
        ddsi_serdata_unref(data);
        if (!is_decoded) throw std::runtime_error("a sample cannot be decoded");
        return decoded_;
    }

private:
    static ddsi_serdata* encoded(ddsi_serdata* data) {
        if (!data) throw std::runtime_error("a sample cannot be encoded");
        return data;
    }

    const dds_topic_descriptor_t& descriptor_;
    ddsi_serdata* written_ = nullptr;
    Sample decoded_{};
};

/// A content (see content.hpp) that is decoded in the order in which it was encoded.
class Codec {
public:
    explicit Codec(const Session& session)
        : mix_(session.options.mix),
          data_type_(session, lab_MarketData_desc, "MarketData", data_.mark(0)),
          request_type_(session, lab_QuoteRequest_desc, "QuoteRequest", request_.mark(0)) {}

    size_t prepare(uint64_t number, uint64_t) {
        const auto counter = static_cast<uint32_t>(number);
        encoded_ = kind_of(number) == lab::Kind::market_data ? data_type_.encode(data_.mark(counter))
                                                             : request_type_.encode(request_.mark(counter));
        return ddsi_serdata_size(encoded_);
    }

    void write(uint8_t* place) {
        ddsi_serdata_to_ser(encoded_, 0, ddsi_serdata_size(encoded_), place);
        ddsi_serdata_unref(encoded_);
    }

    void read(lab::Bytes bytes) {
        const uint64_t number = decoded_++;
        const bool is_data = kind_of(number) == lab::Kind::market_data;
        const uint32_t counter = is_data ? data_type_.decode(bytes).counter : request_type_.decode(bytes).counter;
        if (counter != static_cast<uint32_t>(number)) throw std::runtime_error("another sample was decoded");
    }

private:
    lab::Kind kind_of(uint64_t number) const {
        return lab::kind_of(number, mix_, lab::Published::four_in_five);
    }

    lab::Mix mix_;
    Example<lab_MarketData> data_{lab::market_data()};
    Example<lab_QuoteRequest> request_{lab::quote_request()};
    Type<lab_MarketData> data_type_;
    Type<lab_QuoteRequest> request_type_;
    ddsi_serdata* encoded_ = nullptr;
    uint64_t decoded_ = 0;
};
