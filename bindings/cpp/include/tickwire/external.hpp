/* Values on their own, for members that are @external. */
#ifndef TICKWIRE_EXTERNAL_HPP
#define TICKWIRE_EXTERNAL_HPP

#include <memory>
#include <type_traits>
#include <utility>

namespace tickwire {

/* A value on its own, for members that are @external: copied with what it is in. There is always one, but where it was
 * moved from. */
template <class T>
class external {
public:
    external() : value_(new T()) {}
    external(const external &from) : value_(from.value_ ? new T(*from.value_) : nullptr) {}
    external(external &&from) noexcept = default;
    template <class A, class = std::enable_if_t<std::conjunction_v<
                           std::negation<std::is_same<std::decay_t<A>, external>>, std::is_constructible<T, A &&>>>>
    external(A &&value) : value_(new T(std::forward<A>(value)))
    {
    }
    ~external() = default;

    external &operator=(const external &from)
    {
        external copy(from);
        value_.swap(copy.value_);
        return *this;
    }
    external &operator=(external &&from) noexcept = default;

    explicit operator bool() const { return static_cast<bool>(value_); }
    T &operator*() { return *value_; }
    const T &operator*() const { return *value_; }
    T *operator->() { return value_.get(); }
    const T *operator->() const { return value_.get(); }
    T *get() { return value_.get(); }
    const T *get() const { return value_.get(); }

    friend bool operator==(const external &a, const external &b)
    {
        return a.value_ && b.value_ ? *a.value_ == *b.value_ : !a.value_ && !b.value_;
    }
    friend bool operator!=(const external &a, const external &b) { return !(a == b); }

private:
    std::unique_ptr<T> value_;
};

} // namespace tickwire

#endif
