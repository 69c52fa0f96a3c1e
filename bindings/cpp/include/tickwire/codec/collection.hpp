/* How sequences, maps and arrays are encoded. */
#ifndef TICKWIRE_CODEC_COLLECTION_HPP
#define TICKWIRE_CODEC_COLLECTION_HPP

#include <array>
#include <map>
#include <utility>
#include <vector>

#include <tickwire/codec/number.hpp>

namespace tickwire {
namespace cdr {

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
        const std::size_t size = C::primitive ? 0 : sizeof(element) + apart<C>();
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

/* Keeps at most so many elements. */
template <class T>
void trim(std::vector<T> &values, std::size_t bound)
{
    if (values.size() > bound)
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(bound), values.end());
}

/* Maps belong to keys as they are. Of one that is read, the first `Keep` entries are kept, 0 for all. */
template <class C, class V, std::uint32_t Bound, std::uint32_t Keep = 0>
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
        const std::size_t size =
            sizeof(typename type::value_type) + 4 * sizeof(void *) + apart<C>() + apart<V>();
        if (!tw_cdr_enter_sequence(r, Bound, C::primitive && V::primitive, C::least + V::least, size, &scope, &length))
            return false;
        map.clear();
        for (std::uint32_t i = 0; i < length; i++) {
            typename C::type key{};
            if (!C::template read<false>(r, key))
                return false;
            if (Keep != 0 && i >= Keep) {
                typename V::type value{};
                V::reset(value);
                if (!V::template read<false>(r, value))
                    return false;
                continue;
            }
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

    static std::size_t apart() { return N * cdr::apart<Inner>(); }
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

} // namespace cdr
} // namespace tickwire

#endif
