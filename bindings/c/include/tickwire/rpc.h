/*
 * Requests and replies by interfaces of IDL (DDS-RPC 1.0): what the functions share that `tickwire idl gen --lang c` makes
 * of interfaces. bindings/c/IDL.md says how these are used, docs/request-reply.md what is on the wire.
 */
#ifndef TICKWIRE_RPC_H
#define TICKWIRE_RPC_H

#include <stdio.h>

#include <tickwire.h>
#include <tickwire/cdr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an operation ends: with a result, with what any service may say instead, or with one of its exceptions. */
typedef enum tw_rpc_code {
    TW_RPC_OK = 0,
    TW_RPC_UNSUPPORTED = 1,
    TW_RPC_INVALID_ARGUMENT = 2,
    TW_RPC_OUT_OF_RESOURCES = 3,
    TW_RPC_UNKNOWN_OPERATION = 4,
    TW_RPC_UNKNOWN_EXCEPTION = 5,
    TW_RPC_RAISED = 6
} tw_rpc_code;

/* For generated code: a struct that is sent, by functions that know nothing of it. */
typedef struct tw_rpc_type {
    size_t size;
    /* Whether it has no bytes on the wire. */
    bool is_empty;
    bool (*init)(void *value);
    void (*free)(void *value);
    bool (*encode)(const void *value, tw_cdr_writer *w);
    bool (*decode)(void *value, tw_cdr_reader *r);
} tw_rpc_type;

/* What came instead of a result. Begin with TW_RPC_EXCEPTION, and end with tw_rpc_clear(). */
typedef struct tw_rpc_exception {
    tw_rpc_code code;
    /* What is raised, which functions X_raise() and X_raised() of an exception X are for. */
    const tw_rpc_type *type;
    void *value;
} tw_rpc_exception;

#define TW_RPC_EXCEPTION { TW_RPC_OK, NULL, NULL }

/* What came of the requests of a service. */
typedef struct tw_rpc_counters {
    /* Taken. */
    uint64_t requests;
    /* With a result, with an exception of their operation, and with nobody who is told. */
    uint64_t returned, raised, told;
    /* For operations that the interface does not have; refused otherwise; whose result cannot be written. */
    uint64_t unknown_operations, refused, failures;
    /* Replies that could not be written. */
    uint64_t unsent;
    /* What was no request, of which nobody can be told; not among those taken. */
    uint64_t undecodable;
} tw_rpc_counters;

/* For generated code: an exception that an operation raises, by its member of results. */
typedef struct tw_rpc_raises {
    uint32_t id;
    const tw_rpc_type *type;
} tw_rpc_raises;

/* For generated code: an operation, by its member of requests and replies. What takes or gives nothing has no type. */
typedef struct tw_rpc_operation {
    uint32_t id;
    const tw_rpc_type *in, *out;
    const tw_rpc_raises *raises;
    size_t raises_count;
    bool is_oneway;
    /* Has an implementation do it. */
    void (*answer)(const void *implementation, void *in, void *out, tw_rpc_exception *exception);
} tw_rpc_operation;

/* For generated code: an interface. */
typedef struct tw_rpc_interface {
    const char *request, *request_idl, *reply, *reply_idl;
    const tw_rpc_operation *operations;
    size_t operation_count;
} tw_rpc_interface;

/* What a client calls by. Any number of threads may. */
typedef struct tw_rpc_client {
    tw_requester *requester;
    const tw_rpc_interface *interface_of;
    int64_t timeout_ns;
} tw_rpc_client;

/* What a service answers by. One thread at a time does. */
typedef struct tw_rpc_service {
    tw_replier *replier;
    const tw_rpc_interface *interface_of;
    const void *implementation;
    tw_rpc_counters counters;
} tw_rpc_service;

/* For people. */
static inline const char *tw_rpc_code_text(tw_rpc_code code)
{
    switch (code) {
    case TW_RPC_OK: return "the service says that nothing is wrong, but gives no result";
    case TW_RPC_UNSUPPORTED: return "the service does not implement the operation";
    case TW_RPC_INVALID_ARGUMENT: return "the service takes no such argument";
    case TW_RPC_OUT_OF_RESOURCES: return "the service has run out of resources";
    case TW_RPC_UNKNOWN_OPERATION: return "the service does not know the operation: its interface is another one";
    case TW_RPC_RAISED: return "the operation has raised an exception";
    default: return "the service has failed, and does not say why";
    }
}

/* Frees what an exception has; it is none then. */
static inline void tw_rpc_clear(tw_rpc_exception *exception)
{
    if (exception->value != NULL) {
        exception->type->free(exception->value);
        free(exception->value);
    }
    exception->code = TW_RPC_OK;
    exception->type = NULL;
    exception->value = NULL;
}

