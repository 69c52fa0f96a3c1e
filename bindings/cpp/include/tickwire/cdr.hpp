/*
 * tickwire/cdr.hpp: what C++ of IDL shares, over tickwire/cdr.h, which has the encoding.
 *
 * `tickwire idl gen --lang cpp` makes a header of IDL that needs this one, C++17 and nothing else. Programs that
 * use <dds/dds.hpp> need nothing of it; others write and read payloads with tickwire::to_payload() and
 * tickwire::from_payload(). IDL.md, beside the folder of this header, has the mapping of IDL to C++.
 *
 * Whatever bytes a payload has, reading it ends with a value or a status: nothing outside of the payload is
 * read, and the memory that is taken is in proportion to it.
 */
#ifndef TICKWIRE_CDR_HPP
#define TICKWIRE_CDR_HPP

#include <array>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tickwire/cdr.h>
#include <tickwire/codec/collection.hpp>
#include <tickwire/codec/member.hpp>
#include <tickwire/codec/number.hpp>
#include <tickwire/codec/text.hpp>
#include <tickwire/external.hpp>
#include <tickwire/local.hpp>
#include <tickwire/print.hpp>

namespace tickwire {

/* Memory that payloads are written into, one after the other. */
class Buffer {
public:
    Buffer() = default;
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { tw_cdr_writer_free(&writer_); }

    /* The payload that was written last. */
    const std::uint8_t *data() const { return writer_.data; }
    std::size_t size() const { return writer_.size; }
    /* After a failure, the innermost member concerned, such as "market::Quote.symbol"; else NULL. */
    const char *member() const { return writer_.member; }
    tw_cdr_writer *writer() { return &writer_; }

private:
    tw_cdr_writer writer_ = TW_CDR_WRITER;
};

/* ---- Payloads of topics' types: the bytes of a sample behind the four that tell its encoding. ---- */

/* Whether a type has code of IDL, and is a topic's. */
template <class T, class = void>
struct is_topic_type : std::false_type {};
template <class T>
struct is_topic_type<T, std::void_t<decltype(cdr::Codec<T>::has_key)>> : std::true_type {};

/* Writes a sample in place of what the buffer had. A writer may be tw_cdr_writer_over() memory that there is. */
template <class T>
tw_cdr_status to_payload(const T &value, tw_cdr_version version, tw_cdr_writer *w)
{
    const bool written =
        tw_cdr_open_payload(w, version, cdr::Codec<T>::extensibility) && cdr::Codec<T>::encode(value, w);
    return tw_cdr_close_payload(w, written);
}
template <class T>
tw_cdr_status to_payload(const T &value, tw_cdr_version version, Buffer &buffer)
{
    return to_payload(value, version, buffer.writer());
}

/* The same of the key alone. */
template <class T>
tw_cdr_status key_to_payload(const T &value, tw_cdr_version version, tw_cdr_writer *w)
{
    bool written = tw_cdr_open_payload(w, version, cdr::Codec<T>::extensibility);
    if constexpr (cdr::Codec<T>::has_key)
        written = written && cdr::Codec<T>::encode_key(value, w);
    return tw_cdr_close_payload(w, written);
}
template <class T>
tw_cdr_status key_to_payload(const T &value, tw_cdr_version version, Buffer &buffer)
{
    return key_to_payload(value, version, buffer.writer());
}

/* Reads a sample into a value, whose memory is used again. After a failure the value is some mixture of what it was and
 * what was read. */
template <class T>
tw_cdr_status from_payload(T &value, const void *payload, std::size_t size)
{
    tw_cdr_reader r;
    try {
        if (tw_cdr_enter_payload(&r, payload, size, cdr::Codec<T>::extensibility))
            cdr::Codec<T>::decode(value, &r);
    } catch (const std::bad_alloc &) {
        tw_cdr_reject(&r, TW_CDR_NO_MEMORY);
    }
    return r.status;
}

/* The same of the key alone; other members stay as they are. */
template <class T>
tw_cdr_status key_from_payload(T &value, const void *payload, std::size_t size)
{
    tw_cdr_reader r;
    try {
        [[maybe_unused]] const bool entered =
            tw_cdr_enter_payload(&r, payload, size, cdr::Codec<T>::extensibility);
        if constexpr (cdr::Codec<T>::has_key)
            if (entered)
                cdr::Codec<T>::decode_key(value, &r);
    } catch (const std::bad_alloc &) {
        tw_cdr_reject(&r, TW_CDR_NO_MEMORY);
    }
    return r.status;
}

} // namespace tickwire

#endif
