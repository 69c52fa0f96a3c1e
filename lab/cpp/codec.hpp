/// What it costs to encode and decode typed messages, without sending them.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "answer.hpp"
#include "content.hpp"
#include "message.hpp"
#include "meter.hpp"
#include "options.hpp"

namespace lab {

/// Encodes 100 messages of a content (see content.hpp), then decodes them; and so on.
template <class Content>
Answer measure_codec(const Options& options, const std::string& version, Content& content) {
    constexpr uint64_t BATCH = 100;
    Meter meter;
    MeanLen len;
    std::vector<uint64_t> encoding, decoding;
    std::vector<std::vector<uint8_t>> encoded(BATCH);
    for (uint64_t number = 0; number + BATCH <= options.total(); number += BATCH) {
        const bool is_measured = number >= options.warmup;
        if (is_measured) meter.begin();
        const uint64_t begin = now();
        for (uint64_t each = 0; each < BATCH; ++each) {
            encoded[each].resize(content.prepare(number + each, 0));
            content.write(encoded[each].data());
        }
        const uint64_t middle = now();
        for (const auto& bytes : encoded) content.read(Bytes{bytes.data(), bytes.size()});
        const uint64_t end = now();
        if (!is_measured) continue;
        encoding.push_back((middle - begin) / BATCH);
        decoding.push_back((end - middle) / BATCH);
        for (const auto& bytes : encoded) len.add(bytes.size());
    }
    meter.end(now());

    Answer answer;
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