/* What an operation of a service says instead of a result. */
static inline void tw_rpc_refuse(tw_rpc_exception *exception, tw_rpc_code code)
{
    tw_rpc_clear(exception);
    exception->code = code;
}

/* For generated code: a new exception, to be filled in. NULL without memory, which the client is told then. */
static inline void *tw_rpc_raise(tw_rpc_exception *exception, const tw_rpc_type *type)
{
    void *value = calloc(1, type->size);
    tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
    if (value != NULL && !type->init(value)) {
        free(value);
        value = NULL;
    }
    if (value != NULL) {
        exception->code = TW_RPC_RAISED;
        exception->type = type;
        exception->value = value;
    }
    return value;
}

/* For generated code: what was raised, if it is of this type. */
static inline const void *tw_rpc_raised(const tw_rpc_exception *exception, const tw_rpc_type *type)
{
    return exception->type == type ? exception->value : NULL;
}

/* ---- Payloads, for what follows ---------------------------------------------------------------------------------- */

/* Members of replies and results, and how lengths are told (XTypes 1.3 7.4.3.4.2). */
enum { TW_RPC_REMOTE_EXCEPTION = 0xf8e48f0, TW_RPC_RESULT = 0x784a8b4, TW_RPC_NEXT_INT = 4, TW_RPC_FOUR_BYTES = 2 };

static inline bool tw_rpc_encode(const tw_rpc_type *type, const void *value, tw_cdr_writer *w)
{
    return type == NULL || type->is_empty || type->encode(value, w);
}

static inline bool tw_rpc_decode(const tw_rpc_type *type, void *value, tw_cdr_reader *r)
{
    return type == NULL || type->is_empty || type->decode(value, r);
}

/* A payload with one member, and in that the member `inner` unless it is 0. */
static inline bool tw_rpc_write(tw_cdr_writer *w, uint32_t id, uint32_t inner, const tw_rpc_type *type, const void *value)
{
    tw_cdr_mark whole, member, result, choice;
    bool written = tw_cdr_open_payload(w, TW_CDR_XCDR2, TW_CDR_MUTABLE) && tw_cdr_open_struct(w, TW_CDR_MUTABLE, &whole) &&
                   tw_cdr_open_member(w, id, false, TW_RPC_NEXT_INT, &member);
    if (inner == 0)
        written = written && tw_rpc_encode(type, value, w);
    else
        written = written && tw_cdr_open_struct(w, TW_CDR_MUTABLE, &result) &&
                  tw_cdr_open_member(w, inner, false, TW_RPC_NEXT_INT, &choice) && tw_rpc_encode(type, value, w) &&
                  tw_cdr_close_member(w, &choice) && tw_cdr_close_struct(w, TW_CDR_MUTABLE, &result);
    written = written && tw_cdr_close_member(w, &member) && tw_cdr_close_struct(w, TW_CDR_MUTABLE, &whole);
    return tw_cdr_close_payload(w, written) == TW_CDR_OK;
}

/* The next member of a mutable struct, be it without bytes. */
static inline bool tw_rpc_next(tw_cdr_reader *r, const tw_cdr_scope *scope, tw_cdr_member *member)
{
    size_t length;
    if (scope->delimited && r->position == r->limit)
        return false;
    if (!(r->version == TW_CDR_XCDR1 ? tw_cdr_read_list_header(r, member, &length)
                                     : tw_cdr_read_member_header(r, member, &length)))
        return false;
    return tw_cdr_enter_member(r, member, length);
}

/* Whether a member without bytes is absent, as most are. */
static inline bool tw_rpc_is_absent(const tw_cdr_reader *r, const tw_rpc_type *type)
{
    return type != NULL && !type->is_empty && r->position == r->limit;
}

static inline const tw_rpc_operation *tw_rpc_find(const tw_rpc_interface *of, uint32_t id)
{
    for (size_t at = 0; at < of->operation_count; at++)
        if (of->operations[at].id == id)
            return &of->operations[at];
    return NULL;
}

/* ---- Clients ----------------------------------------------------------------------------------------------------- */

/* For generated code: the types of an interface, and its topics: those of a service, or two, of which the second is given. */
static inline tw_result tw_rpc_types(const tw_rpc_interface *of, tw_type **request, tw_type **reply)
{
    tw_result result = tw_type_from_idl(of->request_idl, of->request, NULL, request);
    if (result != TW_OK)
        return result;
    result = tw_type_from_idl(of->reply_idl, of->reply, NULL, reply);
    if (result != TW_OK)
        tw_delete(*request);
    return result;
}

