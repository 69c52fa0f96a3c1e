/// What it costs to encode and decode typed messages, without sending them.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "answer.hpp"
#include "message.hpp"
#include "meter.hpp"
#include "options.hpp"

namespace lab {

/// Encodes 100 messages, then decodes them; and so on. Of each batch two messages are decoded once more and
/// compared whole, outside the time that is taken.
///
/// A codec has
///
///     size_t encode(uint64_t number);       // makes message `number`, with its number in it; returns its length
///     void write(uint8_t* place);           // puts it there
///     void decode(uint64_t number, Bytes);  // into an object that is used again
///     bool is_intact(uint64_t number);      // whether what was decoded last is all that message `number` was
template <class Codec>
Answer measure_codec(const Options& options, const std::string& version, Codec& codec) {
    constexpr uint64_t BATCH = 100;
    // A MarketData and a QuoteRequest in every mix of both.
    constexpr uint64_t COMPARED[] = {BATCH - 5, BATCH - 1};
    Answer answer;
    Meter meter;
    MeanLen len;
    std::vector<uint64_t> encoding, decoding;
    std::vector<std::vector<uint8_t>> encoded(BATCH);
    for (uint64_t number = 0; number + BATCH <= options.total(); number += BATCH) {
        const bool is_measured = number >= options.warmup;
        if (is_measured) meter.begin();
        const uint64_t begin = now();
        for (uint64_t each = 0; each < BATCH; ++each) {
            encoded[each].resize(codec.encode(number + each));
            codec.write(encoded[each].data());
        }
        const uint64_t middle = now();
        for (uint64_t each = 0; each < BATCH; ++each) {
            codec.decode(number + each, Bytes{encoded[each].data(), encoded[each].size()});
        }
        const uint64_t end = now();
        for (const uint64_t each : COMPARED) {
            codec.decode(number + each, Bytes{encoded[each].data(), encoded[each].size()});
            if (codec.is_intact(number + each)) continue;
            ++answer.wrong;
            if (!answer.error) answer.error = "message " + std::to_string(number + each) + " is not what was encoded";
        }
        if (!is_measured) continue;
        encoding.push_back((middle - begin) / BATCH);
        decoding.push_back((end - middle) / BATCH);
        for (const auto& bytes : encoded) len.add(bytes.size());
    }
    meter.end(now());

    answer.system = options.system;
    answer.version = version;
    answer.job = options.job_name();
    answer.sent = answer.received = encoding.size() * BATCH;
    std::tie(answer.elapsed_ns, answer.cost) = meter.result();
    answer.encoded_bytes = len.get();
    answer.samples = save(options, "codec.encode.ns", encoding);
    answer.samples_decode = save(options, "codec.decode.ns", decoding);
    return answer;
}

}  // namespace lab
