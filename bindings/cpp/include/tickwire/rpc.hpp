/* Requests and replies (DDS-RPC 1.0): what the clients and services share that `tickwire idl gen --lang cpp` makes of
 * interfaces. docs/request-reply.md has what is on the wire. */
#ifndef TICKWIRE_RPC_HPP
#define TICKWIRE_RPC_HPP

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <dds/dds.hpp>

namespace tickwire {
namespace rpc {

/* What a service says instead of a result. */
enum class RemoteExceptionCode : std::int32_t {
    OK = 0,
    UNSUPPORTED = 1,
    INVALID_ARGUMENT = 2,
    OUT_OF_RESOURCES = 3,
    UNKNOWN_OPERATION = 4,
    UNKNOWN_EXCEPTION = 5
};

/* A service says so instead of a result. An operation of a service throws it to say so. */
class RemoteError : public dds::core::Error {
public:
    explicit RemoteError(RemoteExceptionCode code) : Error(text(code)), code_(code) {}

    RemoteExceptionCode code() const { return code_; }

private:
    static const char *text(RemoteExceptionCode code)
    {
        switch (code) {
        case RemoteExceptionCode::OK: return "the service says that nothing is wrong, but gives no result";
        case RemoteExceptionCode::UNSUPPORTED: return "the service does not implement the operation";
        case RemoteExceptionCode::INVALID_ARGUMENT: return "the service takes no such argument";
        case RemoteExceptionCode::OUT_OF_RESOURCES: return "the service has run out of resources";
        case RemoteExceptionCode::UNKNOWN_OPERATION:
            return "the service does not know the operation: its interface is another one";
        case RemoteExceptionCode::UNKNOWN_EXCEPTION: break;
        }
        return "the service has failed, and does not say why";
    }

    RemoteExceptionCode code_;
};

/* The topics of a service: by its name, or any two. */
class Topics {
public:
    Topics(const char *service) : Topics(std::string(service)) {}
    Topics(const std::string &service) : Topics(service + "_Request", service + "_Reply") {}
    Topics(std::string request, std::string reply) : request(std::move(request)), reply(std::move(reply)) {}

    std::string request, reply;
};

/* What came of the requests of a service. */
struct ServiceCounters {
    /* Taken. */
    std::uint64_t requests;
    /* With a result, with an exception of their operation, and with nobody who is told. */
    std::uint64_t returned, raised, told;
    /* For operations that the interface does not have; refused otherwise; in which the implementation failed. */
    std::uint64_t unknown_operations, refused, failures;
    /* Replies that could not be written. */
    std::uint64_t unsent;
    /* What was no request, of which nobody can be told; not among those taken. */
    std::uint64_t undecodable;
};

namespace detail {

using tickwire::detail::check;
using tickwire::detail::Object;

/* The members of requests, results and replies, of which one is there. */
constexpr std::uint32_t REMOTE_EXCEPTION = 0xf8e48f0, RESULT = 0x784a8b4;

/* The types of requests and replies of an interface. */
struct Types {
    const char *request, *request_idl, *reply, *reply_idl;
};

/* An operation of an interface: the member of requests and replies, and whether it takes and gives nothing, which is there
 * without any bytes. */
struct Operation {
    std::uint32_t id;
    bool takes_nothing, gives_nothing;
};

/* An exception that an operation raises: the member of results, and whether it has no members. */
template <class E>
struct Raises {
    std::uint32_t id;
    bool is_empty;
};

inline std::unique_ptr<Object> type(const char *name, const char *idl)
{
    tw_type *made;
    check(tw_type_from_idl(idl, name, nullptr, &made));
    return std::make_unique<Object>(made);
}

/* What is on loan of the library. */
class Message {
public:
    Message() = default;
    Message(const Message &) = delete;
    Message &operator=(const Message &) = delete;
    ~Message() { tw_samples_return(&samples_); }

