/* How numbers, enums, bitmasks and bitsets are encoded. */
#ifndef TICKWIRE_CODEC_NUMBER_HPP
#define TICKWIRE_CODEC_NUMBER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <tickwire/cdr.h>

namespace tickwire {
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
 * makes a value what it begins with; apart, if such values may have memory elsewhere; `least`, the fewest bytes that a value takes; and whether it is `primitive`. Those
 * of numbers, and of arrays of numbers, also put and get bytes that are known to be there. -- */

/* The memory that a value has elsewhere at first, for members that are @external. */
template <class C, class = void>
constexpr bool has_apart = false;
template <class C>
constexpr bool has_apart<C, std::void_t<decltype(C::apart())>> = true;
template <class C>
std::size_t apart()
{
    if constexpr (has_apart<C>)
        return C::apart();
    else
        return 0;
}

/* The bits of a number of so many bytes. */
inline std::uint8_t swapped(std::uint8_t bits)
{
    return bits;
}
inline std::uint16_t swapped(std::uint16_t bits)
{
    return tw_cdr_swap16(bits);
}
inline std::uint32_t swapped(std::uint32_t bits)
{
    return tw_cdr_swap32(bits);
}
inline std::uint64_t swapped(std::uint64_t bits)
{
    return tw_cdr_swap64(bits);
}
template <std::size_t Size>
using BitsOf = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
struct Number {
    using type = T;
    static constexpr std::size_t least = sizeof(T), key_least = least;
    static constexpr bool primitive = true;

    static void put(std::uint8_t *at, T value, bool swap)
    {
        BitsOf<sizeof(T)> bits;
        std::memcpy(&bits, &value, sizeof bits);
        if (swap)
            bits = swapped(bits);
        std::memcpy(at, &bits, sizeof bits);
    }
    static bool get(tw_cdr_reader *r, const std::uint8_t *at, T &value)
    {
        if constexpr (std::is_same_v<T, bool>)
            return tw_cdr_get_boolean(r, at, &value);
        BitsOf<sizeof(T)> bits;
        std::memcpy(&bits, at, sizeof bits);
        if (r->swap)
            bits = swapped(bits);
        // Stored as what it is, so that compilers know that the reader stays as it is.
        T number;
        std::memcpy(&number, &bits, sizeof bits);
        value = number;
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
        if (!Literals<E>::has(number) && !tw_cdr_not_constructed(r, TW_CDR_LITERAL))
            return false;
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

} // namespace cdr
} // namespace tickwire

#endif
