/* Clients and services of interfaces: arguments of all kinds and who frees them, what is raised, and what services count.
 * Ends with 1 at the first thing that is not as it should be. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c-services.h"

#define PATIENCE (60 * INT64_C(1000000000))

static void fail(const char *what, int line) {
    fprintf(stderr, "services.c:%d: not so: %s; %s\n", line, what, tw_last_error());
    exit(1);
}

#define CHECK(condition) do { if (!(condition)) fail(#condition, __LINE__); } while (0)
#define IS(expected, call) CHECK((call) == (expected))

static void price(void *context, const char *symbol, double *result, tw_rpc_exception *exception) {
    (void)context;
    *result = 1.5;
    if (strcmp(symbol, "closed") == 0) {
        test_Closed *closed = test_Closed_raise(exception);
        CHECK(closed != NULL && tw_cdr_set_text(&closed->reason, "holiday"));
    } else if (strcmp(symbol, "unknown") == 0) {
        /* The last one counts. */
        CHECK(test_Closed_raise(exception) != NULL);
        CHECK(test_Unknown_raise(exception) != NULL);
    } else if (strcmp(symbol, "refused") == 0) {
        tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
    }
}

static void all(void *context, const test_Row *row, test_Grid grid, test_Side side, test_Row_seq *rows, char **text,
                test_Grid turned, test_Side *other, test_Grid raised, const uint16_t *wide, test_Row *result,
                tw_rpc_exception *exception) {
    (void)context;
    (void)exception;
    CHECK(test_Row_copy(result, row));
    CHECK(test_Row_seq_resize(rows, rows->length + 1));
    CHECK(test_Row_copy(&rows->buffer[rows->length - 1], row));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            turned[j][i] = grid[i][j];
            raised[i][j]++;
        }
    *other = side == test_Side_BUY ? test_Side_SELL : test_Side_BUY;
    CHECK(tw_cdr_set_text(text, wide[0] == 'w' ? "wide" : "narrow"));
}

static void ping(void *context, tw_rpc_exception *exception) {
    /* It does not say that it raises this one. */
    if (*(int *)context) CHECK(test_Closed_raise(exception) != NULL);
}

static void note(void *context, const char *text, tw_rpc_exception *exception) {
    (void)exception;
    *(int *)context = strcmp(text, "faulty") == 0;
}

static void *answer(void *service) {
    tw_result result;
    while ((result = tw_rpc_answer((tw_rpc_service *)service, TW_INFINITE)) == TW_OK) continue;
    CHECK(result == TW_BAD_HANDLE);
    return NULL;
}

static void prices_and_exceptions(const test_Prices_client *client) {
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    double result = 0;
    IS(TW_OK, test_Prices_price(client, "TICK", &result, &exception));
    CHECK(result == 1.5 && exception.code == TW_RPC_OK);
    IS(TW_ERROR, test_Prices_price(client, "closed", &result, &exception));
    CHECK(exception.code == TW_RPC_RAISED && test_Unknown_raised(&exception) == NULL);
    CHECK(strcmp(test_Closed_raised(&exception)->reason, "holiday") == 0);
    IS(TW_ERROR, test_Prices_price(client, "unknown", &result, &exception));
    CHECK(test_Closed_raised(&exception) == NULL && test_Unknown_raised(&exception) != NULL);
    IS(TW_ERROR, test_Prices_price(client, "refused", &result, &exception));
    CHECK(exception.code == TW_RPC_OUT_OF_RESOURCES && exception.value == NULL);
    IS(TW_ERROR, test_Prices_undone(client, &exception));
    CHECK(exception.code == TW_RPC_UNSUPPORTED);
    IS(TW_ERROR, test_Prices_price(client, "closed", &result, NULL));
    /* Nothing is sent of what cannot be written. */
    IS(TW_BAD_SAMPLE, test_Prices_price(client, "longer than 8", &result, &exception));
    CHECK(exception.code == TW_RPC_OK);
    IS(TW_OK, test_Prices_note(client, "faulty", &exception));
    IS(TW_ERROR, test_Prices_ping(client, &exception));
    CHECK(exception.code == TW_RPC_UNKNOWN_EXCEPTION);
    IS(TW_OK, test_Prices_note(client, "fine", &exception));
    IS(TW_OK, test_Prices_ping(client, &exception));
    tw_rpc_clear(&exception);
}

