/* What `<<` of std::ostream shows of values of IDL. A program that uses it includes <iostream> or <ostream>; to others it
 * costs no more than being parsed. */
#ifndef TICKWIRE_PRINT_HPP
#define TICKWIRE_PRINT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tickwire/external.hpp>

namespace tickwire {
namespace cdr {

/* Adds a character in UTF-8. What would end the text, and what terminals obey, is escaped as in JSON. */
inline void append_shown(std::string &text, char32_t point, char quote)
{
    const auto byte = [&text](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
    if (point == static_cast<unsigned char>(quote) || point == U'\\') {
        text += '\\';
        byte(point);
    } else if (point == U'\n' || point == U'\t') {
        text += point == U'\n' ? "\\n" : "\\t";
    } else if (point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0xd800 && point < 0xe000)) {
        text += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4)
            text += "0123456789abcdef"[point >> shift & 0xf];
    } else if (point < 0x80) {
        byte(point);
    } else if (point < 0x800) {
        byte(0xc0 | point >> 6);
        byte(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        byte(0xe0 | point >> 12);
        byte(0x80 | (point >> 6 & 0x3f));
        byte(0x80 | (point & 0x3f));
    } else {
        byte(0xf0 | point >> 18);
        byte(0x80 | (point >> 12 & 0x3f));
        byte(0x80 | (point >> 6 & 0x3f));
        byte(0x80 | (point & 0x3f));
    }
}

inline std::string shown(const std::string &value)
{
    std::string text(1, '"');
    for (std::size_t i = 0; i < value.size(); i++) {
        const auto byte = static_cast<unsigned char>(value[i]);
        const auto next = static_cast<unsigned char>(i + 1 < value.size() ? value[i + 1] : 0);
        if (byte < 0x80) {
            append_shown(text, byte, '"');
        } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
            append_shown(text, next, '"');
            i++;
        } else {
            text += value[i];
        }
    }
    return text += '"';
}
inline std::string shown(const std::u16string &value)
{
    std::string text(1, '"');
    for (std::size_t i = 0; i < value.size(); i++) {
        char32_t point = value[i];
        if ((point & 0xfc00) == 0xd800 && i + 1 < value.size() && (value[i + 1] & 0xfc00) == 0xdc00)
            point = 0x10000 + ((point & 0x3ff) << 10 | (char32_t{value[++i]} & 0x3ff));
        append_shown(text, point, '"');
    }
    return text += '"';
}
inline std::string shown(char32_t value)
{
    std::string text(1, '\'');
    append_shown(text, value, '\'');
    return text += '\'';
}

/* Prints the values of members, by their types. A template, so that std::ostream need be complete only where it is used. */
template <class Out>
struct Printer {
    static void print(Out &out, bool value) { out << (value ? "true" : "false"); }
    static void print(Out &out, std::int8_t value) { out << int{value}; }
    static void print(Out &out, std::uint8_t value) { out << int{value}; }
    static void print(Out &out, char value) { out << shown(char32_t{static_cast<unsigned char>(value)}); }
    static void print(Out &out, char16_t value) { out << shown(char32_t{value}); }
    static void print(Out &out, const std::string &value) { out << shown(value); }
    static void print(Out &out, const std::u16string &value) { out << shown(value); }

    template <class T>
    static void print(Out &out, const std::optional<T> &value)
    {
        if (value)
            print(out, *value);
        else
            out << "null";
    }
    template <class T>
    static void print(Out &out, const external<T> &value)
    {
        if (value)
            print(out, *value);
        else
            out << "null";
    }
    template <class T>
    static void print(Out &out, const std::vector<T> &values)
    {
        print_all<T>(out, values);
    }
    template <class T, std::size_t N>
    static void print(Out &out, const std::array<T, N> &values)
    {
        print_all<T>(out, values);
    }
    template <class K, class V>
    static void print(Out &out, const std::map<K, V> &values)
    {
        const char *before = "{";
        for (const auto &[key, value] : values) {
            print(out << before, key);
            print(out << ": ", value);
            before = ", ";
        }
        out << (values.empty() ? "{}" : "}");
    }
    /* Numbers are as the stream shows them; enums, bitsets, structs and unions have a `<<` of their own. */
    template <class T>
    static void print(Out &out, const T &value)
    {
        out << value;
    }

private:
    template <class T, class Values>
    static void print_all(Out &out, const Values &values)
    {
        const char *before = "[";
        // The elements of a vector of bool are no bool.
        for (const T &value : values) {
            print(out << before, value);
            before = ", ";
        }
        out << (values.empty() ? "[]" : "]");
    }
};

template <class Out, class T>
void print(Out &out, const T &value)
{
    Printer<Out>::print(out, value);
}

} // namespace cdr
} // namespace tickwire

#endif
