/* What local_lat, remote_lat, local_thr and remote_thr share. */
#ifndef LATENCY_H
#define LATENCY_H

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

static inline double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* A number of an argument, which is to be more than 0. */
static inline long number_of(const char *argument) {
    char *end;
    long number = strtol(argument, &end, 10);
    if (*end != '\0' || number <= 0 || number > INT32_MAX) {
        fprintf(stderr, "`%s` is no size or count\n", argument);
        exit(2);
    }
    return number;
}

/* A context whose names are found at `host`, or by multicast if that is "-". The interfaces are "-", or an interface or
 * address, behind which a port counts for nothing; and what $TICKWIRE_QOS_FILE says of participants holds. */
static inline tw_mq *context_at(const char *host, const char *in, const char *out) {
    char interfaces[512];
    tw_qos *qos;
    tw_mq *mq;
    OK(tw_qos_load(NULL, NULL, &qos));
    if (strcmp(in, "-") != 0 || strcmp(out, "-") != 0) {
        if (strcmp(in, "-") == 0) in = out;
        if (strcmp(out, "-") == 0) out = in;
        snprintf(interfaces, sizeof interfaces, "%.*s,%.*s", (int)strcspn(in, ":"), in, (int)strcspn(out, ":"), out);
        OK(tw_qos_set(qos, "participant.interface", interfaces));
    }
    OK(tw_mq_create(strcmp(host, "-") == 0 ? NULL : host, TW_DOMAIN_OF_QOS, qos, &mq));
    OK(tw_delete(qos));
    return mq;
}

#endif
