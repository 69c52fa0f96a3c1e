/// The answer of a program, one line of JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "meter.hpp"
#include "options.hpp"

namespace lab {

/// Options of a system that the program sets, as the report prints them.
using Settings = std::map<std::string, std::string>;

/// What a process has seen, of the measured part alone.
struct Answer {
    std::string system, version, job;
    /// Which one of its kind it is.
    uint32_t index = 0;
    uint64_t sent = 0, received = 0;
    /// Messages that did not come.
    uint64_t lost = 0;
    /// Messages that came after later ones.
    uint64_t out_of_order = 0;
    /// Messages that came twice, or were not what had been sent.
    uint64_t wrong = 0;
    /// What went wrong first.
    std::optional<std::string> error;
    /// From the first measured message to the last.
    uint64_t elapsed_ns = 0;
    /// Messages received since the publishers began, those of the warm-up that were late among them, and how
    /// long that took.
    uint64_t taken = 0, taken_ns = 0;
    uint64_t payload_bytes = 0;
    /// Mean length of what was handed to the transport.
    std::optional<uint64_t> encoded_bytes;
    /// What the process cost meanwhile.
    Cost cost;
    /// The files with the measured times, and those of decoding.
    std::optional<std::string> samples, samples_decode;
    /// Files with the times of further stages, by their names.
    std::map<std::string, std::string> stages;
    Settings settings;

    std::string json() const;
};

/// The mean length of messages that were sent.
class MeanLen {
public:
    void add(size_t len) {
        ++messages_;
        bytes_ += len;
    }

    std::optional<uint64_t> get() const {
        return messages_ == 0 ? std::nullopt : std::optional(bytes_ / messages_);
    }

private:
    uint64_t messages_ = 0, bytes_ = 0;
};

/// Writes times into a file of the run; returns its name if there were any.
inline std::optional<std::string> save(const Options& options, const std::string& name,
                                       const std::vector<uint64_t>& samples) {
    if (samples.empty()) return std::nullopt;
    const std::string path = options.dir + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(samples.data()),
               static_cast<std::streamsize>(samples.size() * sizeof samples[0]));
    file.close();
    if (!file) throw std::runtime_error(path + ": cannot be written");
    return name;
}

namespace json {

inline std::string of(const std::string& text) {
    std::string out = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        if (static_cast<unsigned char>(each) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", each);
            out += code;
        } else {
            out += each;
        }
    }
    return out + '"';
}

inline std::string of(uint64_t number) { return std::to_string(number); }

template <class Value>
std::string of(const std::optional<Value>& value) {
    return value ? of(*value) : "null";
}

inline std::string of(const Settings& settings) {
    std::string out;
    for (const auto& [name, value] : settings) {
        out += (out.empty() ? "" : ",") + of(name) + ':' + of(value);
    }
    return '{' + out + '}';
}

}  // namespace json

inline std::string Answer::json() const {
    std::string out = "{\"system\":" + json::of(system);
    const auto add = [&out](const char* name, const auto& value) {
        out += ",\"" + std::string(name) + "\":" + json::of(value);
    };
    add("version", version);
    add("job", job);
    add("index", index);
    add("sent", sent);
    add("received", received);
    add("lost", lost);
    add("out_of_order", out_of_order);
    add("wrong", wrong);
    add("error", error);
    add("elapsed_ns", elapsed_ns);
    if (taken > 0) {
        add("taken", taken);
        add("taken_ns", taken_ns);
    }
    add("payload_bytes", payload_bytes);
    add("encoded_bytes", encoded_bytes);
    add("cpu_user_ns", cost.cpu_user_ns);
    add("cpu_system_ns", cost.cpu_system_ns);
    add("voluntary_switches", cost.voluntary_switches);
    add("involuntary_switches", cost.involuntary_switches);
    add("resident_kb", cost.resident_kb);
    add("threads", cost.threads);
    add("samples", samples);
    if (samples_decode) add("samples_decode", samples_decode);
    if (!stages.empty()) add("stages", stages);
    add("settings", settings);
    return out + '}';
}

}  // namespace lab
