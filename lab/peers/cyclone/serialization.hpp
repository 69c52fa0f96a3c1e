/// Encoding and decoding by the library's own streams of CDR, which a write and a take use, without what they
/// do besides: no sample is kept, no key is looked for.
#pragma once

#include <dds/ddsi/ddsi_cdrstream.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_serdata_default.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "sample.hpp"
#include "session.hpp"

/// A type as the library keeps it, with which it encodes: XCDR1, which is what a final type is sent as.
template <class Sample>
class Type {
public:
    /// It comes with each sample that was written.
    Type(const Session& session, const dds_topic_descriptor_t& type, const std::string& name, const Sample& sample)
        : descriptor_(type) {
        const dds_entity_t topic =
            check(dds_create_topic(session.participant, &type, name.c_str(), nullptr, nullptr), "topic");
        const dds_entity_t reader =
            check(dds_create_reader(session.participant, topic, session.reader_qos().get(), nullptr), "reader");
        const dds_entity_t writer =
            check(dds_create_writer(session.participant, topic, session.writer_qos().get(), nullptr), "writer");
        check(dds_write(writer, &sample), "write");
        dds_sample_info_t info;
        if (dds_takecdr(reader, &written_, 1, &info, DDS_ANY_STATE) != 1) throw std::runtime_error("nothing to take");
        ddsi_serdata_to_ser(written_, 0, HEADER_LEN, header_);
        dds_ostream_init(&out_, 4096, XCDR1);
    }

    ~Type() {
        dds_ostream_fini(&out_);
        ddsi_serdata_unref(written_);
        dds_sample_free(&decoded_, &descriptor_, DDS_FREE_CONTENTS);
    }
    Type(const Type&) = delete;
    Type& operator=(const Type&) = delete;

    /// Keeps the bytes, returns their number.
    size_t encode(const Sample& sample) {
        out_.m_index = 0;
        if (!dds_stream_write_sample(&out_, &sample, type())) throw std::runtime_error("a sample cannot be encoded");
        return HEADER_LEN + out_.m_index;
    }

    void write(uint8_t* place) const {
        std::memcpy(place, header_, HEADER_LEN);
        std::memcpy(place + HEADER_LEN, out_.m_buffer, out_.m_index);
    }

    /// Looks whether the bytes are a sample, and decodes them into one that is used again.
    void decode(lab::Bytes bytes) {
        auto* data = const_cast<uint8_t*>(bytes.data) + HEADER_LEN;
        const auto len = static_cast<uint32_t>(bytes.len - HEADER_LEN);
        uint32_t actual = 0;
        if (!dds_stream_normalize(data, len, false, XCDR1, type(), false, &actual)) {
            throw std::runtime_error("a sample cannot be decoded");
        }
        dds_istream_t in;
        dds_istream_init(&in, actual, data, XCDR1);
        dds_stream_read_sample(&in, &decoded_, type());
    }

    const Sample& decoded() const { return decoded_; }

private:
    static constexpr uint32_t XCDR1 = 1;
    /// Of the encapsulation.
    static constexpr size_t HEADER_LEN = 4;

    const ddsi_sertype_default* type() const {
        return reinterpret_cast<const ddsi_sertype_default*>(written_->type);
    }

    const dds_topic_descriptor_t& descriptor_;
    ddsi_serdata* written_ = nullptr;
    uint8_t header_[HEADER_LEN];
    dds_ostream_t out_;
    Sample decoded_{};
};

/// A codec as measure_codec wants it (see codec.hpp).
class Codec {
public:
    explicit Codec(const Session& session)
        : mix_(session.options.mix),
          data_type_(session, lab_MarketData_desc, "MarketData", data_.mark(0)),
          request_type_(session, lab_QuoteRequest_desc, "QuoteRequest", request_.mark(0)) {}

    size_t encode(uint64_t number) {
        const auto counter = static_cast<uint32_t>(number);
        is_data_ = is_data(number);
        return is_data_ ? data_type_.encode(data_.mark(counter)) : request_type_.encode(request_.mark(counter));
    }

    void write(uint8_t* place) { is_data_ ? data_type_.write(place) : request_type_.write(place); }

    void decode(uint64_t number, lab::Bytes bytes) {
        is_data(number) ? data_type_.decode(bytes) : request_type_.decode(bytes);
    }

    bool is_intact(uint64_t number) {
        const auto counter = static_cast<uint32_t>(number);
        return is_data(number) ? data_.is(data_type_.decoded(), counter, false)
                               : request_.is(request_type_.decoded(), counter, false);
    }

private:
    bool is_data(uint64_t number) const {
        return lab::kind_of(number, mix_, lab::Published::four_in_five) == lab::Kind::market_data;
    }

    lab::Mix mix_;
    Example<lab_MarketData> data_{lab::market_data()};
    Example<lab_QuoteRequest> request_{lab::quote_request()};
    Type<lab_MarketData> data_type_;
    Type<lab_QuoteRequest> request_type_;
    /// What is being encoded.
    bool is_data_ = true;
};
