/// Samples and their encoding with Fast CDR, member by member as the code does that fastddsgen generates.
#pragma once

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastcdr/exceptions/BadParamException.h>
#include <fastdds/dds/topic/TopicDataType.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "market.hpp"

/// A message of bytes.
struct Payload {
    std::vector<uint8_t> data;
};

/// The members of a sample, in the order of the IDL (see Feed.idl of the peer cyclone).
template <class Self>
auto members(Self& self) {
    using Sample = std::remove_const_t<Self>;
    if constexpr (std::is_same_v<Sample, Payload>) {
        return std::tie(self.data);
    } else if constexpr (std::is_same_v<Sample, lab::MarketDataEntry>) {
        return std::tie(self.mdUpdateAction, self.mdPriceLevel, self.mdEntryType, self.openCloseSettleFlag,
                        self.securityIDSource, self.securityID, self.rptSeq, self.mdEntryPx,
                        self.mdEntryTime, self.mdEntrySize, self.numberOfOrders, self.tradingSessionID,
                        self.netChgPrevDay, self.tradeVolume, self.tradeCondition, self.tickDirection,
                        self.quoteCondition, self.aggressorSide, self.matchEventIndicator);
    } else if constexpr (std::is_same_v<Sample, lab::MarketData>) {
        return std::tie(self.isEcho, self.counter, self.securityID, self.applVersionID, self.messageType,
                        self.senderCompID, self.msgSeqNum, self.sendingTime, self.tradeDate, self.mdEntries);
    } else if constexpr (std::is_same_v<Sample, lab::RelatedSym>) {
        return std::tie(self.symbol, self.orderQuantity, self.side, self.transactTime, self.quoteType,
                        self.securityID, self.securityIDSource);
    } else {
        static_assert(std::is_same_v<Sample, lab::QuoteRequest>);
        return std::tie(self.isEcho, self.counter, self.securityID, self.applVersionID, self.messageType,
                        self.senderCompID, self.msgSeqNum, self.sendingTime, self.quoteReqID, self.related);
    }
}

/// Calls `visit(member)` for each.
template <class Sample, class Visit>
void for_each_member(Sample& sample, Visit& visit) {
    std::apply([&visit](auto&... member) { (visit(member), ...); }, members(sample));
}

/// How long samples are when encoded.
class Len {
public:
    template <class Number>
    void operator()(const Number& number) {
        add(sizeof number);
    }

    void operator()(const std::string& text) {
        add(sizeof(uint32_t));
        len_ += text.size() + 1;
    }

    void operator()(const std::vector<uint8_t>& bytes) {
        add(sizeof(uint32_t));
        len_ += bytes.size();
    }

    template <class Element>
    void operator()(const std::vector<Element>& elements) {
        add(sizeof(uint32_t));
        for (const Element& element : elements) for_each_member(element, *this);
    }

    size_t get() const { return len_; }

private:
    void add(size_t size) { len_ += eprosima::fastcdr::Cdr::alignment(len_, size) + size; }

    size_t len_ = 0;
};

struct Encoder {
    eprosima::fastcdr::Cdr& cdr;

    template <class Member>
    void operator()(const Member& member) {
        cdr << member;
    }

    template <class Element>
    void operator()(const std::vector<Element>& elements) {
        if constexpr (std::is_same_v<Element, uint8_t>) {
            cdr << elements;
        } else {
            cdr << static_cast<uint32_t>(elements.size());
            for (const Element& element : elements) for_each_member(element, *this);
        }
    }
};

struct Decoder {
    eprosima::fastcdr::Cdr& cdr;

    template <class Member>
    void operator()(Member& member) {
        cdr >> member;
    }

    template <class Element>
    void operator()(std::vector<Element>& elements) {
        if constexpr (std::is_same_v<Element, uint8_t>) {
            cdr >> elements;
        } else {
            uint32_t len = 0;
            cdr >> len;
            if (len > MAX_ELEMENTS) throw eprosima::fastcdr::exception::BadParamException("too many elements");
            elements.resize(len);
            for (Element& element : elements) for_each_member(element, *this);
        }
    }

private:
    static constexpr uint32_t MAX_ELEMENTS = 100;
};

/// What the library has to know of the type of a sample.
template <class Sample>
class Type : public eprosima::fastdds::dds::TopicDataType {
public:
    using SerializedPayload = eprosima::fastrtps::rtps::SerializedPayload_t;

    /// A sample takes no more than `max_len` bytes if it is bounded, else about as many.
    Type(const std::string& name, size_t max_len, bool is_bounded) : is_bounded_(is_bounded) {
        setName(name.c_str());
        m_typeSize = static_cast<uint32_t>(max_len);
        m_isGetKeyDefined = IS_KEYED;
    }

    bool serialize(void* data, SerializedPayload* payload) override {
        using namespace eprosima::fastcdr;
        FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->max_size);
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
        payload->encapsulation = CDR_LE;
        try {
            cdr.serialize_encapsulation();
            Encoder encoder{cdr};
            for_each_member(*static_cast<const Sample*>(data), encoder);
        } catch (const exception::Exception&) {
            return false;
        }
        payload->length = static_cast<uint32_t>(cdr.getSerializedDataLength());
        return true;
    }

    bool deserialize(SerializedPayload* payload, void* data) override {
        using namespace eprosima::fastcdr;
        FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->length);
        Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
        try {
            cdr.read_encapsulation();
            Decoder decoder{cdr};
            for_each_member(*static_cast<Sample*>(data), decoder);
        } catch (const exception::Exception&) {
            return false;
        }
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] {
            Len len;
            for_each_member(*static_cast<const Sample*>(data), len);
            return static_cast<uint32_t>(ENCAPSULATION_LEN + len.get());
        };
    }

    void* createData() override { return new Sample(); }
    void deleteData(void* data) override { delete static_cast<Sample*>(data); }

    /// The key is securityID, big-endian, where there is one.
    bool getKey(void* data, eprosima::fastrtps::rtps::InstanceHandle_t* handle, bool) override {
        if constexpr (IS_KEYED) {
            const uint32_t key = static_cast<const Sample*>(data)->securityID;
            for (unsigned at = 0; at < 16; ++at) {
                handle->value[at] = at < 4 ? static_cast<uint8_t>(key >> (24 - 8 * at)) : 0;
            }
        }
        return IS_KEYED;
    }

    bool is_bounded() const override { return is_bounded_; }

    static constexpr uint32_t ENCAPSULATION_LEN = 4;

private:
    static constexpr bool IS_KEYED = !std::is_same_v<Sample, Payload>;

    bool is_bounded_;
};