/* A topic of a service: NAME_Request or NAME_Reply. NULL without memory. */
static inline char *tw_rpc_topic(const char *service, const char *suffix)
{
    size_t size = strlen(service) + strlen(suffix) + 1;
    char *name = (char *)malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s%s", service, suffix);
    return name;
}

/* For generated code: makes a requester or a replier of a service's topics, NAME_Request and NAME_Reply, or of two. */
static inline tw_result tw_rpc_create(const tw_rpc_interface *of, tw_participant *participant, const char *service,
                                      const char *reply_topic, tw_requester **requester, tw_replier **replier)
{
    tw_type *request, *reply;
    char *topics[2];
    tw_result result;
    if (service == NULL)
        return TW_BAD_ARGUMENT;
    topics[0] = tw_rpc_topic(service, reply_topic == NULL ? "_Request" : "");
    topics[1] = tw_rpc_topic(reply_topic == NULL ? service : reply_topic, reply_topic == NULL ? "_Reply" : "");
    result = topics[0] == NULL || topics[1] == NULL ? TW_OUT_OF_RESOURCES : tw_rpc_types(of, &request, &reply);
    if (result == TW_OK) {
        result = requester != NULL ? tw_requester_create(participant, topics[0], topics[1], request, reply, requester)
                                   : tw_replier_create(participant, topics[0], topics[1], request, reply, replier);
        tw_delete(request);
        tw_delete(reply);
    }
    free(topics[0]);
    free(topics[1]);
    return result;
}

static inline tw_result tw_rpc_client_open(tw_rpc_client *client, const tw_rpc_interface *of, tw_participant *participant,
                                           const char *service, const char *reply_topic, int64_t timeout_ns)
{
    client->requester = NULL;
    client->interface_of = of;
    client->timeout_ns = timeout_ns;
    return tw_rpc_create(of, participant, service, reply_topic, &client->requester, NULL);
}

/* What a reply says, which becomes the result or an exception. */
static inline tw_result tw_rpc_outcome(const tw_rpc_operation *of, const tw_sample *reply, void *out,
                                       tw_rpc_exception *exception)
{
    tw_cdr_reader r;
    tw_cdr_scope whole, result;
    tw_cdr_member answer, member;
    bool is_returned = false;
    uint32_t code = 0;
    if (!tw_cdr_enter_payload(&r, reply->data, reply->len, TW_CDR_MUTABLE) ||
        !tw_cdr_enter_struct(&r, TW_CDR_MUTABLE, &whole))
        return TW_BAD_SAMPLE;
    while (tw_cdr_next_member(&r, &whole, &answer)) {
        if (answer.id == TW_RPC_REMOTE_EXCEPTION) {
            if (!tw_cdr_read_uint32(&r, &code))
                return TW_BAD_SAMPLE;
        } else if (answer.id != of->id) {
            if (!tw_cdr_skip_unknown(&r, &answer))
                return TW_BAD_SAMPLE;
        } else if (!tw_cdr_enter_struct(&r, TW_CDR_MUTABLE, &result)) {
            return TW_BAD_SAMPLE;
        } else {
            while (tw_rpc_next(&r, &result, &member)) {
                const tw_rpc_raises *raises = of->raises;
                while (raises != of->raises + of->raises_count && raises->id != member.id)
                    raises++;
                if (member.id == TW_RPC_RESULT) {
                    is_returned = is_returned || !tw_rpc_is_absent(&r, of->out);
                    if (is_returned && !tw_rpc_decode(of->out, out, &r))
                        return TW_BAD_SAMPLE;
                } else if (raises != of->raises + of->raises_count) {
                    if (!tw_rpc_is_absent(&r, raises->type)) {
                        void *value = tw_rpc_raise(exception, raises->type);
                        if (value == NULL)
                            return TW_OUT_OF_RESOURCES;
                        if (!tw_rpc_decode(raises->type, value, &r))
                            return TW_BAD_SAMPLE;
                    }
                } else if (!tw_cdr_skip_unknown(&r, &member)) {
                    return TW_BAD_SAMPLE;
                }
                tw_cdr_leave_member(&r, &member);
            }
            if (r.status != TW_CDR_OK)
                return TW_BAD_SAMPLE;
            tw_cdr_leave_struct(&r, &result);
        }
        tw_cdr_leave_member(&r, &answer);
    }
    if (r.status != TW_CDR_OK)
        return TW_BAD_SAMPLE;
    if (code != 0)
        tw_rpc_refuse(exception, code < TW_RPC_RAISED ? (tw_rpc_code)code : TW_RPC_UNKNOWN_EXCEPTION);
    if (exception->code != TW_RPC_OK)
        return TW_ERROR;
    return is_returned ? TW_OK : TW_BAD_SAMPLE;
}

