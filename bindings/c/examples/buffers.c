/* Hands buffers over both ways: what is sent is freed by the function that is sent with it, what is received by the one
 * that comes with it.
 *
 *     gcc buffers.c $(pkg-config --cflags --libs tickwire) -o buffers
 */
#include <stdio.h>
#include <stdlib.h>
#include <tickwire/exchange.h>

enum { BUFFERS = 10, BYTES = 1000 };

#define OK(call) \
    do { \
        if ((call) != TW_OK) { \
            fprintf(stderr, "%s: %s\n", #call, tw_last_error()); \
            exit(1); \
        } \
    } while (0)

static int freed;

static void free_buffer(void *buffer) {
    freed++;
    free(buffer);
}

int main(void) {
    tw_mq *mq;
    uint32_t exchange;
    OK(tw_mq_create(NULL, TW_DOMAIN_OF_QOS, NULL, &mq));
    OK(tw_mq_create_exchange(mq, "E", TW_MQ_LOCAL, &exchange));
    OK(tw_mq_create_queue(mq, "Q", TW_MQ_LOCAL, NULL));
    OK(tw_mq_bind(mq, "E", "Q"));
    for (int number = 0; number < BUFFERS; number++) {
        unsigned char *buffer = malloc(BYTES);
        if (!buffer) return 1;
        for (int at = 0; at < BYTES; at++) buffer[at] = (unsigned char)(number + at);
        /* The buffer is the library's from here on, even if this fails. */
        OK(tw_mq_send(mq, exchange, buffer, BYTES, free_buffer, TW_INFINITE));
    }
    void *received[BUFFERS];
    void (*free_received[BUFFERS])(void *);
    for (int number = 0; number < BUFFERS; number++) {
        size_t len;
        OK(tw_mq_receive(mq, TW_INFINITE, &received[number], &len, &free_received[number], NULL));
        if (len != BYTES) return 1;
    }
    OK(tw_delete(mq));
    /* The buffers are ours until we free them, in any order. */
    for (int number = BUFFERS - 1; number >= 0; number--) {
        const unsigned char *buffer = received[number];
        for (int at = 0; at < BYTES; at++)
            if (buffer[at] != (unsigned char)(number + at)) return 1;
        free_received[number](received[number]);
    }
    printf("%d sent and freed, %d received and freed\n", freed, BUFFERS);
    return 0;
}
