/* How structs and unions, and members of them, are encoded. */
#ifndef TICKWIRE_CODEC_MEMBER_HPP
#define TICKWIRE_CODEC_MEMBER_HPP

#include <optional>
#include <utility>

#include <tickwire/codec/number.hpp>
#include <tickwire/external.hpp>
#include <tickwire/local.hpp>

namespace tickwire {
namespace cdr {

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
    static void reset(T &value) { detail::begin_anew(value); }
    template <class U = T>
    static auto apart() -> decltype(Codec<U>::apart())
    {
        return Codec<U>::apart();
    }
};

template <class C>
struct External {
    using type = external<typename C::type>;
    static constexpr std::size_t least = C::least, key_least = C::key_least;
    static constexpr bool primitive = false;

    static std::size_t apart() { return sizeof(typename C::type) + cdr::apart<C>(); }
    template <bool K>
    static bool write(tw_cdr_writer *w, const type &value)
    {
        return value ? C::template write<K>(w, *value) : tw_cdr_refuse(w, TW_CDR_NULL);
    }
    template <bool K>
    static bool read(tw_cdr_reader *r, type &value)
    {
        if (!value) {
            if (!tw_cdr_charge(r, 1, apart()))
                return false;
            reset(value);
        }
        return C::template read<K>(r, *value);
    }
    static void reset(type &value)
    {
        value = type();
        C::reset(*value);
    }
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

/* An optional member that is there. */
template <class C, bool K, class T>
bool read_present(tw_cdr_reader *r, std::optional<T> &value)
{
    if (!value) {
        if (!tw_cdr_charge(r, 1, apart<C>()))
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
} // namespace tickwire

#endif
