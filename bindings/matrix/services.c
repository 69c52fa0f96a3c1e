/* A service and a client in C of the interface Desk (services.py says what they do). */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services.h"

/* Longer than a program takes to start. */
#define PATIENCE INT64_C(20000000000)

/* Knows one security. */
typedef struct book {
    int32_t depth;
    /* Securities that were subscribed to. */
    char subscribed[16][16];
    size_t count;
} book;

static void get_version(void *context, char **result, tw_rpc_exception *exception)
{
    (void)context;
    if (!tw_cdr_set_text(result, "1.2"))
        tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
}

static void ping(void *context, tw_rpc_exception *exception)
{
    (void)context;
    (void)exception;
}

static bool is_subscribed(const book *of, const char *security)
{
    for (size_t at = 0; at < of->count; at++)
        if (strcmp(of->subscribed[at], security) == 0)
            return true;
    return false;
}

static void price(void *context, const char *security, double *result, tw_rpc_exception *exception)
{
    if (strcmp(security, "TICK") == 0) {
        *result = 101.25;
    } else if (strcmp(security, "OLD") == 0) {
        market_Closed *closed = market_Closed_raise(exception);
        if (closed != NULL && !tw_cdr_set_text(&closed->reason, "delisted"))
            tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
    } else if (*security == '\0') {
        tw_rpc_refuse(exception, TW_RPC_INVALID_ARGUMENT);
    } else if (strcmp(security, "FAULT") == 0) {
        tw_rpc_refuse(exception, TW_RPC_UNKNOWN_EXCEPTION);
    } else if (is_subscribed((const book *)context, security)) {
        *result = 1;
    } else {
        market_Unknown_raise(exception);
    }
}

static void levels(void *context, const char *security, market_Quotes_Side side, int32_t *count, bool *more,
                   market_Level_seq *result, tw_rpc_exception *exception)
{
    int32_t given = *count < 0 ? 0 : *count < 2 ? *count : 2;
    (void)context;
    if (strcmp(security, "TICK") != 0) {
        market_Unknown_raise(exception);
    } else if (!market_Level_seq_resize(result, (uint32_t)given)) {
        tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
    } else {
        for (int32_t level = 0; level < given; level++) {
            result->buffer[level].price = 101.25 + (side == market_Quotes_Side_BID ? -level : level) / 4.0;
            result->buffer[level].size = 100;
        }
        *more = given < *count;
        *count = given;
    }
}

static void subscribe(void *context, const char *security, const char *type, tw_rpc_exception *exception)
{
    book *of = (book *)context;
    (void)exception;
    if (strcmp(type, "last") == 0 && of->count < 16)
        snprintf(of->subscribed[of->count++], sizeof of->subscribed[0], "%s", security);
}

static void type(void *context, uint8_t self, uint8_t *result, tw_rpc_exception *exception)
{
    (void)context;
    (void)exception;
    *result = (uint8_t)(self + 1);
}

static void get_depth(void *context, int32_t *result, tw_rpc_exception *exception)
{
    (void)exception;
    *result = ((const book *)context)->depth;
}

static void set_depth(void *context, int32_t depth, tw_rpc_exception *exception)
{
    (void)exception;
    ((book *)context)->depth = depth;
}

static void halt(void *context, bool all, tw_rpc_exception *exception)
{
    (void)context;
    if (!all)
        market_Closed_raise(exception);
}

static void *serve(void *of)
{
    tw_rpc_service *service = (tw_rpc_service *)of;
    while (tw_rpc_answer(service, TW_INFINITE) == TW_OK)
        continue;
    return NULL;
}

/* What comes of a call, as text. */
static char said[256];

/* Writes what an exception is, or that there is none. */
static const char *outcome(tw_result result, tw_rpc_exception *exception)
{
    const market_Closed *closed = market_Closed_raised(exception);
    if (result == TW_OK)
        snprintf(said, sizeof said, "done");
    else if (closed != NULL)
        snprintf(said, sizeof said, "market::Closed(%s)", closed->reason);
    else if (market_Unknown_raised(exception) != NULL)
        snprintf(said, sizeof said, "market::Unknown");
    else if (exception->code != TW_RPC_OK)
        snprintf(said, sizeof said, "remote %d", (int)exception->code);
    else
        snprintf(said, sizeof said, "%s: %s", tw_result_name(result), tw_last_error());
    tw_rpc_clear(exception);
    return said;
}

static bool is(const char *name, const char *expected)
{
    if (strcmp(said, expected) == 0)
        return true;
    printf("%s %s, not %s\n", name, said, expected);
    return false;
}

