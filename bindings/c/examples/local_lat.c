/* Half of the time of a round trip to remote_lat, on average:
 *
 *     gcc -O2 local_lat.c $(pkg-config --cflags --libs tickwire) -o local_lat
 *     ./local_lat HOST SIZE COUNT
 *
 * HOST is where `tickwire rendezvous` runs, or - without one.
 */
#include "latency.h"

int main(int argc, char **argv) {
    uint32_t exchange;
    double begin, end;
    if (argc != 4) {
        fprintf(stderr, "usage: local_lat HOST SIZE COUNT\n");
        return 2;
    }
    size_t size = (size_t)number_of(argv[2]);
    long count = number_of(argv[3]);
    printf("message size: %zu [B]\n", size);
    printf("roundtrip count: %ld\n", count);
    tw_mq *mq = context_at(argv[1], "-", "-");
    OK(tw_mq_create_exchange(mq, "EL", TW_MQ_LOCAL, &exchange));
    OK(tw_mq_create_queue(mq, "QL", TW_MQ_LOCAL, NULL));
    OK(tw_mq_bind(mq, "EL", "QG"));
    OK(tw_mq_bind(mq, "EG", "QL"));
    void *buffer = calloc(1, size);
    OK(tw_mq_wait_for_bound(mq, exchange, 1, PATIENCE));
    begin = now_us();
    for (long at = 0; at < count; at++) {
        void *data;
        size_t len;
        void (*free_data)(void *);
        OK(tw_mq_send(mq, exchange, buffer, size, NULL, PATIENCE));
        OK(tw_mq_receive(mq, PATIENCE, &data, &len, &free_data, NULL));
        if (len != size) return fprintf(stderr, "an echo of %zu bytes\n", len), 1;
        free_data(data);
    }
    end = now_us();
    printf("Your average latency is %.2f [us]\n", (end - begin) / (double)count / 2);
    free(buffer);
    OK(tw_delete(mq));
    return 0;
}