    tw_samples *place() { return &samples_; }
    const tw_sample &operator*() const { return samples_.samples[0]; }

private:
    tw_samples samples_ = {};
};

/* The next member of a mutable struct. One without bytes is there if `is_empty(id)`, else absent. */
template <class IsEmpty>
bool next_choice(tw_cdr_reader *r, const tw_cdr_scope *scope, tw_cdr_member *member, IsEmpty is_empty)
{
    for (;;) {
        std::size_t length;
        if (scope->delimited && r->position == r->limit)
            return false;
        if (!(r->version == TW_CDR_XCDR1 ? tw_cdr_read_list_header(r, member, &length)
                                         : tw_cdr_read_member_header(r, member, &length)))
            return false;
        if (length > 0 || is_empty(member->id))
            return tw_cdr_enter_member(r, member, length);
    }
}

/* Calls `read(id)` for each member of a mutable struct; whether they could be read. */
template <class IsEmpty, class Read>
bool read_choices(tw_cdr_reader *r, IsEmpty is_empty, Read read)
{
    tw_cdr_scope scope;
    tw_cdr_member member;
    if (!tw_cdr_enter_struct(r, TW_CDR_MUTABLE, &scope))
        return false;
    while (next_choice(r, &scope, &member, is_empty)) {
        if (!read(member))
            return false;
        tw_cdr_leave_member(r, &member);
    }
    if (r->status != TW_CDR_OK)
        return false;
    tw_cdr_leave_struct(r, &scope);
    return true;
}

/* Writes a mutable struct with one member, and in that a final struct or what else `write` writes. */
template <class Write>
bool write_choice(tw_cdr_writer *w, std::uint32_t id, std::uint32_t code, Write write)
{
    tw_cdr_mark whole, mark;
    return tw_cdr_open_struct(w, TW_CDR_MUTABLE, &whole) && tw_cdr_open_member(w, id, false, code, &mark) && write(w) &&
           tw_cdr_close_member(w, &mark) && tw_cdr_close_struct(w, TW_CDR_MUTABLE, &whole);
}

/* A struct of any kind has its length before it. */
constexpr std::uint32_t NEXT_INT = 4, FOUR_BYTES = 2;

template <class Write>
tickwire::detail::Encoded encoded(const char *type, std::uint32_t id, std::uint32_t code, Write write)
{
    return tickwire::detail::Encoded(type, [&](Buffer &buffer) {
        tw_cdr_writer *const w = buffer.writer();
        const bool written =
            tw_cdr_open_payload(w, TW_CDR_XCDR2, TW_CDR_MUTABLE) && write_choice(w, id, code, write);
        return tw_cdr_close_payload(w, written);
    });
}

/* What a client calls by. */
class Requester {
public:
    Requester(const dds::domain::DomainParticipant &participant, const Topics &topics, const Types &types,
              const dds::core::Duration &timeout)
        : participant_(participant), types_(types), timeout_(timeout.count())
    {
        const auto request = type(types.request, types.request_idl), reply = type(types.reply, types.reply_idl);
        tw_requester *made;
        check(tw_requester_create(static_cast<tw_participant *>(participant.handle()), topics.request.c_str(),
                                  topics.reply.c_str(), static_cast<tw_type *>(request->handle()),
                                  static_cast<tw_type *>(reply->handle()), &made));
        requester_ = std::make_shared<Object>(made);
    }

    void wait_for_service(const dds::core::Duration &timeout)
    {
        check(tw_requester_wait_for_service(handle(), timeout.count()));
    }

    /* Calls an operation that nothing comes of. */
    template <class Write>
    void tell(std::uint32_t operation, Write write)
    {
        const auto request = encoded(types_.request, operation, NEXT_INT, write);
        check(tw_requester_wait_for_service(handle(), timeout_));
        check(tw_requester_tell(handle(), request.data, request.size));
    }

