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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tickwire/cdr.h>

namespace tickwire {

/* A value on its own, for members that are @external: copied with what it is in. There is always one, but where it was
 * moved from. */
template <class T>
class external {
public:
    external() : value_(new T()) {}
    external(const external &from) : value_(from.value_ ? new T(*from.value_) : nullptr) {}
    external(external &&from) noexcept = default;
    template <class A, class = std::enable_if_t<std::conjunction_v<
                           std::negation<std::is_same<std::decay_t<A>, external>>, std::is_constructible<T, A &&>>>>
    external(A &&value) : value_(new T(std::forward<A>(value)))
    {
    }
    ~external() = default;

    external &operator=(const external &from)
    {
        external copy(from);
        value_.swap(copy.value_);
        return *this;
    }
    external &operator=(external &&from) noexcept = default;

    explicit operator bool() const { return static_cast<bool>(value_); }
    T &operator*() { return *value_; }
    const T &operator*() const { return *value_; }
    T *operator->() { return value_.get(); }
    const T *operator->() const { return value_.get(); }
    T *get() { return value_.get(); }
    const T *get() const { return value_.get(); }

    friend bool operator==(const external &a, const external &b)
    {
        return a.value_ && b.value_ ? *a.value_ == *b.value_ : !a.value_ && !b.value_;
    }
    friend bool operator!=(const external &a, const external &b) { return !(a == b); }

private:
    std::unique_ptr<T> value_;
};

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

namespace cdr {

/* What a header of IDL knows of a struct or union. */
template <class T>
struct Codec;

/* The same of an enum. */
template <class T>
struct Literals;

/* The same of a bitset. */
template <class T>
struct BitsetCodec;

/* -- Codecs of all other types. Each has the `type` of its values; write and read, of the key alone if K; reset, which
 * makes a value what it begins with; `least`, the fewest bytes that a value takes; and whether it is `primitive`. Those
 * of numbers, and of arrays of numbers, also put and get bytes that are known to be there. -- */

template <class T>
struct Number {
    using type = T;
    static constexpr std::size_t least = sizeof(T), key_least = least;
    static constexpr bool primitive = true;

    static void put(std::uint8_t *at, T value, bool swap) { tw_cdr_copy(at, &value, 1, sizeof value, swap); }
    static bool get(tw_cdr_reader *r, const std::uint8_t *at, T &value)
    {
        if constexpr (std::is_same_v<T, bool>)
            return tw_cdr_get_boolean(r, at, &value);
        tw_cdr_copy(&value, at, 1, sizeof value, r->swap);
        return true;
    }
    template <bool K>
    static bool write(tw_cdr_writer *w, T value)
    {
        std::uint8_t *at = tw_cdr_room(w, sizeof(T), sizeof(T));
        if (at == nullptr)
            return false;
        put(at, value, w->swap);
        return true;
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, T &value)
    {
        const std::uint8_t *at = tw_cdr_take(r, sizeof(T), sizeof(T));
        return at != nullptr && get(r, at, value);
    }
    static bool write_all(tw_cdr_writer *w, const T *values, std::size_t count)
    {
        if (count == 0)
            return true;
        if (count > SIZE_MAX / sizeof(T))
            return tw_cdr_refuse(w, TW_CDR_LENGTH);
        std::uint8_t *at = tw_cdr_room(w, sizeof(T), count * sizeof(T));
        if (at == nullptr)
            return false;
        tw_cdr_copy(at, values, count, sizeof(T), w->swap);
        return true;
    }
    static bool read_all(tw_cdr_reader *r, T *values, std::size_t count)
    {
        if (count == 0)
            return true;
        if (count > SIZE_MAX / sizeof(T))
            return tw_cdr_reject(r, TW_CDR_END);
        const std::uint8_t *at = tw_cdr_take(r, sizeof(T), count * sizeof(T));
        if (at == nullptr)
            return false;
        if (std::is_same_v<T, bool> && !tw_cdr_check_boolean(at, count))
            return tw_cdr_reject(r, TW_CDR_BOOLEAN);
        tw_cdr_copy(values, at, count, sizeof(T), r->swap);
        return true;
    }
    static void reset(T &value) { value = T(); }
};

/* A bitmask. */
template <class T>
struct Bits : Number<T> {
    static constexpr bool primitive = false;
};

template <class T, class Wire>
struct Bitset {
    using type = T;
    static constexpr std::size_t least = sizeof(Wire), key_least = least;
    static constexpr bool primitive = false;

