/* What all entities have. */
#ifndef TICKWIRE_DDS_CORE_ENTITY_HPP
#define TICKWIRE_DDS_CORE_ENTITY_HPP

#include <dds/core/qos.hpp>
#include <dds/core/status.hpp>

namespace tickwire {
namespace detail {

/* An entity, and those that it is made from, which live as long. */
class EntityState : public Object {
public:
    EntityState(void *handle, std::shared_ptr<void> parent) : Object(handle), parent_(std::move(parent)) {}

private:
    std::shared_ptr<void> parent_;
};

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
