/* What a message costs a program in C from an exchange of one context of this process to a queue of another, beside stream.c,
 * which has a writer and a reader do the same:
 *
 *     gcc -O2 exchange.c $(pkg-config --cflags --libs tickwire) -pthread -o exchange
 *     ./exchange [--size BYTES] [--messages N] [--transport shm|udp]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tickwire/exchange.h>

#define PATIENCE (60 * INT64_C(1000000000))
#define OK(call) \
    do { \
        if ((call) != TW_OK) { \
            fprintf(stderr, "%s: %s\n", #call, tw_last_error()); \
            exit(1); \
        } \
    } while (0)

static size_t size = 64;
static unsigned long long messages = 1000000;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *receive(void *mq) {
    for (unsigned long long at = 0; at < messages; at++) {
        void *data;
        size_t len;
        void (*free_data)(void *);
        OK(tw_mq_receive(mq, PATIENCE, &data, &len, &free_data, NULL));
        if (len != size) {
            fprintf(stderr, "a message of %zu bytes\n", len);
            exit(1);
        }
        free_data(data);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *transport = "udp";
    for (int at = 1; at < argc; at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : "";
        if (!strcmp(argv[at], "--size")) size = strtoull(value, NULL, 10), at++;
        else if (!strcmp(argv[at], "--messages")) messages = strtoull(value, NULL, 10), at++;
        else if (!strcmp(argv[at], "--transport")) transport = value, at++;
        else return fprintf(stderr, "there is no option %s\n", argv[at]), 1;
    }
    tw_qos *qos;
    char tag[32], by[32];
    snprintf(tag, sizeof tag, "%ld", (long)clock() + (long)time(NULL));
    snprintf(by, sizeof by, "udp,multicast,%s", transport);
    OK(tw_qos_create(&qos));
    OK(tw_qos_set(qos, "participant.domain_tag", tag));
    OK(tw_qos_set(qos, "participant.transports", by));
    tw_mq *one, *two;
    OK(tw_mq_create(NULL, 119, qos, &one));
    OK(tw_mq_create(NULL, 119, qos, &two));
    uint32_t exchange;
    OK(tw_mq_create_exchange(one, "E", TW_MQ_LOCAL, &exchange));
    OK(tw_mq_bind(one, "E", "Q"));
    OK(tw_mq_create_queue(two, "Q", TW_MQ_GLOBAL, NULL));
    OK(tw_mq_wait_for_bound(one, exchange, 1, PATIENCE));
    uint8_t *message = calloc(1, size);
    pthread_t receiver;
    double begin = now();
    if (pthread_create(&receiver, NULL, receive, two)) return perror("pthread_create"), 1;
    for (unsigned long long at = 0; at < messages; at++) OK(tw_mq_send(one, exchange, message, size, NULL, PATIENCE));
    pthread_join(receiver, NULL);
    printf("%zu B: %.0f messages/s\n", size, (double)messages / (now() - begin));
    OK(tw_delete(one));
    OK(tw_delete(two));
    OK(tw_delete(qos));
    free(message);
    return 0;
}
