/* Conditions, and waiting for them. */
#ifndef TICKWIRE_DDS_CORE_COND_HPP
#define TICKWIRE_DDS_CORE_COND_HPP

#include <algorithm>
#include <functional>

#include <dds/core/entity.hpp>

namespace tickwire {
namespace detail {

class ConditionState;

class WaitSetState : public Object {
public:
    WaitSetState() : Object(create()) {}

    tw_waitset *raw() const { return static_cast<tw_waitset *>(handle()); }

    std::mutex lock;
    std::vector<std::shared_ptr<ConditionState>> conditions;

private:
    static void *create()
    {
        tw_waitset *made;
        check(tw_waitset_create(&made));
        return made;
    }
};

/* A condition, what it is of, and what is called when it holds. */
class ConditionState {
public:
    /* One of statuses is told where its entity, which is `of`, has these. */
    ConditionState(tw_condition *handle, std::shared_ptr<void> of, std::atomic<std::uint32_t> *statuses = nullptr)
        : handle_(handle), of_(std::move(of)), statuses_(statuses)
    {
    }
    ConditionState(const ConditionState &) = delete;
    ConditionState &operator=(const ConditionState &) = delete;
    ~ConditionState() { tw_delete(handle()); }

    tw_condition *handle() const { return handle_.load(); }
    bool holds() const
    {
        const std::lock_guard<std::mutex> guard(lock_);
        std::int32_t holds;
        check(tw_condition_holds(handle(), &holds));
        return holds != 0;
    }
    dds::core::status::StatusMask statuses() const { return statuses_->load(); }
    /* Takes another condition of the library, which is of these statuses, in place of the one that there was, wherever it is
     * waited for. */
    template <class Make>
    void replace(const dds::core::status::StatusMask &statuses, Make make)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        tw_condition *const made = make(statuses);
        for (const auto &set : sets_)
            if (const auto there = set.lock())
                tw_waitset_attach(there->raw(), made);
        *statuses_ = statuses.to_ulong();
        tw_delete(handle_.exchange(made));
    }
    void attach(const std::shared_ptr<WaitSetState> &set)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        check(tw_waitset_attach(set->raw(), handle()));
        forget([](const std::weak_ptr<WaitSetState> &other) { return other.expired(); });
        sets_.push_back(set);
    }
    void detach(const std::shared_ptr<WaitSetState> &set)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        const tw_result result = tw_waitset_detach(set->raw(), handle());
        // It has gone with its entity, which is closed, and no wait set has it any more.
        if (result != TW_BAD_HANDLE)
            check(result);
        forget([&](const std::weak_ptr<WaitSetState> &other) { return other.lock() == set; });
    }

    using Handler = std::function<void()>;
    /* Calls of it that are under way keep it. */
    Guarded<std::shared_ptr<const Handler>> handler;

