/* What functions throw. */
#ifndef TICKWIRE_DDS_CORE_EXCEPTION_HPP
#define TICKWIRE_DDS_CORE_EXCEPTION_HPP

#include <exception>
#include <stdexcept>
#include <string>

#include <tickwire.h>

namespace dds {
namespace core {

/* All that is thrown is one of these; what() says what was wrong, and what to do about it. */
class Exception {
public:
    virtual ~Exception() = default;
    virtual const char *what() const noexcept = 0;
};

} // namespace core
} // namespace dds

namespace tickwire {
namespace detail {

template <class Standard>
class Failure : public dds::core::Exception, public Standard {
public:
    explicit Failure(const std::string &what) : Standard(what) {}
    const char *what() const noexcept override { return Standard::what(); }
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace core {

#define TICKWIRE_DDS_FAILURE(NAME, STANDARD)                                                                      \
    class NAME : public tickwire::detail::Failure<std::STANDARD> {                                               \
    public:                                                                                                      \
        using Failure::Failure;                                                                                  \
    };

TICKWIRE_DDS_FAILURE(Error, runtime_error)
TICKWIRE_DDS_FAILURE(AlreadyClosedError, logic_error)
TICKWIRE_DDS_FAILURE(IllegalOperationError, logic_error)
TICKWIRE_DDS_FAILURE(ImmutablePolicyError, logic_error)
TICKWIRE_DDS_FAILURE(InconsistentPolicyError, logic_error)
TICKWIRE_DDS_FAILURE(InvalidArgumentError, invalid_argument)
TICKWIRE_DDS_FAILURE(InvalidDataError, logic_error)
TICKWIRE_DDS_FAILURE(NotEnabledError, logic_error)
TICKWIRE_DDS_FAILURE(NullReferenceError, runtime_error)
TICKWIRE_DDS_FAILURE(OutOfResourcesError, runtime_error)
TICKWIRE_DDS_FAILURE(PreconditionNotMetError, logic_error)
TICKWIRE_DDS_FAILURE(TimeoutError, runtime_error)
TICKWIRE_DDS_FAILURE(UnsupportedError, logic_error)

#undef TICKWIRE_DDS_FAILURE

} // namespace core
} // namespace dds

namespace tickwire {
namespace detail {

[[noreturn]] inline void fail(tw_result result)
{
    const std::string why = tw_last_error();
    switch (result) {
    case TW_BAD_HANDLE: throw dds::core::AlreadyClosedError(why);
    case TW_BAD_ARGUMENT:
    case TW_NOT_FOUND:
    case TW_TOO_SMALL: throw dds::core::InvalidArgumentError(why);
    case TW_TIMEOUT: throw dds::core::TimeoutError(why);
    case TW_OUT_OF_RESOURCES: throw dds::core::OutOfResourcesError(why);
    case TW_PRECONDITION: throw dds::core::PreconditionNotMetError(why);
    case TW_NOT_ENABLED: throw dds::core::NotEnabledError(why);
    case TW_UNSUPPORTED: throw dds::core::UnsupportedError(why);
    case TW_IMMUTABLE: throw dds::core::ImmutablePolicyError(why);
    case TW_INCONSISTENT: throw dds::core::InconsistentPolicyError(why);
    case TW_BAD_SAMPLE: throw dds::core::InvalidDataError(why);
    default: throw dds::core::Error(why);
    }
}

inline void check(tw_result result)
{
    if (result != TW_OK)
        fail(result);
}

/* A text that the library writes into a buffer. */
template <class Ask>
std::string text(Ask ask)
{
    std::string text(64, '\0');
    std::size_t length = 0;
    tw_result result = ask(&text[0], text.size(), &length);
    while (result == TW_TOO_SMALL) {
        text.resize(length + 1);
        result = ask(&text[0], text.size(), &length);
    }
    check(result);
    text.resize(length);
    return text;
}

} // namespace detail
} // namespace tickwire

#endif
