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

} // namespace cdr
} // namespace tickwire

#endif
