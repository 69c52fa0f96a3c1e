/// What every program of the lab does but the sending and receiving, by the contract in
/// `lab/CONTRACT.md`: options, messages and their verification, the jobs, what they cost, the answer.
/// The counterpart of the Rust crate in `lab/program`.
///
/// A program writes a peer and hands it to `lab::run` from within `lab::main`. A peer has
///
///     using Message = ...;                        // as the system hands it over: see message.hpp
///     void meet();                                // waits until the other side is there, all of it
///     void send(uint64_t number, uint64_t time);  // to everybody on the other side; waits for room
///     void echo(const Message&);                  // back to where it came from
///     template <class Handler> void run(Idle, Handler&);
///                                                 // calls handler.take(message) for each message until
///                                                 // it says stop or nothing has come for so long; what
///                                                 // comes while nobody runs waits for the next call
///     std::optional<uint64_t> encoded_bytes() const;  // mean length of what the transport got
///     Settings settings() const;                  // options of the system that the program sets
///
/// and throws what std::exception describes.
#pragma once

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "answer.hpp"
#include "codec.hpp"
#include "content.hpp"
#include "job.hpp"
#include "listener.hpp"
#include "message.hpp"
#include "meter.hpp"
#include "options.hpp"

namespace lab {

/// Does the job of the options, once the other side is there.
template <class Peer>
Answer run(const Options& options, const std::string& version, Peer& peer) {
    options.refuse_job_without_peer();
    if (options.is_passive()) {
        std::puts("ready");
        std::fflush(stdout);
    }
    peer.meet();
    Answer answer = find(options, peer).answer(options, version);
    answer.encoded_bytes = peer.encoded_bytes();
    answer.settings = peer.settings();
    return answer;
}

/// Reads the options, those that `parser` has and the common ones, calls `work(options)` and prints the
/// answer that it returns, if there is one. Returns the status for the system.
template <class Work>
int main(int argc, char** argv, Parser& parser, Work&& work) {
    Options options;
    try {
        options.read(parser, argc, argv);
        options.bind();
        if (const std::optional<Answer> answer = work(options)) std::puts(answer->json().c_str());
        return 0;
    } catch (const BadOption& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", options.system.c_str(), error.what());
        return 1;
    }
}

}  // namespace lab
