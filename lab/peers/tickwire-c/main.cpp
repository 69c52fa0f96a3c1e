/// Tickwire by its library for C, by its headers for C++, and by exchanges and queues. All are in one program, in C++,
/// as the lab's headers are: what `c.hpp` and `exchange.hpp` call is C.

#include "c.hpp"
#include "cpp.hpp"
#include "exchange.hpp"
#include "lab.hpp"
#include "peer.hpp"

namespace {

enum class By { c, cpp, exchange };

template <class Side>
lab::Answer converse(const lab::Options& options, const Own& own) {
    Side peer(options, own);
    return lab::run(options, tw_version(), peer);
}

lab::Answer work(const lab::Options& options, const Own& own, By by) {
    options.refuse_threads();
    options.refuse_job_without_peer();
    const bool is_typed = options.payload == lab::Payload::typed;
    if (is_typed ? by != By::cpp : options.payload != lab::Payload::bytes) {
        throw lab::BadOption("has no such payload");
    }
    if (by == By::exchange) return converse<exchange::Peer>(options, own);
    if (by == By::c) return converse<Peer<c::Link>>(options, own);
    if (is_typed) return converse<Peer<cpp::TypedLink>>(options, own);
    const bool lends = Session(options, own).lends();
    return lends ? converse<Peer<cpp::LentLink>>(options, own) : converse<Peer<cpp::Link>>(options, own);
}

}  // namespace

int main(int argc, char** argv) {
    Own own;
    By by = By::c;
    lab::Parser parser;
    parser.choice<By>("by", by, {{"c", By::c}, {"cpp", By::cpp}, {"exchange", By::exchange}});
    parser.choice("transport", own.shares_memory, {{"udp", false}, {"shm", true}});
    return lab::main(argc, argv, parser, [&](const lab::Options& options) { return work(options, own, by); });
}