static void arguments(const test_Prices_client *client) {
    static const uint16_t wide[] = {'w', 0};
    test_Row row, result;
    test_Row_seq rows = {0, 0, NULL};
    test_Grid grid = {{1, 2}, {3, 4}}, turned, raised = {{1, 2}, {3, 4}};
    test_Side other = test_Side_BUY;
    char *text = NULL;
    CHECK(test_Row_init(&row) && tw_cdr_set_text(&row.text, "row") && tw_cdr_set_text(&text, "text"));
    row.number = 7;
    for (uint32_t round = 1; round < 4; round++) {
        IS(TW_OK, test_Prices_all(client, &row, grid, test_Side_BUY, &rows, &text, turned, &other, raised, wide, &result, NULL));
        CHECK(rows.length == round && strcmp(rows.buffer[round - 1].text, "row") == 0);
        CHECK(strcmp(result.text, "row") == 0 && result.number == 7);
        CHECK(strcmp(text, "wide") == 0 && other == test_Side_SELL && turned[0][1] == 3 && turned[1][0] == 2);
        CHECK(raised[1][1] == 4 + (int32_t)round);
        test_Row_free(&result);
    }
    /* What was passed stays as it is where nothing comes back. */
    IS(TW_BAD_SAMPLE, test_Prices_all(client, &row, grid, (test_Side)9, &rows, &text, turned, &other, raised, wide, &result, NULL));
    CHECK(rows.length == 3 && strcmp(text, "wide") == 0);
    test_Row_seq_free(&rows);
    test_Row_free(&row);
    free(text);
}

/* Requests that no client makes. */
static void strange_requests(const test_Prices_client *client) {
    static const uint8_t unknown[] = {0, 11, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0x20, 0, 0, 0, 0};
    static const uint8_t cut[] = {0, 11, 0, 0, 99, 0, 0, 0};
    tw_samples reply;
    IS(TW_OK, tw_requester_call(client->rpc.requester, unknown, sizeof unknown, PATIENCE, &reply));
    tw_samples_return(&reply);
    IS(TW_OK, tw_requester_tell(client->rpc.requester, cut, sizeof cut));
    IS(TW_OK, test_Prices_ping(client, NULL));
}

int main(int argc, char **argv) {
    uint32_t domain = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    int is_faulty = 0;
    const test_Prices of = {.context = &is_faulty, .price = price, .all = all, .ping = ping, .note = note};
    tw_participant *one, *two;
    tw_rpc_service service;
    tw_rpc_counters counters;
    test_Prices_client client, nobodys;
    pthread_t thread;
    IS(TW_OK, tw_participant_create(domain, NULL, &one));
    IS(TW_OK, tw_participant_create(domain, NULL, &two));
    IS(TW_OK, test_Prices_service_open(&service, one, "Prices", NULL, &of));
    CHECK(pthread_create(&thread, NULL, answer, &service) == 0);
    IS(TW_OK, test_Prices_client_open(&client, two, "Prices_Request", "Prices_Reply", PATIENCE));
    IS(TW_OK, test_Prices_client_open(&nobodys, two, "Nobody", NULL, 1000000));
    IS(TW_TIMEOUT, test_Prices_ping(&nobodys, NULL));
    CHECK(strstr(tw_last_error(), "nobody reads `Nobody_Request`"));
    IS(TW_TIMEOUT, test_Prices_note(&nobodys, "unheard", NULL));
    IS(TW_OK, tw_rpc_wait_for_service(&client.rpc, PATIENCE));
    prices_and_exceptions(&client);
    arguments(&client);
    strange_requests(&client);
    tw_delete(service.replier);
    CHECK(pthread_join(thread, NULL) == 0);
    counters = service.counters;
    CHECK(counters.requests == 15 && counters.undecodable == 1);
    CHECK(counters.returned == 6 && counters.raised == 3 && counters.told == 2);
    CHECK(counters.unknown_operations == 1 && counters.refused == 2 && counters.failures == 1 && counters.unsent == 0);
    IS(TW_OK, tw_delete(client.rpc.requester));
    IS(TW_BAD_HANDLE, test_Prices_ping(&client, NULL));
    tw_delete(one);
    return tw_delete(two);
}
