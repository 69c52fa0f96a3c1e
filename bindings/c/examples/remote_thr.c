/* Sends COUNT messages to local_thr, and one before them:
 *
 *     gcc -O2 remote_thr.c $(pkg-config --cflags --libs tickwire) -o remote_thr
 *     ./remote_thr HOST SIZE COUNT
 *
 * HOST is where `tickwire rendezvous` runs, or - without one.
 */
#include "latency.h"

int main(int argc, char **argv) {
    uint32_t exchange;
    if (argc != 4) {
        fprintf(stderr, "usage: remote_thr HOST SIZE COUNT\n");
        return 2;
    }
    size_t size = (size_t)number_of(argv[2]);
    long count = number_of(argv[3]);
    tw_mq *mq = context_at(argv[1], "-", "-");
    OK(tw_mq_create_exchange(mq, "E", TW_MQ_LOCAL, &exchange));
    OK(tw_mq_bind(mq, "E", "Q"));
    void *buffer = calloc(1, size);
    for (long at = 0; at < count + 1; at++) OK(tw_mq_send(mq, exchange, buffer, size, NULL, PATIENCE));
    OK(tw_mq_wait_for_acknowledgments(mq, PATIENCE));
    free(buffer);
    OK(tw_delete(mq));
    return 0;
}
