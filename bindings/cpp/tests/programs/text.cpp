/* Strings of every length around a word, with every kind of byte at every place, are written and read as what they are,
 * in buffers and payloads that end anywhere. */
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "text.hpp"

#define CHECK(CONDITION) check(__LINE__, (CONDITION), #CONDITION)
static void check(int line, bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "text.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}

using Payload = std::vector<std::uint8_t>;

static void put(Payload &to, const std::string &text, std::size_t size, bool big)
{
    while (to.size() % 4 != 0)
        to.push_back(0);
    for (int byte = 0; byte < 4; byte++)
        to.push_back(static_cast<std::uint8_t>(size >> 8 * (big ? 3 - byte : byte)));
    to.insert(to.end(), text.begin(), text.end());
}

/* The payload of a value whose strings are these; byte by byte, and whatever they are. */
static Payload payload_of(const std::string &any, const std::string &few, bool big, char end = 0)
{
    Payload payload{0, static_cast<std::uint8_t>(big ? 0 : 1), 0, 0, 7};
    put(payload, any + end, any.size() + 1, big);
    put(payload, few + '\0', few.size() + 1, big);
    payload.push_back(9);
    for (; payload.size() % 4 != 0; payload[3]++)
        payload.push_back(0);
    return payload;
}

/* Reads so many bytes, behind which nothing may be touched. */
static tw_cdr_status read(text::Texts &value, const Payload &payload, std::size_t size)
{
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[size]);
    std::memcpy(exact.get(), payload.data(), size);
    return tickwire::from_payload(value, exact.get(), size);
}

static tw_cdr_status write(const text::Texts &value, std::uint8_t *to, std::size_t capacity, bool big)
{
    tw_cdr_writer writer = tw_cdr_writer_over(to, capacity);
    writer.big_endian = big;
    return tickwire::to_payload(value, TW_CDR_XCDR1, &writer);
}

/* That a string is text, or is none. */
static void hold(const std::string &any, const std::string &few, bool is_text)
{
    const text::Texts value(7, any, few, 9);
    for (const bool big : {false, true}) {
        const Payload expected = payload_of(any, few, big);
        const std::size_t size = expected.size();
        for (std::size_t capacity = size < 24 ? 0 : size - 24; capacity < size + 24; capacity++) {
            const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[capacity]);
            const tw_cdr_status status = write(value, exact.get(), capacity, big);
            if (is_text && capacity >= size)
                CHECK(status == TW_CDR_OK && std::memcmp(exact.get(), expected.data(), size) == 0);
            else
                CHECK(status != TW_CDR_OK && (capacity < size || status == TW_CDR_TEXT));
        }
        // Into what was empty, as long, or longer.
        for (const std::string &was : {std::string(), std::string(any.size(), '-'), std::string(40, '-')}) {
            text::Texts again(0, was, was, 0);
            const tw_cdr_status status = read(again, expected, size);
            CHECK(is_text ? status == TW_CDR_OK && again == value : status == TW_CDR_TEXT);
        }
        // An end that is no NUL, and ends that come too early.
        text::Texts again;
        CHECK(read(again, payload_of(any, few, big, 'x'), size) == TW_CDR_TEXT);
        Payload cut = expected;
        cut[3] = 0;
        const std::size_t needed = size - expected[3];
        for (std::size_t length = 0; is_text && length < size; length++)
            CHECK((read(again, cut, length) == TW_CDR_OK) == (length >= needed));
    }
}

/* A length that would be 2 in the other order. */
static void order()
{
    Payload odd{0, 0, 0, 0, 7};
    put(odd, {'A', '\0'}, 0x2000000, true);
    odd.resize(odd.size() + 20, 0);
    text::Texts value;
    CHECK(read(value, odd, odd.size()) != TW_CDR_OK);
}

static void bounds()
{
    std::uint8_t memory[256];
    for (std::size_t length = 0; length < 12; length++) {
        const std::string few(length, 'f');
        const tw_cdr_status expected = length <= 5 ? TW_CDR_OK : TW_CDR_LENGTH;
        for (const bool big : {false, true}) {
            text::Texts value(7, "", few, 9);
            CHECK(write(value, memory, sizeof memory, big) == expected);
            const Payload payload = payload_of("", few, big);
            CHECK(read(value, payload, payload.size()) == expected);
            // The length of an empty string may also be 0.
            Payload none{0, static_cast<std::uint8_t>(big ? 0 : 1), 0, 0, 7};
            put(none, "", 0, big);
            put(none, few + '\0', length + 1, big);
            none.resize(none.size() + 20, 9);
            CHECK(read(value, none, none.size()) == expected);
            CHECK(expected != TW_CDR_OK || (value.free().empty() && value.few() == few));
        }
    }
}

/* What no sample has begins anew when one is read. */
static void what_does_not_travel_begins_anew()
{
    text::Cached cached(3, "mine", 4, {5});
    tw_cdr_writer writer = TW_CDR_WRITER;
    CHECK(tickwire::to_payload(cached, TW_CDR_XCDR1, &writer) == TW_CDR_OK && writer.size == 8);
    CHECK(tickwire::from_payload(cached, writer.data, writer.size) == TW_CDR_OK);
    CHECK(cached == text::Cached(3, "n", std::nullopt, {}));
    tw_cdr_writer_free(&writer);
}

int main()
{
    order();
    what_does_not_travel_begins_anew();
    // All of one and of two bytes.
    for (int first = 0; first < 256; first++) {
        hold(std::string(1, static_cast<char>(first)), "few", first > 0 && first < 0x80);
        for (int second = 0; second < 256; second++) {
            const bool plain = first > 0 && first < 0x80 && second > 0 && second < 0x80;
            const bool pair = first >= 0xc2 && first < 0xe0 && second >= 0x80 && second < 0xc0;
            if (first % 16 < 4 || second % 16 > 12)
                hold({static_cast<char>(first), static_cast<char>(second)}, "", plain || pair);
        }
    }
    for (std::size_t length = 0; length <= 18; length++) {
        const std::string plain(length, 'a');
        hold(plain, "12345", true);
        for (std::size_t at = 0; at < length; at++) {
            for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xc3, 0xff}) {
                std::string text = plain;
                text[at] = static_cast<char>(byte);
                hold(text, "1", byte == 0x01 || byte == 0x7f);
            }
            if (at + 1 < length)
                hold(std::string(plain).replace(at, 2, "\u00e9"), "12", true);
        }
    }
    bounds();
    return 0;
}
