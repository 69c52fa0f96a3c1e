/* How many messages of remote_thr arrive in a second, the first one not counted:
 *
 *     gcc -O2 local_thr.c $(pkg-config --cflags --libs tickwire) -o local_thr
 *     ./local_thr HOST INTERFACE SIZE COUNT
 *
 * HOST is where `tickwire rendezvous` runs, or - without one; an interface of - is the default one.
 */
#include "latency.h"

static void receive(tw_mq *mq, size_t size) {
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

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: local_thr HOST INTERFACE SIZE COUNT\n");
        return 2;
    }
    size_t size = (size_t)number_of(argv[3]);
    long count = number_of(argv[4]);
    printf("message size: %zu [B]\n", size);
    printf("message count: %ld\n", count);
    tw_mq *mq = context_at(argv[1], argv[2], "-");
    OK(tw_mq_create_queue(mq, "Q", TW_MQ_GLOBAL, NULL));
    receive(mq, size);
    double begin = now_us();
    for (long at = 0; at < count; at++) receive(mq, size);
    double seconds = (now_us() - begin) / 1e6;
    double rate = (double)count / seconds;
    printf("Your average throughput is %.0f [msg/s]\n", rate);
    printf("Your average throughput is %.0f [Mb/s]\n", rate * (double)size * 8 / 1e6);
    OK(tw_delete(mq));
    return 0;
}
