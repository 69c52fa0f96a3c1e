/// eProsima Fast DDS: reliable topics, answers written in the listener.

#include "feeds.hpp"
#include "lab.hpp"
#include "peer.hpp"
#include "serialization.hpp"

namespace {

template <class Feed>
lab::Answer converse(const lab::Options& options, Profile profile) {
    Peer<Feed> peer(options, profile);
    return lab::run(options, VERSION, peer);
}

lab::Answer work(const lab::Options& options, Profile profile) {
    const bool is_typed = options.payload == lab::Payload::typed;
    if (!is_typed && options.payload != lab::Payload::bytes) throw lab::BadOption("has no such payload");
    if (is_typed && profile == Profile::data_sharing) throw lab::BadOption("data with a key is not shared");
    if (is_typed && options.job == lab::Job::codec) {
        Codec codec(options);
        return lab::measure_codec(options, VERSION, codec);
    }
    options.refuse_job_without_peer();
    return is_typed ? converse<Typed>(options, profile) : converse<Bytes>(options, profile);
}

}  // namespace

int main(int argc, char** argv) {
    Profile profile = Profile::udp;
    lab::Parser parser;
    parser.choice<Profile>("profile", profile,
                           {{"udp", Profile::udp},
                            {"shm", Profile::shm},
                            {"data-sharing", Profile::data_sharing},
                            {"default", Profile::out_of_the_box}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) { return work(options, profile); });
}