    static void put(std::uint8_t *at, const T &value, bool swap)
    {
        Number<Wire>::put(at, BitsetCodec<T>::pack(value), swap);
    }
    static bool get(tw_cdr_reader *r, const std::uint8_t *at, T &value)
    {
        Wire bits = 0;
        Number<Wire>::get(r, at, bits);
        BitsetCodec<T>::unpack(bits, value);
        return true;
    }
    template <bool K>
    static bool write(tw_cdr_writer *w, const T &value)
    {
        return Number<Wire>::template write<K>(w, BitsetCodec<T>::pack(value));
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, T &value)
    {
        const std::uint8_t *at = tw_cdr_take(r, sizeof(Wire), sizeof(Wire));
        return at != nullptr && get(r, at, value);
    }
    static void reset(T &value) { value = T(); }
};

/* The lowest bits as a number with a sign. */
inline std::int64_t signed_bits(std::uint64_t bits, unsigned count)
{
    const std::uint64_t sign = UINT64_C(1) << (count - 1);
    const std::uint64_t mask = sign | (sign - 1);
    bits &= mask;
    return (bits & sign) != 0 ? -static_cast<std::int64_t>(~bits & mask) - 1 : static_cast<std::int64_t>(bits);
}

template <class E, class Wire>
struct Enumerated {
    using type = E;
    static constexpr std::size_t least = sizeof(Wire), key_least = least;
    static constexpr bool primitive = false;

    static bool check(tw_cdr_writer *w, E value)
    {
        return Literals<E>::has(static_cast<std::int32_t>(value)) || tw_cdr_refuse(w, TW_CDR_LITERAL);
    }
    static void put(std::uint8_t *at, E value, bool swap) { Number<Wire>::put(at, static_cast<Wire>(value), swap); }
    static bool get(tw_cdr_reader *r, const std::uint8_t *at, E &value)
    {
        Wire number = 0;
        Number<Wire>::get(r, at, number);
        if (!Literals<E>::has(number))
            return tw_cdr_reject(r, TW_CDR_LITERAL);
        value = static_cast<E>(number);
        return true;
    }
    template <bool K>
    static bool write(tw_cdr_writer *w, E value)
    {
        return check(w, value) && Number<Wire>::template write<K>(w, static_cast<Wire>(value));
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, E &value)
    {
        const std::uint8_t *at = tw_cdr_take(r, sizeof(Wire), sizeof(Wire));
        return at != nullptr && get(r, at, value);
    }
    static void reset(E &value) { value = Literals<E>::first; }
};

template <std::uint32_t Bound>
struct Text {
    using type = std::string;
    static constexpr std::size_t least = 4, key_least = least;
    static constexpr bool primitive = false;

    template <bool K>
    static bool write(tw_cdr_writer *w, const std::string &text)
    {
        const std::size_t length = text.size();
        const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
        if ((Bound != 0 && length > Bound) || length >= UINT32_MAX)
            return tw_cdr_refuse(w, TW_CDR_LENGTH);
        if (!is_text(bytes, length))
            return tw_cdr_refuse(w, TW_CDR_TEXT);
        std::uint8_t *at = tw_cdr_room(w, 4, length + 5);
        if (at == nullptr)
            return false;
        tw_cdr_put_uint32(at, static_cast<std::uint32_t>(length) + 1, w->swap);
        if (length > 0)
            std::memcpy(at + 4, bytes, length);
        at[4 + length] = 0;
        return true;
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, std::string &text)
    {
        std::uint32_t size;
        if (!tw_cdr_read_uint32(r, &size))
            return false;
        const std::size_t length = size == 0 ? 0 : std::size_t{size} - 1;
        if (size > r->limit - r->position || (Bound != 0 && length > Bound))
            return tw_cdr_reject(r, TW_CDR_LENGTH);
        const std::uint8_t *at = r->bytes + r->position;
        if ((size > 0 && at[length] != 0) || !is_text(at, length))
            return tw_cdr_reject(r, TW_CDR_TEXT);
        // Most often it is as long as the one before.
        if (text.size() != length)
            text.assign(reinterpret_cast<const char *>(at), length);
        else if (length > 0)
            std::memcpy(text.data(), at, length);
        r->position += size;
        return true;
    }
    static void reset(std::string &text) { text.clear(); }

private:
    /* Whether bytes are UTF-8 without NUL. */
    static bool is_text(const std::uint8_t *at, std::size_t length)
    {
        return length == 0 || tw_cdr_is_plain(at, length) ||
               (std::memchr(at, 0, length) == nullptr && tw_cdr_is_utf8(at, length));
    }
};

template <std::uint32_t Bound>
struct WideText {
    using type = std::u16string;
    static constexpr std::size_t least = 4, key_least = least;
    static constexpr bool primitive = false;

