/* Sends back what local_lat sends, in the buffers in which it comes:
 *
 *     gcc -O2 remote_lat.c $(pkg-config --cflags --libs tickwire) -o remote_lat
 *     ./remote_lat HOST IN-INTERFACE OUT-INTERFACE SIZE COUNT
 *
 * HOST is where `tickwire rendezvous` runs, or - without one; an interface of - is the default one.
 */
#include "latency.h"

int main(int argc, char **argv) {
    uint32_t exchange;
    if (argc != 6) {
        fprintf(stderr, "usage: remote_lat HOST IN-INTERFACE OUT-INTERFACE SIZE COUNT\n");
        return 2;
    }
    size_t size = (size_t)number_of(argv[4]);
    long count = number_of(argv[5]);
    tw_mq *mq = context_at(argv[1], argv[2], argv[3]);
    OK(tw_mq_create_exchange(mq, "EG", TW_MQ_GLOBAL, &exchange));
    OK(tw_mq_create_queue(mq, "QG", TW_MQ_GLOBAL, NULL));
    for (long at = 0; at < count; at++) {
        void *data;
        size_t len;
        void (*free_data)(void *);
        OK(tw_mq_receive(mq, PATIENCE, &data, &len, &free_data, NULL));
        if (len != size) return fprintf(stderr, "a message of %zu bytes\n", len), 1;
        OK(tw_mq_send(mq, exchange, data, len, free_data, PATIENCE));
    }
    OK(tw_mq_wait_for_acknowledgments(mq, PATIENCE));
    OK(tw_delete(mq));
    return 0;
}
