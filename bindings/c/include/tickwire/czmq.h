/*
 * The seven calls of the C extension of 0MQ of 2008 (czmq.h), by those of tickwire/exchange.h, for programs that have them:
 * they are compiled again, and no more is to be changed. New programs better call tickwire/exchange.h.
 *
 * As there, calls wait without end, and a handle is a `void *`, which is that of a tw_mq: the functions of
 * tickwire/exchange.h take it, too. What differs: calls that returned nothing return 0, or a code of tickwire.h, where the
 * process was aborted; a handle may be used by several threads; and what `nic` says of an exchange or queue counts for
 * nothing, as interfaces are the context's (`participant.interface`).
 */
#ifndef TICKWIRE_CZMQ_H
#define TICKWIRE_CZMQ_H

#include <tickwire/exchange.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CZMQ_SCOPE_LOCAL 0
#define CZMQ_SCOPE_GLOBAL 1

typedef void(czmq_free_fn)(void *data);

/* `host` is where `tickwire rendezvous` runs, or NULL. QoS comes from the profile that $TICKWIRE_QOS_FILE and
 * $TICKWIRE_QOS_PROFILE name, if they do. NULL if it fails; tw_last_error() says why. */
static inline void *czmq_create(const char *host) {
    tw_qos *qos;
    tw_mq *mq = NULL;
    if (tw_qos_load(NULL, NULL, &qos) != TW_OK) return NULL;
    if (tw_mq_create(host, TW_DOMAIN_OF_QOS, qos, &mq) != TW_OK) mq = NULL;
    tw_delete(qos);
    return (void *)mq;
}

static inline int czmq_destroy(void *handle) {
    return (int)tw_delete(handle);
}

/* The number of the exchange, or less than 0. */
static inline int czmq_create_exchange(void *handle, const char *name, int scope, const char *nic) {
    uint32_t exchange = 0;
    tw_result result = tw_mq_create_exchange((tw_mq *)handle, name, scope, &exchange);
    (void)nic;
    return result == TW_OK ? (int)exchange : (int)result;
}

/* 0 or more, or less than 0. */
static inline int czmq_create_queue(void *handle, const char *name, int scope, const char *nic) {
    uint32_t queue = 0;
    tw_result result = tw_mq_create_queue((tw_mq *)handle, name, scope, &queue);
    (void)nic;
    return result == TW_OK ? (int)queue : (int)result;
}

static inline int czmq_bind(void *handle, const char *exchange, const char *queue) {
    return (int)tw_mq_bind((tw_mq *)handle, exchange, queue);
}

/* `ffn` may be NULL. */
static inline int czmq_send(void *handle, int exchange, void *data, size_t size, czmq_free_fn *ffn) {
    return (int)tw_mq_send((tw_mq *)handle, (uint32_t)exchange, data, size, ffn, TW_INFINITE);
}

/* If it fails there are no data, and nothing to free them by. */
static inline int czmq_receive(void *handle, void **data, size_t *size, czmq_free_fn **ffn) {
    tw_result result = tw_mq_receive((tw_mq *)handle, TW_INFINITE, data, size, ffn, NULL);
    if (result != TW_OK) {
        if (data) *data = NULL;
        if (size) *size = 0;
        if (ffn) *ffn = NULL;
    }
    return (int)result;
}

#ifdef __cplusplus
}
#endif

#endif
