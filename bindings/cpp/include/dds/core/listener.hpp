/* How the library tells listeners. */
#ifndef TICKWIRE_DDS_CORE_LISTENER_HPP
#define TICKWIRE_DDS_CORE_LISTENER_HPP

#include <dds/core/entity.hpp>

namespace tickwire {
namespace detail {

/* A listener and the entity that it is told of, which it does not keep. */
template <class Entity, class State, class Listener>
struct ListenerContext {
    std::weak_ptr<State> state;
    Listener *listener;

    static void set(State &state, Listener *listener, tw_listener &functions,
                    const dds::core::status::StatusMask &mask)
    {
        auto context = std::make_unique<ListenerContext>(ListenerContext{state.uncounted, listener});
        functions.size = sizeof functions;
        functions.context = context.get();
        functions.free_context = [](void *context) { delete static_cast<ListenerContext *>(context); };
        state.listen(functions, mask.to_ulong());
        context.release();
    }

    /* An exception that leaves the listener ends the process. */
    template <class Call>
    static void tell(void *context, Call call) noexcept
    {
        auto *it = static_cast<ListenerContext *>(context);
        listeners_on_this_thread()++;
        if (auto state = it->state.lock()) {
            Entity entity(std::move(state));
            call(entity, *it->listener);
        }
        listeners_on_this_thread()--;
    }
};

} // namespace detail
} // namespace tickwire

#endif
