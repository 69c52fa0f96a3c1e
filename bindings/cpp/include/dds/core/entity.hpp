/* What all entities have. */
#ifndef TICKWIRE_DDS_CORE_ENTITY_HPP
#define TICKWIRE_DDS_CORE_ENTITY_HPP

#include <dds/core/qos.hpp>
#include <dds/core/status.hpp>

namespace tickwire {
namespace detail {

/* An entity, and those that it is made from, which live as long. Whoever derives from it closes it first in the
 * destructor, so that it ends before what it names. */
class EntityState : public Object {
public:
    EntityState(void *handle, std::shared_ptr<void> parent) : Object(handle), parent_(std::move(parent)) {}
    ~EntityState() override { close(); }

private:
    std::shared_ptr<void> parent_;
};

/* The names of all that match: `Matched` is what the library tells of each. */
template <class Matched, class Handle>
dds::core::InstanceHandleSeq matched(tw_result (*function)(const Handle *, Matched *, std::size_t, std::size_t *),
                                     const void *handle)
{
    std::vector<Matched> all(8);
    std::size_t count = 0;
    for (;;) {
        check(function(static_cast<const Handle *>(handle), all.data(), all.size(), &count));
        if (count <= all.size())
            break;
        all.resize(count);
    }
    dds::core::InstanceHandleSeq names;
    for (std::size_t at = 0; at < count; at++)
        names.emplace_back(all[at].guid);
    return names;
}

/* Counters of an entity; `size` is set. */
template <class Counters, class Handle>
Counters counters(tw_result (*function)(const Handle *, Counters *), const void *handle)
{
    Counters counters = {};
    counters.size = sizeof counters;
    check(function(static_cast<const Handle *>(handle), &counters));
    return counters;
}

} // namespace detail
} // namespace tickwire

namespace dds {
namespace core {

/* A reference to an entity, which ends with the last reference to it, or by close(). */
template <class State>
class EntityOf : public tickwire::detail::Reference<State> {
public:
    using tickwire::detail::Reference<State>::Reference;

    /* Has it take part, where what made it does not have it do so at once. */
    void enable() { tickwire::detail::check(tw_enable(this->get().handle())); }
    /* Ends it, and all that was made from it, for all references; using them is an AlreadyClosedError. */
    void close() { this->get().close(); }
    /* The statuses that have changed since they were last read. */
    status::StatusMask status_changes() const
    {
        std::uint32_t changes;
        tickwire::detail::check(tw_status_changes(this->get().handle(), &changes));
        return status::StatusMask(changes);
    }
    void *handle() const { return this->get().handle(); }
};

/* The same of what has a name on the network: participants, writers and readers. */
template <class State>
class NamedEntityOf : public EntityOf<State> {
public:
    using EntityOf<State>::EntityOf;

    InstanceHandle instance_handle() const
    {
        tw_guid guid;
        tickwire::detail::check(tw_get_guid(this->get().handle(), &guid));
        return InstanceHandle(guid);
    }
};

} // namespace core
} // namespace dds

#endif