    template <bool K>
    static bool write(tw_cdr_writer *w, const std::u16string &text)
    {
        const std::size_t length = text.size();
        if ((Bound != 0 && length > Bound) || length > UINT32_MAX / 2)
            return tw_cdr_refuse(w, TW_CDR_LENGTH);
        if (!is_text(text))
            return tw_cdr_refuse(w, TW_CDR_TEXT);
        return tw_cdr_write_uint32(w, static_cast<std::uint32_t>(length) * 2) &&
               Number<char16_t>::write_all(w, text.data(), length);
    }
    /* A NUL at the end, which some write, is left out. */
    template <bool K>
    static bool read(tw_cdr_reader *r, std::u16string &text)
    {
        std::uint32_t size;
        if (!tw_cdr_read_uint32(r, &size))
            return false;
        const std::size_t length = size / 2;
        if (size % 2 != 0 || size > r->limit - r->position || (Bound != 0 && length > std::size_t{Bound} + 1))
            return tw_cdr_reject(r, TW_CDR_LENGTH);
        text.resize(length);
        if (!Number<char16_t>::read_all(r, text.data(), length))
            return false;
        if (length > 0 && text.back() == 0)
            text.pop_back();
        if (Bound != 0 && text.size() > Bound)
            return tw_cdr_reject(r, TW_CDR_LENGTH);
        return is_text(text) || tw_cdr_reject(r, TW_CDR_TEXT);
    }
    static void reset(std::u16string &text) { text.clear(); }

private:
    /* Whether units are UTF-16 without NUL. */
    static bool is_text(const std::u16string &text)
    {
        for (std::size_t i = 0; i < text.size(); i++) {
            if (text[i] == 0 || (text[i] & 0xfc00) == 0xdc00)
                return false;
            if ((text[i] & 0xfc00) == 0xd800 && (++i == text.size() || (text[i] & 0xfc00) != 0xdc00))
                return false;
        }
        return true;
    }
};

/* A struct or union. */
template <class T>
struct Aggregate {
    using type = T;
    static constexpr std::size_t least = Codec<T>::least, key_least = Codec<T>::key_least;
    static constexpr bool primitive = false;

    template <bool K>
    static bool write(tw_cdr_writer *w, const T &value)
    {
        return K ? Codec<T>::encode_key(value, w) : Codec<T>::encode(value, w);
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, T &value)
    {
        return K ? Codec<T>::decode_key(value, r) : Codec<T>::decode(value, r);
    }
    static void reset(T &value) { value = T(); }
};

template <class C, std::uint32_t Bound>
struct Sequence {
    using element = typename C::type;
    using type = std::vector<element>;
    static constexpr std::size_t least = 4, key_least = least;
    static constexpr bool primitive = false;
    static constexpr bool at_once = C::primitive && !std::is_same_v<element, bool>;

