/* Values of functions, wherever they have room. */
#ifndef TICKWIRE_LOCAL_HPP
#define TICKWIRE_LOCAL_HPP

#include <cstddef>
#include <memory>
#include <utility>

namespace tickwire {
namespace detail {

/* More bytes than a value on the stack should have. */
constexpr std::size_t LARGE = 4096;

/* A value of a function, which is not on the stack if it is large: arrays may have megabytes. */
template <class T, bool IsLarge = (sizeof(T) > LARGE)>
class Local {
public:
    template <class... A>
    explicit Local(A &&...arguments) : value_(std::forward<A>(arguments)...)
    {
    }
    T &operator*() { return value_; }

private:
    T value_;
};

template <class T>
class Local<T, true> {
public:
    template <class... A>
    explicit Local(A &&...arguments) : value_(new T(std::forward<A>(arguments)...))
    {
    }
    T &operator*() { return *value_; }

private:
    std::unique_ptr<T> value_;
};

/* Makes a value what its type begins with. */
template <class T>
void begin_anew(T &value)
{
    value = std::move(*Local<T>());
}

} // namespace detail
} // namespace tickwire

#endif
