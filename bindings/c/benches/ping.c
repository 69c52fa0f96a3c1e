/* What a round trip costs a program in C, between two participants that it polls busily; the same as crates/dds/benches/ping.rs,
 * by which it is to be measured:
 *
 *     gcc -O2 ping.c $(pkg-config --cflags --libs tickwire) -o ping
 *     ./ping [--size BYTES] [--rounds N] [--transport shm|udp] [--take listener|each]
 *
 * With `--take each` readers hand out samples as they come, instead of telling a listener that takes them. Instructions are counted without the meeting of the two, and divided by the rounds:
 *
 *     valgrind --tool=callgrind --toggle-collect=exchange ./ping --rounds 20000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tickwire.h>

#define PATIENCE (60 * INT64_C(1000000000))
#define OK(call) \
    do { \
        if ((call) != TW_OK) { \
            fprintf(stderr, "%s: %s\n", #call, tw_last_error()); \
            exit(1); \
        } \
    } while (0)

/* A participant with what it sends and what it hears. */
typedef struct {
    tw_participant *participant;
    tw_writer *writer;
    tw_reader *reader;
} side;

static unsigned long long answers;

static void on_ping(tw_reader *reader, void *writer) {
    tw_samples samples;
    OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    for (size_t at = 0; at < samples.count; at++)
        OK(tw_writer_write(writer, samples.samples[at].data, samples.samples[at].len, NULL));
    OK(tw_samples_return(&samples));
}

static void on_pong(tw_reader *reader, void *context) {
    tw_samples samples;
    (void)context;
    OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    answers += samples.count;
    OK(tw_samples_return(&samples));
}

static void each_ping(const tw_sample *sample, void *writer) {
    OK(tw_writer_write(writer, sample->data, sample->len, NULL));
}

static void each_pong(const tw_sample *sample, void *context) {
    (void)sample, (void)context;
    answers++;
}

static side open_side(const tw_qos *qos, const char *says, const char *hears) {
    side made;
    tw_type *type;
    tw_topic *there, *back;
    OK(tw_participant_create(119, qos, &made.participant));
    OK(tw_type_bytes("Bytes", "data", 0, TW_FINAL, &type));
    OK(tw_topic_create(made.participant, says, type, &there));
    OK(tw_topic_create(made.participant, hears, type, &back));
    OK(tw_writer_create(made.participant, there, qos, &made.writer));
    OK(tw_reader_create(made.participant, back, qos, &made.reader));
    OK(tw_delete(type));
    return made;
}

static int is_ready(const side *of, const char *transport) {
    char way[4096];
    tw_matched_status readers, writers;
    OK(tw_writer_publication_matched(of->writer, &readers));
    OK(tw_reader_subscription_matched(of->reader, &writers));
    OK(tw_participant_explain(of->participant, way, sizeof way, NULL));
    return readers.current_count > 0 && writers.current_count > 0
           && (strcmp(transport, "shm") != 0 || strstr(way, "shared memory\n") != NULL);
}

/* Has the answers counted for so many rounds. */
__attribute__((noinline)) void exchange(const side *one, const side *two, const void *data, size_t size,
                                        unsigned long long rounds) {
    for (unsigned long long round = 0; round < rounds; round++) {
        OK(tw_writer_write(one->writer, data, size, NULL));
        while (answers <= round) {
            OK(tw_participant_poll(two->participant, PATIENCE));
            OK(tw_participant_poll(one->participant, PATIENCE));
        }
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    size_t size = 16;
    unsigned long long rounds = 100000;
    const char *transport = "shm", *take = "listener";
    for (int at = 1; at < argc; at += 2) {
        const char *value = at + 1 < argc ? argv[at + 1] : "";
        if (!strcmp(argv[at], "--size")) size = strtoull(value, NULL, 10);
        else if (!strcmp(argv[at], "--rounds")) rounds = strtoull(value, NULL, 10);
        else if (!strcmp(argv[at], "--transport")) transport = value;
        else if (!strcmp(argv[at], "--take")) take = value;
        else return fprintf(stderr, "there is no option %s\n", argv[at]), 1;
    }
    tw_qos *qos;
    char tag[32], by[32];
    snprintf(tag, sizeof tag, "%ld", (long)clock() + (long)time(NULL));
    snprintf(by, sizeof by, "udp,multicast,%s", transport);
    const char *settings[][2] = {
        {"participant.domain_tag", tag}, {"participant.transports", by},
        {"participant.driving", "polled"}, {"participant.busy_poll", "60s"},
        {"writer.history.kind", "keep_last"}, {"writer.history.depth", "16"},
        {"reader.reliability.kind", "reliable"}, {"reader.history.kind", "keep_last"}, {"reader.history.depth", "16"},
    };
    OK(tw_qos_create(&qos));
    for (size_t at = 0; at < sizeof settings / sizeof *settings; at++)
        OK(tw_qos_set(qos, settings[at][0], settings[at][1]));
    side one = open_side(qos, "Ping", "Pong");
    side two = open_side(qos, "Pong", "Ping");
    double begin = now();
    while (!(is_ready(&one, transport) && is_ready(&two, transport))) {
        OK(tw_participant_poll(one.participant, 0));
        OK(tw_participant_poll(two.participant, 0));
        if (now() - begin > 60) return fprintf(stderr, "the participants have not met by that transport\n"), 1;
    }
    if (!strcmp(take, "each")) {
        OK(tw_reader_take_each(two.reader, each_ping, two.writer, NULL));
        OK(tw_reader_take_each(one.reader, each_pong, NULL, NULL));
    } else {
        tw_listener listener = {0};
        listener.size = sizeof listener;
        listener.context = two.writer;
        listener.on_data_available = on_ping;
        OK(tw_set_listener(two.reader, &listener, TW_DATA_AVAILABLE));
        listener.context = NULL;
        listener.on_data_available = on_pong;
        OK(tw_set_listener(one.reader, &listener, TW_DATA_AVAILABLE));
    }
    uint8_t *data = malloc(size + 1);
    memset(data, 7, size);
    begin = now();
    exchange(&one, &two, data, size, rounds);
    printf("%zu B: %.0f ns one way\n", size, (now() - begin) / 2 * 1e9 / (double)rounds);
    OK(tw_delete(one.reader));
    OK(tw_delete(two.reader));
    OK(tw_delete(one.participant));
    OK(tw_delete(two.participant));
    OK(tw_delete(qos));
    free(data);
    return 0;
}