    template <bool K>
    static bool write(tw_cdr_writer *w, const type &values)
    {
        tw_cdr_mark mark;
        if (values.size() > UINT32_MAX)
            return tw_cdr_refuse(w, TW_CDR_LENGTH);
        if (!tw_cdr_open_sequence(w, static_cast<std::uint32_t>(values.size()), Bound, C::primitive, &mark))
            return false;
        if constexpr (at_once) {
            return C::write_all(w, values.data(), values.size());
        } else {
            for (const auto &value : values)
                if (!C::template write<K>(w, value))
                    return false;
            return tw_cdr_close_elements(w, &mark);
        }
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, type &values)
    {
        tw_cdr_scope scope;
        std::uint32_t length;
        constexpr std::size_t fewest = K ? C::key_least : C::least;
        constexpr std::size_t size = C::primitive ? 0 : sizeof(element);
        if (!tw_cdr_enter_sequence(r, Bound, C::primitive, fewest, size, &scope, &length))
            return false;
        values.resize(length);
        if constexpr (at_once) {
            if (!C::read_all(r, values.data(), length))
                return false;
        } else if constexpr (std::is_same_v<element, bool>) {
            for (std::uint32_t i = 0; i < length; i++) {
                bool value = false;
                if (!C::template read<K>(r, value))
                    return false;
                values[i] = value;
            }
        } else {
            for (auto &value : values)
                if (!C::template read<K>(r, value))
                    return false;
        }
        tw_cdr_leave(r, &scope);
        return true;
    }
    static void reset(type &values) { values.clear(); }
};

/* Maps belong to keys as they are. */
template <class C, class V, std::uint32_t Bound>
struct Map {
    using type = std::map<typename C::type, typename V::type>;
    static constexpr std::size_t least = 4, key_least = least;
    static constexpr bool primitive = false;

    template <bool K>
    static bool write(tw_cdr_writer *w, const type &map)
    {
        tw_cdr_mark mark;
        if (map.size() > UINT32_MAX)
            return tw_cdr_refuse(w, TW_CDR_LENGTH);
        const auto length = static_cast<std::uint32_t>(map.size());
        if (!tw_cdr_open_sequence(w, length, Bound, C::primitive && V::primitive, &mark))
            return false;
        for (const auto &entry : map)
            if (!C::template write<false>(w, entry.first) || !V::template write<false>(w, entry.second))
                return false;
        return tw_cdr_close_elements(w, &mark);
    }
    /* Of several entries with one key the last counts. */
    template <bool K>
    static bool read(tw_cdr_reader *r, type &map)
    {
        tw_cdr_scope scope;
        std::uint32_t length;
        constexpr std::size_t size = sizeof(typename type::value_type) + 4 * sizeof(void *);
        if (!tw_cdr_enter_sequence(r, Bound, C::primitive && V::primitive, C::least + V::least, size, &scope, &length))
            return false;
        map.clear();
        for (std::uint32_t i = 0; i < length; i++) {
            typename C::type key{};
            if (!C::template read<false>(r, key))
                return false;
            auto &value = map[std::move(key)];
            V::reset(value);
            if (!V::template read<false>(r, value))
                return false;
        }
        tw_cdr_leave(r, &scope);
        return true;
    }
    static void reset(type &map) { map.clear(); }
};

template <class C, std::size_t N, std::size_t... More>
struct Array;

/* What is in one dimension of an array. */
template <class C, std::size_t... More>
struct Within {
    using type = Array<C, More...>;
};
template <class C>
struct Within<C> {
    using type = C;
};

/* An array of one or several dimensions. */
template <class C, std::size_t N, std::size_t... More>
struct Array {
    using Inner = typename Within<C, More...>::type;
    using type = std::array<typename Inner::type, N>;
    static constexpr std::size_t least = N * Inner::least, key_least = N * Inner::key_least;
    static constexpr bool primitive = false;

