/* How strings are encoded. */
#ifndef TICKWIRE_CODEC_TEXT_HPP
#define TICKWIRE_CODEC_TEXT_HPP

#include <string>

#include <tickwire/codec/number.hpp>

namespace tickwire {
namespace cdr {

template <std::uint32_t Bound>
struct Text {
    using type = std::string;
    static constexpr std::size_t least = 4, key_least = least;
    static constexpr bool primitive = false;

    template <bool K>
    [[gnu::always_inline]] static bool write(tw_cdr_writer *w, const std::string &text)
    {
        return tw_cdr_write_text(w, reinterpret_cast<const std::uint8_t *>(text.data()), text.size(), Bound);
    }
    template <bool K>
    [[gnu::always_inline]] static bool read(tw_cdr_reader *r, std::string &text)
    {
        std::size_t length;
        const std::uint8_t *at = tw_cdr_read_text(r, &length, Bound);
        if (at == nullptr)
            return false;
        // Most often it is as long as the one before, and a code.
        if (text.size() != length)
            text.assign(reinterpret_cast<const char *>(at), length);
        else if (length == 1)
            text[0] = static_cast<char>(*at);
        else
            std::memcpy(text.data(), at, length);
        return true;
    }
    static void reset(std::string &text) { text.clear(); }
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
        if (size % 2 != 0 || size > r->limit - r->position)
            return tw_cdr_reject(r, TW_CDR_LENGTH);
        if (Bound != 0 && length > std::size_t{Bound} + 1 && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
            return false;
        text.resize(length);
        if (!Number<char16_t>::read_all(r, text.data(), length))
            return false;
        if (length > 0 && text.back() == 0)
            text.pop_back();
        if (Bound != 0 && text.size() > Bound && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
            return false;
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

/* Keeps at most so many bytes of a string, or units of a wide one, and cuts no character in two. */
inline void trim(std::string &text, std::size_t bound)
{
    if (text.size() <= bound)
        return;
    while (bound > 0 && (text[bound] & 0xc0) == 0x80)
        bound--;
    text.resize(bound);
}

inline void trim(std::u16string &text, std::size_t bound)
{
    if (text.size() <= bound)
        return;
    if (bound > 0 && (text[bound] & 0xfc00) == 0xdc00)
        bound--;
    text.resize(bound);
}

} // namespace cdr
} // namespace tickwire

#endif
