/* What all entities have. */
#ifndef TICKWIRE_DDS_CORE_ENTITY_HPP
#define TICKWIRE_DDS_CORE_ENTITY_HPP

#include <map>

#include <dds/core/qos.hpp>
#include <dds/core/status.hpp>

namespace tickwire {
namespace detail {

class ConditionState;

/* How many listeners this thread is in, one within the other. */
inline int &listeners_on_this_thread()
{
    thread_local int depth = 0;
    return depth;
}

/* Takes away the listener of an entity, and waits until it has returned: but in a listener, since two that end each other's
 * entities would wait for each other. There, one without functions takes its place. */
inline tw_result take_listener_away(void *entity) noexcept
{
    tw_listener none = {};
    none.size = sizeof none;
    return tw_set_listener(entity, listeners_on_this_thread() > 0 ? &none : nullptr, 0);
}

/* An entity, and those that it is made from, which live as long. Whoever derives from it closes it first in the
 * destructor, so that it ends before what it names. */
class EntityState : public Object {
public:
    EntityState(void *handle, std::shared_ptr<EntityState> parent) : Object(handle), parent_(std::move(parent)) {}
    ~EntityState() override { close(); }

    /* Ends it, and all that was made from it. No listener of these runs any more, unless one calls this. */
    void close()
    {
        {
            const std::lock_guard<std::mutex> guard(lock_);
            is_closed_ = true;
        }
        silence();
        Object::close();
        for (EntityState *of = parent_.get(); of != nullptr; of = of->parent_.get()) {
            const std::lock_guard<std::mutex> guard(of->lock_);
            of->heard_.erase(handle());
        }
    }
    /* Has its listener told; whether it has one then, which it gets no more once the last reference that counts has gone. */
    bool listen(const tw_listener &functions, std::uint32_t mask)
    {
        return hear(false, [&] { return tw_set_listener(handle(), &functions, mask); });
    }
    /* The same of what takes each sample of a reader. */
    bool take_each(void (*each)(const tw_sample *, void *), void *context, void (*free_context)(void *))
    {
        auto *reader = static_cast<tw_reader *>(handle());
        return hear(true, [&] { return tw_reader_take_each(reader, each, context, free_context); });
    }
    /* The last reference that counts has gone. */
    void unreference() noexcept
    {
        is_unreferenced_ = true;
        silence();
    }
    /* Takes away the listeners of it and of all that was made from it, and what takes samples. */
    void silence() noexcept
    {
        for (Heard one = heard_behind(nullptr); one.first != nullptr; one = heard_behind(one.first)) {
            take_listener_away(one.first);
            if (one.second)
                tw_reader_take_each(static_cast<tw_reader *>(one.first), nullptr, nullptr, nullptr);
        }
    }

    /* The condition of its statuses, which `make` makes if nobody has it. It keeps the entity, and what its handler keeps. */
    template <class Make>
    std::shared_ptr<ConditionState> status_condition(Make make)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        std::shared_ptr<ConditionState> condition = status_condition_.lock();
        if (!condition)
            status_condition_ = condition = make();
        return condition;
    }
    /* Of which statuses that is, whoever has it. */
    std::atomic<std::uint32_t> enabled_statuses{dds::core::status::StatusMask::all().to_ulong()};

private:
    /* An entity that may have a listener, and whether it is a reader of which something may take samples. */
    using Heard = std::pair<void *, bool>;

    template <class Set>
    bool hear(bool takes, const Set &set)
    {
        if (is_unreferenced_)
            return false;
        hear({handle(), takes}, set);
        if (is_unreferenced_)
            silence();
        return true;
    }
    /* What closes one of those that it was made from waits, so that no listener comes when it has looked for them. */
    template <class Set>
    void hear(Heard who, const Set &set)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        if (is_closed_)
            throw dds::core::AlreadyClosedError("the entity, or what it was made from, is closed: it has no listener");
        // First, as there may be no memory for it.
        const auto known = heard_.insert(who).first;
        known->second |= who.second;
        if (parent_)
            parent_->hear(who, set);
        else
            check(set());
    }

    /* The next of those that may have listeners, or NULL. */
    Heard heard_behind(void *one) noexcept
    {
        const std::lock_guard<std::mutex> guard(lock_);
        const auto next = heard_.upper_bound(one);
        return next == heard_.end() ? Heard(nullptr, false) : Heard(*next);
    }

    std::shared_ptr<EntityState> parent_;
    std::mutex lock_;
    bool is_closed_ = false;
    std::atomic<bool> is_unreferenced_{false};
    /* Which of those that were made from it, or itself, may have listeners. */
    std::map<void *, bool> heard_;
    std::weak_ptr<ConditionState> status_condition_;
};

/* What references to a writer or reader share: its listener ends with the last of them. The listener is given one that does
 * not count, or it would wait for itself. */
template <class State>
std::shared_ptr<State> counted(std::shared_ptr<State> state)
{
    State *const at = state.get();
    at->uncounted = state;
    return std::shared_ptr<State>(at, [state](State *) mutable {
        const std::shared_ptr<State> last = std::move(state);
        last->unreference();
        last->listener = nullptr;
    });
}

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