/* For generated code: calls an operation. */
static inline tw_result tw_rpc_call(const tw_rpc_client *client, const tw_rpc_operation *of, const void *in, void *out,
                                    tw_rpc_exception *exception)
{
    tw_rpc_exception unheard = TW_RPC_EXCEPTION;
    tw_cdr_writer w = TW_CDR_WRITER;
    tw_samples reply;
    tw_result result = TW_BAD_SAMPLE;
    if (exception == NULL)
        exception = &unheard;
    tw_rpc_clear(exception);
    memset(&reply, 0, sizeof reply);
    if (tw_rpc_write(&w, of->id, 0, of->in, in)) {
        if (of->is_oneway) {
            result = tw_requester_wait_for_service(client->requester, client->timeout_ns);
            if (result == TW_OK)
                result = tw_requester_tell(client->requester, w.data, w.size);
        } else {
            result = tw_requester_call(client->requester, w.data, w.size, client->timeout_ns, &reply);
            if (result == TW_OK)
                result = tw_rpc_outcome(of, &reply.samples[0], out, exception);
        }
    }
    tw_samples_return(&reply);
    tw_cdr_writer_free(&w);
    tw_rpc_clear(&unheard);
    return result;
}

/* Waits until a service is there. */
static inline tw_result tw_rpc_wait_for_service(const tw_rpc_client *client, int64_t timeout_ns)
{
    return tw_requester_wait_for_service(client->requester, timeout_ns);
}

/* ---- Services ---------------------------------------------------------------------------------------------------- */

/* For generated code: `implementation` is to stay as long as the service answers. */
static inline tw_result tw_rpc_service_open(tw_rpc_service *service, const tw_rpc_interface *of,
                                            tw_participant *participant, const char *name, const char *reply_topic,
                                            const void *implementation)
{
    memset(service, 0, sizeof *service);
    service->interface_of = of;
    service->implementation = implementation;
    return tw_rpc_create(of, participant, name, reply_topic, NULL, &service->replier);
}

/* The operation that a request asks for, whose arguments are read next; how many it asks for, or -1 if it is no request. */
static inline int tw_rpc_asked(const tw_rpc_interface *of, const tw_sample *request, tw_cdr_reader *arguments,
                               const tw_rpc_operation **operation)
{
    tw_cdr_reader r;
    tw_cdr_scope whole;
    tw_cdr_member member;
    int asked = 0;
    if (!tw_cdr_enter_payload(&r, request->data, request->len, TW_CDR_MUTABLE) ||
        !tw_cdr_enter_struct(&r, TW_CDR_MUTABLE, &whole))
        return -1;
    while (tw_rpc_next(&r, &whole, &member)) {
        const tw_rpc_operation *found = tw_rpc_find(of, member.id);
        if (found == NULL) {
            if (!tw_cdr_skip_unknown(&r, &member))
                return -1;
        } else if (!tw_rpc_is_absent(&r, found->in)) {
            asked += asked < 2;
            *operation = found;
            *arguments = r;
        }
        tw_cdr_leave_member(&r, &member);
    }
    return r.status == TW_CDR_OK ? asked : -1;
}

/* Has the implementation do what is asked; what is to be replied is in the writer then, unless nothing is. */
static inline bool tw_rpc_do(tw_rpc_service *service, const tw_rpc_operation *of, tw_cdr_reader *r, tw_cdr_writer *w,
                             tw_rpc_exception *exception)
{
    const tw_rpc_raises *raises = of->raises;
    void *in = of->in == NULL ? NULL : calloc(1, of->in->size);
    void *out = of->out == NULL ? NULL : calloc(1, of->out->size);
    bool is_written = true;
    if ((of->in != NULL && in == NULL) || (of->out != NULL && (out == NULL || !of->out->init(out))))
        tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
    else if (!tw_rpc_decode(of->in, in, r))
        tw_rpc_refuse(exception, TW_RPC_INVALID_ARGUMENT);
    else
        of->answer(service->implementation, in, out, exception);
    if (exception->code == TW_RPC_OK && !of->is_oneway)
        is_written = tw_rpc_write(w, of->id, TW_RPC_RESULT, of->out, out);
    if (exception->code == TW_RPC_RAISED) {
        while (raises != of->raises + of->raises_count && raises->type != exception->type)
            raises++;
        is_written = raises != of->raises + of->raises_count &&
                     tw_rpc_write(w, of->id, raises->id, raises->type, exception->value);
    }
    if (in != NULL)
        of->in->free(in);
    if (out != NULL)
        of->out->free(out);
    free(in);
    free(out);
    return is_written;
}