static bool price_is(const Desk_client *desk, const char *name, const char *security, const char *expected)
{
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    double result = 0;
    if (strcmp(outcome(Desk_price(desk, security, &result, &exception), &exception), "done") == 0)
        snprintf(said, sizeof said, "%g", result);
    return is(name, expected);
}

static bool levels_are(const Desk_client *desk, const char *name, const char *security, const char *expected)
{
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    market_Level_seq result;
    int32_t count = 5;
    bool more = false;
    const tw_result status = Desk_levels(desk, security, market_Quotes_Side_BID, &count, &more, &result, &exception);
    if (strcmp(outcome(status, &exception), "done") == 0) {
        size_t at = 0;
        for (uint32_t level = 0; level < result.length; level++)
            at += (size_t)snprintf(said + at, sizeof said - at, "%gx%" PRId32 " ", result.buffer[level].price,
                                   result.buffer[level].size);
        snprintf(said + at, sizeof said - at, "%" PRId32 " %d", count, more);
        market_Level_seq_free(&result);
    }
    return is(name, expected);
}

/* Calls every operation, in every way that it can end. */
static bool call(tw_participant *participant, const char *name)
{
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    Desk_client desk;
    char service[32], *version;
    int32_t depth = 0;
    uint8_t type = 0;
    uint64_t now;
    bool is_right;
    snprintf(service, sizeof service, "Desk_%s", name);
    if (Desk_client_open(&desk, participant, service, NULL, PATIENCE) != TW_OK)
        return false;
    if (strcmp(outcome(Desk_get_version(&desk, &version, &exception), &exception), "done") == 0) {
        snprintf(said, sizeof said, "%s", version);
        free(version);
    }
    is_right = is(name, "1.2");
#define DOES(CALL, EXPECTED) (is_right = is_right && (outcome(CALL, &exception), is(name, EXPECTED)))
    DOES(Desk_ping(&desk, &exception), "done");
    DOES(Desk_set_depth(&desk, 7, &exception), "done");
    DOES(Desk_get_depth(&desk, &depth, &exception), "done");
    is_right = is_right && depth == 7 && price_is(&desk, name, "TICK", "101.25") &&
               price_is(&desk, name, "OLD", "market::Closed(delisted)") && price_is(&desk, name, "X", "market::Unknown") &&
               price_is(&desk, name, "", "remote 2") && price_is(&desk, name, "FAULT", "remote 5") &&
               levels_are(&desk, name, "TICK", "101.25x100 101x100 2 1") && levels_are(&desk, name, "X", "market::Unknown");
    DOES(Desk_subscribe(&desk, "c", "last", &exception), "done");
    is_right = is_right && price_is(&desk, name, "c", "1");
    DOES(Desk_type(&desk, 4, &type, &exception), "done");
    is_right = is_right && type == 5;
    DOES(Desk_now(&desk, &now, &exception), "remote 1");
    DOES(Desk_halt(&desk, true, &exception), "done");
    DOES(Desk_halt(&desk, false, &exception), "market::Closed()");
    tw_delete(desk.rpc.requester);
    return is_right;
}

int main(int argc, char **argv)
{
    tw_participant *participant;
    if (argc != 3 || tw_participant_create(0, NULL, &participant) != TW_OK) {
        fprintf(stderr, "%s\n", tw_last_error());
        return EXIT_FAILURE;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(argv[1], "serve") == 0) {
        /* It does not know what time it is. */
        static book of;
        const Desk desk = {.context = &of, .get_version = get_version, .ping = ping, .price = price, .levels = levels,
                           .subscribe = subscribe, .type = type, .get_depth = get_depth, .set_depth = set_depth,
                           .halt = halt};
        tw_rpc_service service;
        pthread_t thread;
        char name[32];
        snprintf(name, sizeof name, "Desk_%s", argv[2]);
        if (Desk_service_open(&service, participant, name, NULL, &desk) != TW_OK ||
            pthread_create(&thread, NULL, serve, &service) != 0) {
            fprintf(stderr, "%s\n", tw_last_error());
            return EXIT_FAILURE;
        }
        while (getchar() != EOF)
            continue;
        tw_delete(service.replier);
        pthread_join(thread, NULL);
    } else {
        for (char *name = strtok(argv[2], ","); name != NULL; name = strtok(NULL, ","))
            if (call(participant, name))
                printf("%s ok\n", name);
    }
    tw_delete(participant);
    return EXIT_SUCCESS;
}