    /* Calls an operation, whose arguments `write` writes and whose results `read` reads, and throws what it raises. */
    template <class Write, class Read, class... E>
    void call(const Operation &operation, Write write, Read read, Raises<E>... raises)
    {
        Message reply;
        {
            const auto request = encoded(types_.request, operation.id, NEXT_INT, write);
            check(tw_requester_call(handle(), request.data, request.size, timeout_, reply.place()));
        }
        std::exception_ptr raised;
        bool answers = false, returned = false;
        std::uint32_t code = 0;
        tw_cdr_reader r;
        const auto none = [](std::uint32_t) { return false; };
        const auto result = [&](tw_cdr_member &member) {
            if (member.id == RESULT) {
                returned = true;
                return read(&r);
            }
            bool understood = true;
            const bool known = ((member.id == raises.id && (understood = raise<E>(&r, raised), true)) || ...);
            return known ? understood : tw_cdr_skip_unknown(&r, &member);
        };
        const auto is_empty = [&](std::uint32_t id) {
            return (id == RESULT && operation.gives_nothing) || ((id == raises.id && raises.is_empty) || ...);
        };
        bool read_all = tw_cdr_enter_payload(&r, (*reply).data, (*reply).len, TW_CDR_MUTABLE);
        read_all = read_all && read_choices(&r, none, [&](tw_cdr_member &member) {
            if (member.id == operation.id) {
                answers = true;
                return read_choices(&r, is_empty, result);
            }
            if (member.id == REMOTE_EXCEPTION) {
                return tw_cdr_read_uint32(&r, &code);
            }
            return tw_cdr_skip_unknown(&r, &member);
        });
        if (!read_all)
            throw dds::core::InvalidDataError(std::string(types_.reply) + ": " + tw_cdr_status_text(r.status));
        if (code != 0)
            throw RemoteError(static_cast<RemoteExceptionCode>(code));
        if (raised)
            std::rethrow_exception(raised);
        if (!answers || !returned)
            throw dds::core::InvalidDataError("the reply has no result of this operation: the interfaces differ");
    }

private:
    template <class E>
    static bool raise(tw_cdr_reader *r, std::exception_ptr &raised)
    {
        E exception;
        if (!cdr::Codec<E>::decode(exception, r))
            return false;
        raised = std::make_exception_ptr(std::move(exception));
        return true;
    }
    tw_requester *handle() const { return static_cast<tw_requester *>(requester_->handle()); }

    dds::domain::DomainParticipant participant_;
    Types types_;
    std::int64_t timeout_;
    std::shared_ptr<Object> requester_;
};

/* What counts the requests of a service. */
class Counts {
public:
    void add(std::uint64_t ServiceCounters::*what)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++(counters_.*what);
    }
    ServiceCounters counters() const
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        return counters_;
    }

private:
    mutable std::mutex mutex_;
    ServiceCounters counters_{};
};

/* A request that a service answers. What comes of it is counted before the reply is sent. */
class Call {
public:
    Call(const char *type, std::uint32_t operation, tw_cdr_reader r, Counts &counts,
         std::function<void(const void *, std::size_t)> send)
        : type_(type), operation_(operation), r_(r), counts_(counts), send_(std::move(send))
    {
    }

    std::uint32_t operation() const { return operation_; }
    bool is_answered() const { return is_answered_; }
    /* Reads the arguments. What are none is answered as such. */
    template <class Read>
    bool arguments(Read read)
    {
        if (read(&r_))
            return true;
        refuse(RemoteExceptionCode::INVALID_ARGUMENT, &ServiceCounters::refused);
        return false;
    }
    /* Answers with results, which `write` writes. */
    template <class Write>
    void returned(Write write)
    {
        answer(RESULT, &ServiceCounters::returned, write);
    }
    template <class E>
    void raised(std::uint32_t id, const E &exception)
    {
        answer(id, &ServiceCounters::raised,
               [&](tw_cdr_writer *w) { return cdr::Codec<E>::encode(exception, w); });
    }
    void refuse(RemoteExceptionCode code, std::uint64_t ServiceCounters::*what)
    {
        send(what, encoded(type_, REMOTE_EXCEPTION, FOUR_BYTES, [&](tw_cdr_writer *w) {
                 return tw_cdr_write_uint32(w, static_cast<std::uint32_t>(code));
             }));
    }

private:
    template <class Write>
    void answer(std::uint32_t id, std::uint64_t ServiceCounters::*what, Write write)
    {
        send(what, encoded(type_, operation_, NEXT_INT,
                           [&](tw_cdr_writer *w) { return write_choice(w, id, NEXT_INT, write); }));
    }
    void send(std::uint64_t ServiceCounters::*what, const tickwire::detail::Encoded &reply)
    {
        is_answered_ = true;
        counts_.add(what);
        send_(reply.data, reply.size);
    }

