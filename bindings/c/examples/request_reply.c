/* Request and reply: an interface of IDL, a service that implements it, and a client that calls it. A thread answers:
 *
 *     tickwire idl gen --lang c market.idl --out . && \
 *     gcc request_reply.c market.c -pthread $(pkg-config --cflags --libs tickwire)
 */
#include <pthread.h>

#include "market_example.h"

static void cost(void *context, const char *symbol, int32_t quantity, double *result, tw_rpc_exception *exception) {
    const int *is_closed = (const int *)context;
    market_UnknownSecurity *unknown;
    if (strcmp(symbol, "TICK") == 0 && !*is_closed) {
        *result = 101.25 * quantity;
        return;
    }
    unknown = market_UnknownSecurity_raise(exception);
    if (unknown != NULL && !tw_cdr_set_text(&unknown->symbol, symbol)) tw_rpc_refuse(exception, TW_RPC_OUT_OF_RESOURCES);
}

static void close_of_trading(void *context, tw_rpc_exception *exception) {
    (void)exception;
    *(int *)context = 1;
}

/* Until the service is deleted. */
static void *answer(void *service) {
    while (tw_rpc_answer((tw_rpc_service *)service, TW_INFINITE) == TW_OK) continue;
    return NULL;
}

static void ask(const market_Desk_client *desk, const char *symbol, int32_t quantity) {
    tw_rpc_exception exception = TW_RPC_EXCEPTION;
    const market_UnknownSecurity *unknown;
    double result;
    tw_result status = market_Desk_cost(desk, symbol, quantity, &result, &exception);
    if (status == TW_OK) {
        printf("%d cost %g\n", quantity, result);
    } else if ((unknown = market_UnknownSecurity_raised(&exception)) != NULL) {
        printf("unknown: %s\n", unknown->symbol);
    } else if (status == TW_ERROR) {
        printf("%s\n", tw_rpc_code_text(exception.code));
    } else {
        must(status, "no answer");
    }
    tw_rpc_clear(&exception);
}

int main(int argc, char **argv) {
    uint32_t domain = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    int is_closed = 0;
    const market_Desk exchange = {.context = &is_closed, .cost = cost, .close_of_trading = close_of_trading};
    tw_participant *one, *other;
    tw_rpc_service service;
    market_Desk_client desk;
    pthread_t thread;
    must(tw_participant_create(domain, NULL, &one), "no participant");
    must(tw_participant_create(domain, NULL, &other), "no participant");
    must(market_Desk_service_open(&service, one, "Desk", NULL, &exchange), "no service");
    must(pthread_create(&thread, NULL, answer, &service), "no thread");
    must(market_Desk_client_open(&desk, other, "Desk", NULL, PATIENCE), "no client");
    ask(&desk, "TICK", 1);
    ask(&desk, "TICK", 100);
    ask(&desk, "TOCK", 1);
    must(market_Desk_close_of_trading(&desk, NULL), "not told");
    ask(&desk, "TICK", 1);
    tw_delete(service.replier);
    pthread_join(thread, NULL);
    tw_delete(other);
    return tw_delete(one);
}
