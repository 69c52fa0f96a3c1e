/* What a sample of a reliable keep_all stream costs a program in C, from one participant of this process to another; the same
 * as crates/dds/benches/stream.rs, by which it is to be measured:
 *
 *     gcc -O2 stream.c $(pkg-config --cflags --libs tickwire) -o stream
 *     ./stream [--size BYTES] [--samples N] [--transport shm|udp] [--suspend] [--payload] [--lend]
 *
 * With --payload the type is a struct of a sequence of octets whose samples come as payloads, else they are the octets.
 */
#include <stdatomic.h>
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

static atomic_ullong taken;

static void on_data(tw_reader *reader, void *context) {
    tw_samples samples;
    unsigned long long in_place = 0;
    OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    for (size_t at = 0; at < samples.count; at++) in_place += (unsigned long long)samples.samples[at].info.in_place;
    *(volatile unsigned long long *)context = in_place;
    atomic_fetch_add_explicit(&taken, samples.count, memory_order_relaxed);
    OK(tw_samples_return(&samples));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    size_t size = 64;
    unsigned long long samples = 1000000;
    int suspends = 0, payloads = 0, lends = 0;
    const char *transport = "udp";
    for (int at = 1; at < argc; at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : "";
        if (!strcmp(argv[at], "--suspend")) suspends = 1;
        else if (!strcmp(argv[at], "--payload")) payloads = 1;
        else if (!strcmp(argv[at], "--lend")) lends = 1;
        else if (!strcmp(argv[at], "--size")) size = strtoull(value, NULL, 10), at++;
        else if (!strcmp(argv[at], "--samples")) samples = strtoull(value, NULL, 10), at++;
        else if (!strcmp(argv[at], "--transport")) transport = value, at++;
        else return fprintf(stderr, "there is no option %s\n", argv[at]), 1;
    }
    tw_qos *qos;
    char tag[32], by[32], max_loan[32];
    snprintf(tag, sizeof tag, "%ld", (long)clock() + (long)time(NULL));
    snprintf(by, sizeof by, "udp,multicast,%s", transport);
    snprintf(max_loan, sizeof max_loan, "%zuB", lends ? size : 0);
    const char *settings[][2] = {
        {"participant.domain_tag", tag}, {"participant.transports", by},
        {"participant.trusts_lenders", lends ? "true" : "false"},
        {"writer.reliability.max_blocking_time", "60s"}, {"writer.history.kind", "keep_all"},
        {"writer.max_loan", max_loan}, {"writer.loan_count", "64"},
        {"reader.reliability.kind", "reliable"}, {"reader.history.kind", "keep_all"},
    };
    OK(tw_qos_create(&qos));
    for (size_t at = 0; at < sizeof settings / sizeof *settings; at++)
        OK(tw_qos_set(qos, settings[at][0], settings[at][1]));
    tw_participant *one, *two;
    OK(tw_participant_create(119, qos, &one));
    OK(tw_participant_create(119, qos, &two));
    tw_type *type;
    if (payloads) OK(tw_type_from_idl("@final struct Bytes { sequence<octet> data; };", NULL, NULL, &type));
    else OK(tw_type_bytes("Bytes", "data", 0, TW_FINAL, &type));
    tw_topic *ours, *theirs;
    OK(tw_topic_create(one, "Stream", type, &ours));
    OK(tw_topic_create(two, "Stream", type, &theirs));
    tw_publisher *publisher;
    tw_writer *writer;
    tw_reader *reader;
    OK(tw_publisher_create(one, qos, &publisher));
    OK(tw_writer_create(publisher, ours, qos, &writer));
    OK(tw_reader_create(two, theirs, qos, &reader));
    unsigned long long seen = 0;
    tw_listener listener = {0};
    listener.size = sizeof listener;
    listener.context = &seen;
    listener.on_data_available = on_data;
    OK(tw_set_listener(reader, &listener, TW_ALL_STATUSES));
    OK(tw_writer_wait_for_matched(writer, 1, PATIENCE));
    char way[4096] = "";
    double begin = now();
    do {
        OK(tw_participant_explain(one, way, sizeof way, NULL));
        if (now() - begin > 60) return fprintf(stderr, "shared memory is not used: %s\n", way), 1;
    } while (!strcmp(transport, "shm") && !strstr(way, "shared memory\n"));
    /* In XCDR1, little endian. */
    uint8_t *sample = calloc(1, size + 8);
    uint32_t len = (uint32_t)size;
    memset(sample + 8, 7, size);
    memcpy(sample, "\0\1\0", 4);
    memcpy(sample + 4, &len, 4);
    const void *data = payloads ? sample : sample + 8;
    size_t data_len = payloads ? size + 8 : size;
    begin = now();
    if (suspends) OK(tw_publisher_suspend(publisher));
    for (unsigned long long at = 0; at < samples; at++) {
        if (lends) {
            void *room;
            tw_loan *loan;
            OK(tw_writer_loan(writer, size, &room, &loan));
            memcpy(room, sample + 8, 8);
            OK(tw_loan_write(loan, size, NULL));
        } else {
            OK(tw_writer_write(writer, data, data_len, NULL));
        }
    }
    if (suspends) OK(tw_publisher_resume(publisher));
    OK(tw_writer_wait_for_acknowledgments(writer, PATIENCE));
    while (atomic_load_explicit(&taken, memory_order_relaxed) < samples && now() - begin < 60) {
    }
    printf("%zu B: %.0f samples/s\n", size, (double)samples / (now() - begin));
    OK(tw_delete(one));
    OK(tw_delete(two));
    free(sample);
    return 0;
}
