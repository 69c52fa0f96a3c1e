/* How the library tells listeners. */
#ifndef TICKWIRE_DDS_CORE_LISTENER_HPP
#define TICKWIRE_DDS_CORE_LISTENER_HPP

#include <dds/core/entity.hpp>

namespace tickwire {
namespace detail {

/* A listener and the entity that it is told of, by a reference that does not count: the last that does takes this away. */
template <class Entity, class State, class Listener>
struct ListenerContext {
    std::shared_ptr<State> state;
    Entity entity;
    Listener *listener;

    static void set(State &state, Listener *listener, tw_listener &functions,
                    const dds::core::status::StatusMask &mask)
    {
        auto kept = state.uncounted.lock();
        auto context = std::make_unique<ListenerContext>(ListenerContext{kept, Entity(kept), listener});
        functions.size = sizeof functions;
        functions.context = context.get();
        functions.free_context = [](void *context) {
            // The entity may end with it, where a listener has let go of it.
            listeners_on_this_thread()++;
            delete static_cast<ListenerContext *>(context);
            listeners_on_this_thread()--;
        };
        if (state.listen(functions, mask.to_ulong()))
            context.release();
    }

    /* An exception that leaves the listener ends the process. */
    template <class Call>
    static void tell(void *context, Call call) noexcept
    {
        auto *it = static_cast<ListenerContext *>(context);
        listeners_on_this_thread()++;
        call(it->entity, *it->listener);
        // Whatever the listener has made of its argument.
        if (it->entity.state() != it->state)
            it->entity = Entity(it->state);
        listeners_on_this_thread()--;
    }
};

} // namespace detail
} // namespace tickwire

#endif