    const char *type_;
    std::uint32_t operation_;
    tw_cdr_reader r_;
    Counts &counts_;
    std::function<void(const void *, std::size_t)> send_;
    bool is_answered_ = false;
};

/* What runs a service: a thread that answers requests one after the other, until this ends, which is not to be on that
 * thread. */
class Server {
public:
    /* `answer` answers a request; `operations` are `count`. */
    Server(const dds::domain::DomainParticipant &participant, const Topics &topics, const Types &types,
           const Operation *operations, std::size_t count, std::function<void(Call &)> answer)
        : participant_(participant), types_(types), operations_(operations), count_(count), answer_(std::move(answer))
    {
        const auto request = type(types.request, types.request_idl), reply = type(types.reply, types.reply_idl);
        tw_replier *made;
        check(tw_replier_create(static_cast<tw_participant *>(participant.handle()), topics.request.c_str(),
                                topics.reply.c_str(), static_cast<tw_type *>(request->handle()),
                                static_cast<tw_type *>(reply->handle()), &made));
        replier_ = std::make_unique<Object>(made);
        thread_ = std::thread([this] { run(); });
    }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    ~Server()
    {
        stopped_ = true;
        thread_.join();
    }

    ServiceCounters counters() const { return counts_.counters(); }

private:
    void run()
    {
        tw_replier *const replier = static_cast<tw_replier *>(replier_->handle());
        while (!stopped_) {
            Message request;
            const tw_result result = tw_replier_wait(replier, PATIENCE, request.place());
            if (result == TW_OK)
                serve(replier, *request);
            else if (result != TW_TIMEOUT)
                // Its participant has been closed.
                return;
        }
    }

    void serve(tw_replier *replier, const tw_sample &request)
    {
        const auto send = [&](const void *data, std::size_t size) {
            // Who asked cannot be told that there is no reply.
            if (tw_replier_reply(replier, &request.info.writer, request.info.sequence_number, data, size) != TW_OK)
                counts_.add(&ServiceCounters::unsent);
        };
        tw_cdr_reader r, arguments;
        std::uint32_t asked = 0, operation = 0;
        const auto find = [&](std::uint32_t id) {
            const Operation *of = operations_;
            while (of != operations_ + count_ && of->id != id)
                of++;
            return of == operations_ + count_ ? nullptr : of;
        };
        const auto is_empty = [&](std::uint32_t id) {
            const Operation *of = find(id);
            return of != nullptr && of->takes_nothing;
        };
        const bool read = tw_cdr_enter_payload(&r, request.data, request.len, TW_CDR_MUTABLE) &&
                          read_choices(&r, is_empty, [&](tw_cdr_member &member) {
                              if (find(member.id) == nullptr)
                                  return tw_cdr_skip_unknown(&r, &member);
                              asked++;
                              operation = member.id;
                              arguments = r;
                              return true;
                          });
        // Nobody can be told of what is no request.
        if (!read)
            return counts_.add(&ServiceCounters::undecodable);
        counts_.add(&ServiceCounters::requests);
        Call call(types_.reply, operation, asked > 0 ? arguments : r, counts_, send);
        RemoteExceptionCode why = RemoteExceptionCode::UNKNOWN_EXCEPTION;
        auto what = &ServiceCounters::failures;
        try {
            if (asked != 1)
                throw RemoteError(asked == 0 ? RemoteExceptionCode::UNKNOWN_OPERATION
                                             : RemoteExceptionCode::INVALID_ARGUMENT);
            answer_(call);
            if (!call.is_answered())
                counts_.add(&ServiceCounters::told);
            return;
        } catch (const RemoteError &error) {
            why = error.code();
            what = why == RemoteExceptionCode::UNKNOWN_OPERATION ? &ServiceCounters::unknown_operations
                                                                 : &ServiceCounters::refused;
        } catch (...) {
            // It has no words for what else it fails by.
        }
        try {
            call.refuse(why, what);
        } catch (...) {
            // No memory: the client waits in vain.
        }
    }

    /* How long a service does not look whether it is to end. */
    static constexpr std::int64_t PATIENCE = 50000000;

    dds::domain::DomainParticipant participant_;
    Types types_;
    const Operation *operations_;
    std::size_t count_;
    std::function<void(Call &)> answer_;
    std::unique_ptr<Object> replier_;
    Counts counts_;
    std::atomic<bool> stopped_{false};
    std::thread thread_;
};

} // namespace detail
} // namespace rpc
} // namespace tickwire

#endif