/* Waits for a request, and answers it. TW_TIMEOUT if none comes in time, TW_BAD_HANDLE once the service or its participant
 * is deleted. */
static inline tw_result tw_rpc_answer(tw_rpc_service *service, int64_t timeout_ns)
{
    tw_rpc_counters *counters = &service->counters;
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    const tw_rpc_operation *operation = NULL;
    tw_cdr_writer w = TW_CDR_WRITER;
    tw_cdr_reader arguments;
    tw_samples requests;
    const tw_sample *request;
    int asked;
    bool is_told = false, has_failed = false;
    tw_result result = tw_replier_wait(service->replier, timeout_ns, &requests);
    if (result != TW_OK)
        return result;
    request = &requests.samples[0];
    asked = tw_rpc_asked(service->interface_of, request, &arguments, &operation);
    if (asked < 0) {
        counters->undecodable++;
        tw_samples_return(&requests);
        return TW_OK;
    }
    counters->requests++;
    if (asked != 1) {
        tw_rpc_refuse(&exception, asked == 0 ? TW_RPC_UNKNOWN_OPERATION : TW_RPC_INVALID_ARGUMENT);
    } else if (!tw_rpc_do(service, operation, &arguments, &w, &exception)) {
        /* It raises what it must not, or gives what cannot be written. */
        counters->failures++;
        has_failed = true;
        tw_rpc_refuse(&exception, TW_RPC_UNKNOWN_EXCEPTION);
    } else if (exception.code == TW_RPC_OK && operation->is_oneway) {
        counters->told++;
        is_told = true;
    } else if (exception.code == TW_RPC_OK) {
        counters->returned++;
    } else if (exception.code == TW_RPC_RAISED) {
        counters->raised++;
    }
    if (exception.code != TW_RPC_OK && exception.code != TW_RPC_RAISED) {
        tw_cdr_mark whole, member;
        bool written = tw_cdr_open_payload(&w, TW_CDR_XCDR2, TW_CDR_MUTABLE) &&
                       tw_cdr_open_struct(&w, TW_CDR_MUTABLE, &whole) &&
                       tw_cdr_open_member(&w, TW_RPC_REMOTE_EXCEPTION, false, TW_RPC_FOUR_BYTES, &member) &&
                       tw_cdr_write_uint32(&w, (uint32_t)exception.code) && tw_cdr_close_member(&w, &member) &&
                       tw_cdr_close_struct(&w, TW_CDR_MUTABLE, &whole);
        tw_cdr_close_payload(&w, written);
        if (exception.code == TW_RPC_UNKNOWN_OPERATION)
            counters->unknown_operations++;
        else if (!has_failed)
            counters->refused++;
    }
    if (!is_told && tw_replier_reply(service->replier, &request->info.writer, request->info.sequence_number, w.data,
                                     w.size) != TW_OK)
        counters->unsent++;
    tw_samples_return(&requests);
    tw_cdr_writer_free(&w);
    tw_rpc_clear(&exception);
    return TW_OK;
}

/* For generated code: what an X is, whose functions of a struct there are. */
#define TW_RPC_TYPE(X, EMPTY)                                                                                          \
    static bool X##_rpc_init(void *value) { return X##_init((X *)value); }                                            \
    static void X##_rpc_free(void *value) { X##_free((X *)value); }                                                    \
    static bool X##_rpc_encode(const void *value, tw_cdr_writer *w) { return X##_encode((const X *)value, w); }        \
    static bool X##_rpc_decode(void *value, tw_cdr_reader *r) { return X##_decode((X *)value, r); }                    \
    static const tw_rpc_type X##_rpc = { sizeof(X), EMPTY, X##_rpc_init, X##_rpc_free, X##_rpc_encode, X##_rpc_decode }

/* For generated code, which has names that may be those of functions. */
static inline void tw_rpc_zero(void *value, size_t size) { memset(value, 0, size); }
static inline void tw_rpc_move(void *to, const void *from, size_t size) { memcpy(to, from, size); }

static inline void tw_rpc_swap(void *a, void *b, size_t size)
{
    unsigned char *one = (unsigned char *)a, *other = (unsigned char *)b;
    for (size_t at = 0; at < size; at++) {
        unsigned char was = one[at];
        one[at] = other[at];
        other[at] = was;
    }
}

#ifdef __cplusplus
}
#endif

#endif
