/* How samples of a type become payloads, for the entities of <dds/dds.hpp>. */
#ifndef TICKWIRE_TYPE_SUPPORT_HPP
#define TICKWIRE_TYPE_SUPPORT_HPP

#include <dds/core/types.hpp>
#include <tickwire/cdr.hpp>

namespace tickwire {

/* A sample that is nothing but bytes, of a type that is nothing but one sequence of octets: no encoding, and what others
 * write as `struct Name { sequence<octet> member; };` is such a sample. */
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::vector<std::uint8_t> data) : data_(std::move(data)) {}
    Bytes(const void *data, std::size_t size)
        : data_(static_cast<const std::uint8_t *>(data), static_cast<const std::uint8_t *>(data) + size)
    {
    }

    const std::vector<std::uint8_t> &data() const { return data_; }
    std::vector<std::uint8_t> &data() { return data_; }
    void data(std::vector<std::uint8_t> data) { data_ = std::move(data); }
    friend bool operator==(const Bytes &a, const Bytes &b) { return a.data_ == b.data_; }
    friend bool operator!=(const Bytes &a, const Bytes &b) { return !(a == b); }

private:
    std::vector<std::uint8_t> data_;
};

/* The same where it lies: what is read, in memory that its writer has lent or the reader's own, for as long as the
 * LoanedSamples that it came in; what is written, in the caller's. DataWriter::loan_sample() writes in place. */
class BytesInPlace {
public:
    BytesInPlace() = default;
    BytesInPlace(const void *data, std::size_t size) : data_(static_cast<const std::uint8_t *>(data)), size_(size) {}
    /* A copy could outlive the bytes: Bytes is one of them. */
    BytesInPlace(const BytesInPlace &) = delete;
    BytesInPlace &operator=(const BytesInPlace &) = delete;
    BytesInPlace(BytesInPlace &&) = default;
    BytesInPlace &operator=(BytesInPlace &&) = default;

    const std::uint8_t *data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const std::uint8_t *begin() const { return data_; }
    const std::uint8_t *end() const { return data_ + size_; }

private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

/* The type of such samples: its name, that of its only member, and how many octets that has at most, 0 for any number. */
struct BytesType {
    std::string name;
    std::string member;
    std::uint32_t bound = 0;
    /* TW_FINAL or TW_APPENDABLE */
    std::int32_t extensibility = TW_APPENDABLE;
};

namespace detail {

/* Memory of this thread for payloads that are being written. There are several if a write waits for room, and a listener
 * that is called meanwhile on the same thread writes, too. */
class Scratch {
public:
    Scratch() : all_(of_thread())
    {
        if (all_.taken == all_.buffers.size())
            all_.grow();
        buffer_ = all_.buffers[all_.taken++].get();
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() { all_.taken--; }

    Buffer &buffer() { return *buffer_; }

private:
    struct All {
        std::vector<std::unique_ptr<Buffer>> buffers;
        std::size_t taken = 0;

        [[gnu::cold, gnu::noinline]] void grow() { buffers.push_back(std::make_unique<Buffer>()); }
    };
    static All &of_thread()
    {
        thread_local All all;
        return all;
    }

    All &all_;
    Buffer *buffer_;
};

/* The bytes of a sample of a type of IDL, for as long as this lives. */
class Encoded {
public:
    /* `write` writes them into a buffer. */
    template <class Write>
    Encoded(const char *type, Write write)
    {
        Buffer &buffer = scratch_.buffer();
        const tw_cdr_status status = write(buffer);
        if (status != TW_CDR_OK)
            refuse(type, status);
        data = buffer.data();
        size = buffer.size();
    }

    const void *data;
    std::size_t size;

private:
    [[noreturn, gnu::cold, gnu::noinline]] void refuse(const char *type, tw_cdr_status status)
    {
        const char *const member = scratch_.buffer().member();
        const std::string why = std::string(member == nullptr ? type : member) + ": " + tw_cdr_status_text(status);
        if (status == TW_CDR_NO_MEMORY)
            throw dds::core::OutOfResourcesError(why);
        throw dds::core::InvalidDataError(why);
    }

    Scratch scratch_;
};

/* The bytes of a sample that is nothing else. */
struct Plain {
    const void *data;
    std::size_t size;
};

/* Types of IDL. */
template <class T>
struct TypeSupport {
    /* Whether values are where samples lie, which have to stay there. */
    static constexpr bool in_place = false;
    static_assert(is_topic_type<T>::value,
                  "no type of a topic: include the header that `tickwire idl gen --lang cpp` made, and take a struct that "
                  "is not @nested");
    static constexpr bool has_key = cdr::Codec<T>::has_key;
    /* What a writer takes that is not told otherwise. */
    static constexpr tw_cdr_version version =
        cdr::Codec<T>::extensibility == TW_CDR_FINAL ? TW_CDR_XCDR1 : TW_CDR_XCDR2;

    static std::unique_ptr<Object> type()
    {
        tw_type *made;
        check(tw_type_from_idl(cdr::Codec<T>::idl(), cdr::Codec<T>::name, nullptr, &made));
        return std::make_unique<Object>(made);
    }
    static Encoded encode(const T &value, tw_cdr_version version)
    {
        return Encoded(cdr::Codec<T>::name, [&](Buffer &buffer) { return to_payload(value, version, buffer); });
    }
    static Encoded encode_key(const T &value, tw_cdr_version version)
    {
        return Encoded(cdr::Codec<T>::name, [&](Buffer &buffer) { return key_to_payload(value, version, buffer); });
    }
    static bool decode(T &value, const void *data, std::size_t size)
    {
        return from_payload(value, data, size) == TW_CDR_OK;
    }
    static bool decode_key(T &value, const void *data, std::size_t size)
    {
        return key_from_payload(value, data, size) == TW_CDR_OK;
    }
};

/* Samples that are bytes alone. */
template <class T>
struct BytesSupport {
    static constexpr bool has_key = false;
    static constexpr tw_cdr_version version = TW_CDR_XCDR2;

    static Plain encode_key(const T &, tw_cdr_version) { return {nullptr, 0}; }
    static bool decode_key(T &, const void *, std::size_t) { return true; }
};

template <>
struct TypeSupport<Bytes> : BytesSupport<Bytes> {
    static constexpr bool in_place = false;

    static Plain encode(const Bytes &value, tw_cdr_version) { return {value.data().data(), value.data().size()}; }
    static bool decode(Bytes &value, const void *data, std::size_t size)
    {
        const auto *bytes = static_cast<const std::uint8_t *>(data);
        value.data().assign(bytes, bytes + size);
        return true;
    }
};

template <>
struct TypeSupport<BytesInPlace> : BytesSupport<BytesInPlace> {
    static constexpr bool in_place = true;

    static Plain encode(const BytesInPlace &value, tw_cdr_version) { return {value.data(), value.size()}; }
    static bool decode(BytesInPlace &value, const void *data, std::size_t size)
    {
        value = BytesInPlace(data, size);
        return true;
    }
};

/* Types whose samples are bytes alone. */
template <class T>
constexpr bool is_bytes = std::is_base_of_v<BytesSupport<T>, TypeSupport<T>>;

} // namespace detail
} // namespace tickwire

#endif
