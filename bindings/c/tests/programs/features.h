/* What programs share that go through the functions of C. */
#ifndef FEATURES_H
#define FEATURES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwire.h>


#define SECONDS INT64_C(1000000000)
#define PATIENCE (20 * SECONDS)

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, tw_last_error()); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == TW_OK)
#define IS(result, call) CHECK((call) == (result))

static const char *tag;

/* struct Quote { @key long id; double price; }, final, in XCDR1, little endian. */
static const char *QUOTE = "module market { @final struct Quote { @key long id; double price; }; };";

typedef struct quote {
    uint8_t header[4];
    int32_t id;
    int32_t padding;
    double price;
} quote;

enum { QUOTE_LEN = 20, BEHIND = 4000 };

static inline size_t payload(uint8_t *to, int32_t id, double price) {
    static const uint8_t header[4] = {0, 1, 0, 0};
    memcpy(to, header, 4);
    memcpy(to + 4, &id, 4);
    memset(to + 8, 0, 4);
    memcpy(to + 12, &price, 8);
    return QUOTE_LEN;
}

static inline int32_t id_of(const tw_sample *sample) {
    int32_t id;
    CHECK(sample->len >= 8);
    memcpy(&id, (const uint8_t *)sample->data + 4, 4);
    return id;
}

static inline double price_of(const tw_sample *sample) {
    double price;
    CHECK(sample->len == QUOTE_LEN);
    memcpy(&price, (const uint8_t *)sample->data + 12, 8);
    return price;
}

static inline tw_qos *qos_of(const char *const *settings) {
    tw_qos *qos;
    OK(tw_qos_create(&qos));
    OK(tw_qos_set(qos, "participant.domain_tag", tag));
    OK(tw_qos_set(qos, "writer.representation", "xcdr1"));
    OK(tw_qos_set(qos, "writer.history.kind", "keep_all"));
    OK(tw_qos_set(qos, "reader.history.kind", "keep_all"));
    OK(tw_qos_set(qos, "reader.reliability.kind", "reliable"));
    for (; settings && settings[0]; settings += 2) OK(tw_qos_set(qos, settings[0], settings[1]));
    return qos;
}

static inline tw_participant *participant_with(const char *const *settings) {
    tw_participant *participant;
    tw_qos *qos = qos_of(settings);
    OK(tw_participant_create(117, qos, &participant));
    OK(tw_delete(qos));
    return participant;
}

static inline tw_topic *quotes(tw_participant *participant, const char *name) {
    tw_type *type;
    tw_topic *topic;
    OK(tw_type_from_idl(QUOTE, "market::Quote", NULL, &type));
    OK(tw_topic_create(participant, name, type, &topic));
    OK(tw_delete(type));
    return topic;
}

/* A writer and a reader of one topic in two participants, which match. */
typedef struct both {
    tw_participant *one, *two;
    tw_topic *ours, *theirs;
    tw_writer *writer;
    tw_reader *reader;
} both;

static inline void match(both *it) {
    OK(tw_writer_wait_for_matched(it->writer, 1, PATIENCE));
    OK(tw_reader_wait_for_matched(it->reader, 1, PATIENCE));
}

static inline both meet(const char *name, const char *const *settings) {
    both it;
    tw_qos *qos = qos_of(settings);
    it.one = participant_with(settings);
    it.two = participant_with(settings);
    it.ours = quotes(it.one, name);
    it.theirs = quotes(it.two, name);
    OK(tw_writer_create(it.one, it.ours, qos, &it.writer));
    OK(tw_reader_create(it.two, it.theirs, qos, &it.reader));
    OK(tw_delete(qos));
    match(&it);
    return it;
}

static inline void part(both *it) {
    OK(tw_delete(it->one));
    OK(tw_delete(it->two));
}

static inline void put(tw_writer *writer, int32_t id, double price) {
    uint8_t bytes[QUOTE_LEN];
    OK(tw_writer_write(writer, bytes, payload(bytes, id, price), NULL));
}

/* Waits until the reader has so many samples. */
static inline tw_samples taken(tw_reader *reader, size_t count) {
    tw_samples samples;
    for (;;) {
        OK(tw_reader_wait_for_data(reader, PATIENCE));
        OK(tw_reader_read(reader, 0, TW_ANY, NULL, &samples));
        if (samples.count >= count) break;
        OK(tw_samples_return(&samples));
    }
    CHECK(samples.count == count);
    OK(tw_samples_return(&samples));
    OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count == count);
    return samples;
}

#endif
