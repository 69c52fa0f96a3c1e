/*
 * Exchanges and queues: messages that are sent to names and received from names, as in the C extension of 0MQ of 2008,
 * whose own seven calls are in tickwire/czmq.h. Results, handles, threads and time are those of tickwire.h.
 *
 *     tw_mq *mq;
 *     uint32_t exchange;
 *     tw_mq_create("10.0.0.1", 0, NULL, &mq);
 *     tw_mq_create_exchange(mq, "E", TW_MQ_LOCAL, &exchange);
 *     tw_mq_bind(mq, "E", "Q");
 *     tw_mq_send(mq, exchange, buffer, 10, free, TW_INFINITE);
 *     tw_delete(mq);
 *
 * and in another process, before or after:
 *
 *     tw_mq_create("10.0.0.1", 0, NULL, &mq);
 *     tw_mq_create_queue(mq, "Q", TW_MQ_GLOBAL, NULL);
 *     tw_mq_receive(mq, TW_INFINITE, &data, &len, &free_data, NULL);
 *     free_data(data);
 *
 * An exchange passes each message to all queues that are bound to it at that time. Each queue gets the messages of an
 * exchange that one thread sends in their order, each once, and none is lost while both programs live: a queue that is
 * full holds its exchanges up.
 *
 * A context is a participant of the domain: exchanges are its writers, queues its readers, of the topic
 * "tickwire/messages" (struct tickwire::Message { sequence<octet> bytes; }, final), and a name is one of PARTITION. So all
 * tools for topics show them.
 */
#ifndef TICKWIRE_EXCHANGE_H
#define TICKWIRE_EXCHANGE_H

#include <tickwire.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context: some exchanges, some queues. tw_delete() ends it, and waits as for writers. Who waits in it on another thread
 * gets TW_BAD_HANDLE within a tenth of a second. */
typedef struct tw_mq tw_mq;

/* Who can bind an exchange or a queue by its name: its own context alone, or all contexts of the domain, wherever they are.
 * What is local may itself be bound to what is global. */
enum { TW_MQ_LOCAL = 0, TW_MQ_GLOBAL = 1 };

/* Joins a domain as tw_participant_create() does. `rendezvous` is the name service: where `tickwire rendezvous` runs, as
 * HOST, HOST:PORT, or the path of the file that it writes; or NULL, where others are found by multicast, or as `qos` says,
 * which may be NULL, too. Of what `qos` says of writers and readers all holds but RELIABILITY, HISTORY and PARTITION: so
 * `reader.resource_limits.max_samples` is how many messages a queue has room for, 10,000 if it says nothing. Of participants
 * all holds but `driving`: a thread that waits in tw_mq_receive() takes messages from the network itself, and one of the
 * library's does while none waits. */
tw_result tw_mq_create(const char *rendezvous, uint32_t domain, const tw_qos *qos, tw_mq **mq);

/* Makes an exchange or a queue of that name, and bindings to it that were made before take effect. The number is what others
 * of these functions call it by; `queue` may be NULL. Names have 1 to 200 bytes, and none of * ? [ ] \. A context has at
 * most 1,024 of each.
 * TW_PRECONDITION if the context has that name already. Other contexts may have it: then all are meant by it, but in a
 * context that has one itself, where that is. */
tw_result tw_mq_create_exchange(tw_mq *mq, const char *name, int32_t scope, uint32_t *exchange);
tw_result tw_mq_create_queue(tw_mq *mq, const char *name, int32_t scope, uint32_t *queue);

/* Binds an exchange to a queue. One of the two must be this context's; the other one may be elsewhere, then it must be
 * global, and may be yet to come. Waits for nothing; see tw_mq_wait_for_bound(). To bind again, or from the other side, too,
 * changes nothing. TW_NOT_FOUND if the context has neither. */
tw_result tw_mq_bind(tw_mq *mq, const char *exchange, const char *queue);

/* Sends a message of `len` bytes to all queues that are bound to the exchange. Waits until there is one, and while one has no
 * room. `free_data(data)` is called exactly once when nobody needs the bytes any more, whatever the result. Up to 64 KiB
 * are copied, and freed before this returns; more are sent from where they lie, and freed when all queues have them, or
 * the context has ended, by any thread of the library or in any call with the context: it is not to call any function of
 * the library, nor to wait for a lock under which one is called. If it is NULL, the bytes are copied, and stay the caller's, who may use them again at once.
 * TW_TIMEOUT if it was not sent in time; looking for room goes on for up to a hundredth of a second more. TW_NOT_FOUND if
 * there is no such exchange. */
tw_result tw_mq_send(tw_mq *mq, uint32_t exchange, void *data, size_t len, void (*free_data)(void *data),
                     int64_t timeout_ns);

/* Waits until at least `count` queues are bound to the exchange and have been found. */
tw_result tw_mq_wait_for_bound(tw_mq *mq, uint32_t exchange, uint32_t count, int64_t timeout_ns);

/* Waits until the queues have all messages that were sent so far: before tw_delete(), which gives them a second. */
tw_result tw_mq_wait_for_acknowledgments(tw_mq *mq, int64_t timeout_ns);

/* Waits for a message, and takes it; with a timeout of 0 it only looks. Of several queues each has its turn; `queue` says
 * which it was, and may be NULL. Several threads may wait, and each message goes to one.
 * The bytes are the caller's until he calls `free_data(data)`, on any thread, and whatever becomes of the context: exactly
 * once, as afterwards the address may be that of another message. They are to be read, not written, as they may lie where
 * the sender wrote them, and may begin at any address: copy numbers out of them by memcpy(). They may be sent on, with
 * this function. A message of no bytes is NULL, which need not be freed. TW_TIMEOUT if none has come. */
tw_result tw_mq_receive(tw_mq *mq, int64_t timeout_ns, void **data, size_t *len, void (**free_data)(void *data),
                        uint32_t *queue);

#ifdef __cplusplus
}
#endif

#endif
