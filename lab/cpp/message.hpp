/// Payloads of bytes.
///
///      0                8                16
///     +----------------+----------------+------------------------------- - -
///     | number         | time, ns       | byte i is the low byte of number + i
///     +----------------+----------------+------------------------------- - -
///
/// Both numbers are little-endian. What is shorter than the header has the low byte of the number in
/// byte 0 and zeros behind it.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

namespace lab {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

/// Length of number and time.
constexpr size_t HEADER_LEN = 16;

/// Makes `payload` message `number` that is to be sent at `time`.
inline void fill(uint8_t* payload, size_t len, uint64_t number, uint64_t time) {
    if (len < HEADER_LEN) {
        std::memset(payload, 0, len);
        payload[0] = static_cast<uint8_t>(number);
        return;
    }
    std::memcpy(payload, &number, 8);
    std::memcpy(payload + 8, &time, 8);
    auto byte = static_cast<uint8_t>(number + HEADER_LEN);
    for (size_t at = HEADER_LEN; at < len; ++at) payload[at] = byte++;
}

/// A received message of bytes, which somebody else keeps.
///
/// Whatever a system hands over as its message has these three functions.
struct Bytes {
    const uint8_t* data;
    size_t len;

    /// Its number. One of fewer than 16 bytes has the lowest byte alone; then it is the number that is
    /// closest to `expected`.
    uint64_t number(uint64_t expected) const {
        if (len >= HEADER_LEN) return word(0);
        const uint8_t byte = len > 0 ? data[0] : 0;
        return expected + static_cast<int8_t>(byte - static_cast<uint8_t>(expected));
    }

    /// When it was to be sent, if it says so.
    std::optional<uint64_t> time() const {
        return len >= HEADER_LEN ? std::optional(word(8)) : std::nullopt;
    }

    /// Whether all of it is what message `number` has to be.
    bool is_intact(uint64_t number) const {
        uint8_t difference = 0;
        if (len < HEADER_LEN) {
            for (size_t at = 1; at < len; ++at) difference |= data[at];
            return len > 0 && data[0] == static_cast<uint8_t>(number) && difference == 0;
        }
        auto byte = static_cast<uint8_t>(number + HEADER_LEN);
        for (size_t at = HEADER_LEN; at < len; ++at) difference |= data[at] ^ byte++;
        return word(0) == number && difference == 0;
    }

private:
    uint64_t word(size_t at) const {
        uint64_t word;
        std::memcpy(&word, data + at, sizeof word);
        return word;
    }
};

}  // namespace lab
