/// Eclipse Cyclone DDS: reliable topics over UDP, answers written in the listener.

#include <dds/version.h>

#include "serialization.hpp"
#include "feeds.hpp"
#include "lab.hpp"
#include "peer.hpp"

namespace {

template <class Feed>
lab::Answer converse(const lab::Options& options, const Own& own) {
    Peer<Feed> peer(options, own);
    return lab::run(options, DDS_VERSION, peer);
}

lab::Answer measure_codec(const lab::Options& options, const Own& own) {
    const Session session(options, own);
    Codec codec(session);
    return lab::measure_codec(options, DDS_VERSION, codec);
}

lab::Answer work(const lab::Options& options, const Own& own) {
    const bool is_typed = options.payload == lab::Payload::typed;
    if (!is_typed && options.payload != lab::Payload::bytes) throw lab::BadOption("has no such payload");
    if (is_typed && options.job == lab::Job::codec) return measure_codec(options, own);
    options.refuse_job_without_peer();
    if (own.is_batching && (options.rate || options.job == lab::Job::ping || options.job == lab::Job::pong)) {
        throw lab::BadOption("messages on their own cannot be batched");
    }
    return is_typed ? converse<Typed>(options, own) : converse<Bytes>(options, own);
}

}  // namespace

int main(int argc, char** argv) {
    Own own;
    lab::Parser parser;
    parser.choice("batch", own.is_batching, {{"on", true}, {"off", false}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) { return work(options, own); });
}