private:
    template <class Which>
    void forget(Which which)
    {
        sets_.erase(std::remove_if(sets_.begin(), sets_.end(), which), sets_.end());
    }

    std::atomic<tw_condition *> handle_;
    std::shared_ptr<void> of_;
    mutable std::mutex lock_;
    std::atomic<std::uint32_t> *const statuses_;
    /* Where it is waited for, and where it was until these ended. */
    std::vector<std::weak_ptr<WaitSetState>> sets_;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace core {
namespace cond {

/* Something that holds or not. */
class Condition : public tickwire::detail::Reference<tickwire::detail::ConditionState> {
public:
    using Reference::Reference;

    bool trigger_value() const { return get().holds(); }
    /* What WaitSet::dispatch() calls when it holds: a function without arguments, or of the condition. It may keep the entity
     * that the condition is of; one that keeps the condition itself, or a wait set that has it, keeps that until reset_handler(). */
    template <class Function>
    void handler(Function function)
    {
        if constexpr (std::is_invocable_v<Function &, Condition &>) {
            std::weak_ptr<tickwire::detail::ConditionState> self = state();
            set_handler([self, function]() mutable {
                Condition condition(self.lock());
                function(condition);
            });
        } else {
            set_handler(std::move(function));
        }
    }
    void reset_handler() { get().handler.set(nullptr); }
    /* Calls the handler, whether it holds or not. */
    void dispatch() const
    {
        if (const auto handler = get().handler.get())
            (*handler)();
    }

private:
    void set_handler(tickwire::detail::ConditionState::Handler handler)
    {
        using Handler = tickwire::detail::ConditionState::Handler;
        get().handler.set(std::make_shared<const Handler>(std::move(handler)));
    }
};

/* A condition that the program sets by hand. */
class GuardCondition : public Condition {
public:
    GuardCondition(null_type) {}
    GuardCondition() : Condition(make()) {}
    template <class Function, class = std::enable_if_t<std::is_invocable_v<Function &> ||
                                                       std::is_invocable_v<Function &, Condition &>>>
    explicit GuardCondition(Function function) : GuardCondition()
    {
        handler(std::move(function));
    }
    using Condition::trigger_value;
    void trigger_value(bool holds) { tickwire::detail::check(tw_guard_set(get().handle(), holds ? 1 : 0)); }

private:
    static std::shared_ptr<tickwire::detail::ConditionState> make()
    {
        tw_condition *made;
        tickwire::detail::check(tw_guard_create(&made));
        return std::make_shared<tickwire::detail::ConditionState>(made, nullptr);
    }
};

/* Holds while one of the enabled statuses of a topic, subscriber, writer or reader has changed, and never of a participant
 * or publisher, which have none of their own; at first all are enabled. An entity has one, whoever asks for it. It keeps the entity; its handler ends with the last that names it, or the last wait set that
 * has it. */
class StatusCondition : public Condition {
public:
    StatusCondition(null_type) {}
    template <class State>
    explicit StatusCondition(const EntityOf<State> &entity) : Condition(of(entity)), of_(entity.handle())
    {
    }
    template <class State, class Function>
    StatusCondition(const EntityOf<State> &entity, Function function) : StatusCondition(entity)
    {
        handler(std::move(function));
    }

    status::StatusMask enabled_statuses() const { return get().statuses(); }
    void enabled_statuses(const status::StatusMask &mask)
    {
        get().replace(mask, [this](const status::StatusMask &mask) { return make(of_, mask); });
    }

private:
    template <class State>
    static std::shared_ptr<tickwire::detail::ConditionState> of(const EntityOf<State> &entity)
    {
        State &state = entity.get();
        return state.status_condition([&] {
            auto *const made = make(state.handle(), state.enabled_statuses.load());
            return std::make_shared<tickwire::detail::ConditionState>(made, entity.state(), &state.enabled_statuses);
        });
    }
    static tw_condition *make(void *entity, status::StatusMask mask)
    {
        tw_condition *made;
        tickwire::detail::check(tw_status_condition(entity, mask.to_ulong(), &made));
        return made;
    }

    void *of_ = nullptr;
};

/* Waits for any of several conditions. */
class WaitSet : public tickwire::detail::Reference<tickwire::detail::WaitSetState> {
public:
    using ConditionSeq = std::vector<Condition>;

    WaitSet(null_type) {}
    WaitSet() : Reference(std::make_shared<tickwire::detail::WaitSetState>()) {}

    WaitSet &attach_condition(const Condition &condition)
    {
        const std::lock_guard<std::mutex> guard(get().lock);
        auto &all = get().conditions;
        if (std::find(all.begin(), all.end(), condition.state()) != all.end())
            return *this;
        condition.get().attach(state());
        all.push_back(condition.state());
        return *this;
    }
    WaitSet &operator+=(const Condition &condition) { return attach_condition(condition); }
    /* Whether it was attached. */
    bool detach_condition(const Condition &condition)
    {
        const std::lock_guard<std::mutex> guard(get().lock);
        auto &all = get().conditions;
        const auto at = std::find(all.begin(), all.end(), condition.state());
        if (at == all.end())
            return false;
        condition.get().detach(state());
        all.erase(at);
        return true;
    }
    WaitSet &operator-=(const Condition &condition)
    {
        detach_condition(condition);
        return *this;
    }
    ConditionSeq conditions() const
    {
        const std::lock_guard<std::mutex> guard(get().lock);
        return ConditionSeq(get().conditions.begin(), get().conditions.end());
    }

    /* The conditions that hold, once there is one. Throws TimeoutError if there is none in time. */
    ConditionSeq wait(const Duration &timeout = Duration::infinite())
    {
        ConditionSeq triggered;
        wait(triggered, timeout);
        return triggered;
    }
    /* The same into memory that there is. */
    ConditionSeq &wait(ConditionSeq &triggered, const Duration &timeout = Duration::infinite())
    {
        const auto began = std::chrono::steady_clock::now();
        triggered.clear();
        wait_once(triggered, timeout);
        // What held may have got other statuses meanwhile.
        while (triggered.empty()) {
            const Duration left = timeout - Duration(std::chrono::steady_clock::now() - began);
            wait_once(triggered, std::max(left, Duration::zero()));
        }
        return triggered;
    }
    /* Waits, and calls the handlers of the conditions that hold. */
    void dispatch(const Duration &timeout = Duration::infinite())
    {
        for (const Condition &condition : wait(timeout))
            condition.dispatch();
    }

private:
    void wait_once(ConditionSeq &triggered, const Duration &timeout)
    {
        tw_condition *few[16];
        std::vector<tw_condition *> many(room());
        tw_condition **holding = many.empty() ? few : many.data();
        const std::size_t capacity = many.empty() ? 16 : many.size();
        std::size_t count;
        tickwire::detail::check(tw_waitset_wait(get().raw(), timeout.count(), holding, capacity, &count));
        tw_condition **end = holding + std::min(count, capacity);
        const std::lock_guard<std::mutex> guard(get().lock);
        for (const auto &condition : get().conditions)
            if (std::find(holding, end, condition->handle()) != end)
                triggered.emplace_back(condition);
    }
    /* Conditions, if they are more than a few. */
    std::size_t room() const
    {
        const std::lock_guard<std::mutex> guard(get().lock);
        return get().conditions.size() > 16 ? get().conditions.size() : 0;
    }
};

} // namespace cond
} // namespace core
} // namespace dds

#endif