    static void put(std::uint8_t *at, const type &values, bool swap)
    {
        if constexpr (sizeof...(More) == 0) {
            tw_cdr_copy(at, values.data(), N, C::least, swap);
        } else {
            for (std::size_t i = 0; i < N; i++)
                Inner::put(at + i * Inner::least, values[i], swap);
        }
    }
    static bool get(tw_cdr_reader *r, const std::uint8_t *at, type &values)
    {
        if constexpr (sizeof...(More) == 0) {
            tw_cdr_copy(values.data(), at, N, C::least, r->swap);
        } else {
            for (std::size_t i = 0; i < N; i++)
                Inner::get(r, at + i * Inner::least, values[i]);
        }
        return true;
    }
    template <bool K>
    static bool write(tw_cdr_writer *w, const type &values)
    {
        if constexpr (C::primitive) {
            return write_elements<K>(w, values);
        } else {
            tw_cdr_mark mark;
            return tw_cdr_open_array(w, &mark) && write_elements<K>(w, values) && tw_cdr_close_elements(w, &mark);
        }
    }
    template <bool K>
    static bool write_elements(tw_cdr_writer *w, const type &values)
    {
        if constexpr (sizeof...(More) == 0 && C::primitive) {
            return C::write_all(w, values.data(), N);
        } else {
            for (const auto &value : values) {
                if constexpr (sizeof...(More) == 0) {
                    if (!C::template write<K>(w, value))
                        return false;
                } else if (!Inner::template write_elements<K>(w, value)) {
                    return false;
                }
            }
            return true;
        }
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, type &values)
    {
        if constexpr (C::primitive) {
            return read_elements<K>(r, values);
        } else {
            tw_cdr_scope scope;
            if (!tw_cdr_enter_array(r, N, &scope) || !read_elements<K>(r, values))
                return false;
            tw_cdr_leave(r, &scope);
            return true;
        }
    }
    template <bool K>
    static bool read_elements(tw_cdr_reader *r, type &values)
    {
        if constexpr (sizeof...(More) == 0 && C::primitive) {
            return C::read_all(r, values.data(), N);
        } else {
            for (auto &value : values) {
                if constexpr (sizeof...(More) == 0) {
                    if (!C::template read<K>(r, value))
                        return false;
                } else if (!Inner::template read_elements<K>(r, value)) {
                    return false;
                }
            }
            return true;
        }
    }
    static void reset(type &values)
    {
        for (auto &value : values)
            Inner::reset(value);
    }
};

template <class C>
struct External {
    using type = external<typename C::type>;
    static constexpr std::size_t least = C::least, key_least = C::key_least;
    static constexpr bool primitive = false;

    template <bool K>
    static bool write(tw_cdr_writer *w, const type &value)
    {
        return value ? C::template write<K>(w, *value) : tw_cdr_refuse(w, TW_CDR_NULL);
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, type &value)
    {
        if (!value) {
            if (!tw_cdr_charge(r, 1, sizeof(typename C::type)))
                return false;
            value = type();
        }
        return C::template read<K>(r, *value);
    }
    static void reset(type &value) { value = type(); }
};

/* What a value begins with. */
template <class C>
typename C::type initial()
{
    typename C::type value{};
    C::reset(value);
    return value;
}

/* -- Members -- */

template <class C, bool K, class T>
bool write_member(tw_cdr_writer *w, std::uint32_t id, bool must_understand, std::uint32_t code, const T &value)
{
    tw_cdr_mark mark;
    return tw_cdr_open_member(w, id, must_understand, code, &mark) && C::template write<K>(w, value) &&
           tw_cdr_close_member(w, &mark);
}

template <class C, bool K, class T>
bool write_optional(tw_cdr_writer *w, std::uint32_t id, bool must_understand, const std::optional<T> &value)
{
    tw_cdr_mark mark;
    if (!value)
        return tw_cdr_write_absent(w, id, must_understand);
    return tw_cdr_open_optional(w, id, must_understand, &mark) && C::template write<K>(w, *value) &&
           tw_cdr_close_optional(w, &mark);
}

template <class C>
constexpr bool is_external = false;
template <class C>
constexpr bool is_external<External<C>> = true;

/* An optional member that is there. */
template <class C, bool K, class T>
bool read_present(tw_cdr_reader *r, std::optional<T> &value)
{
    if (!value) {
        if constexpr (is_external<C>)
            if (!tw_cdr_charge(r, 1, sizeof(*std::declval<T>())))
                return false;
        value.emplace();
    }
    return C::template read<K>(r, *value);
}

template <class C, bool K, class T>
bool read_optional(tw_cdr_reader *r, const tw_cdr_scope *scope, std::uint32_t id, std::optional<T> &value)
{
    tw_cdr_member member;
    bool present;
    if (!tw_cdr_enter_optional(r, scope, id, &member, &present))
        return false;
    if (!present) {
        value.reset();
        return true;
    }
    if (!read_present<C, K>(r, value))
        return false;
    tw_cdr_leave_member(r, &member);
    return true;
}

} // namespace cdr

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
