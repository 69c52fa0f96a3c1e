/* Calls each function with arguments at random: handles of all kinds, deleted ones and none at all, NULL, numbers at the
 * ends of their ranges. What it passes besides is what the header asks for. Threads share what there is, and delete it
 * under each other. The arguments are a tag, which keeps other programs away, and the seed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwire.h>
#include <tickwire/exchange.h>

enum {
    PARTICIPANT, TYPE, TOPIC, PUBLISHER, SUBSCRIBER, WRITER, READER, REQUESTER, REPLIER, CONDITION, WAITSET, QOS, LOAN, MQ,
    KINDS
};

enum { THREADS = 3, ROUNDS = 120, LIVING = 2 };

/* What exists, or did; threads replace it. */
static _Atomic(void *) objects[KINDS][LIVING];

typedef struct state {
    uint64_t random;
    /* Whether a handle was passed that cannot be the right one. */
    int is_wrong;
    tw_samples samples;
    /* Room for whatever a function wants to write, at a multiple of 16. */
    _Alignas(16) unsigned char room[1 << 16];
    /* Handles that a function has returned; of them what is to be deleted. */
    void *results[16];
    tw_listener listener;
    tw_idl_options options;
} state;

typedef struct function_under_test {
    const char *name;
    tw_result (*call)(state *it);
} function_under_test;

typedef struct bytes_argument { const void *pointer; size_t count; } bytes_argument;
typedef struct texts_argument { const char *const *pointer; size_t count; } texts_argument;
typedef struct buffer_argument { void *pointer; size_t count; } buffer_argument;
typedef struct array_argument { void *pointer; size_t count; } array_argument;

static uint32_t below(state *it, uint32_t end) {
    it->random ^= it->random << 13;
    it->random ^= it->random >> 7;
    it->random ^= it->random << 17;
    return (uint32_t)(it->random >> 33) % end;
}

static void *living(state *it, int kind) {
    return objects[kind][below(it, LIVING)];
}

/* Numbers that are no handles, and handles that were changed. */
static void *nonsense(state *it) {
    switch (below(it, 5)) {
        case 0: return (void *)(uintptr_t)1;
        case 1: return (void *)UINTPTR_MAX;
        case 2: return it;
        case 3: return (void *)((uintptr_t)living(it, (int)below(it, KINDS)) ^ (UINT64_C(1) << (44 + below(it, 12))));
        default: return (void *)(((uint64_t)below(it, 1u << 31) << 33) ^ below(it, 1u << 31));
    }
}

static void *any_handle(state *it, int kind, int may_be_null) {
    int other;
    switch (below(it, 8)) {
        case 0: it->is_wrong |= !may_be_null; return NULL;
        case 1: it->is_wrong = 1; return nonsense(it);
        case 2:
            other = (int)below(it, KINDS);
            it->is_wrong |= other != kind;
            return living(it, other);
        default: return living(it, kind);
    }
}

/* Of any kind: what is wrong for one function is right for another. */
static void *any_object(state *it) {
    void *object = any_handle(it, (int)below(it, KINDS), 1);
    it->is_wrong = 0;
    return object;
}

static const char *any_text(state *it) {
    static const char *const texts[] = {
        "", "Quotes", "\xff\xfe", "struct Quote { @key long id; double price; };", "price > %0", "price >", "writer.history.kind",
        "keep_all", "writer.history", "[profiles.a]", "/nowhere", "a\nb", "%0 %1 %99", "member", "id = 1 ORDER BY price", NULL,
    };
    return texts[below(it, sizeof texts / sizeof *texts)];
}

/* Where there is a rendezvous, or might be; none takes asking other machines. */
static const char *any_host(state *it) {
    static const char *const hosts[] = {NULL, "127.0.0.1", "127.0.0.1:1", "", "\xff\xfe", "/nowhere", "127.0.0.1:99999", "file://"};
    return hosts[below(it, sizeof hosts / sizeof *hosts)];
}

static uint64_t any_number(state *it) {
    static const uint64_t numbers[] = {0, 1, 2, 3, 117, 0x7f, 0x80, 1 << 16, INT32_MAX, UINT32_MAX};
    return numbers[below(it, sizeof numbers / sizeof *numbers)];
}

static int64_t any_timeout(state *it) {
    static const int64_t timeouts[] = {0, 1, 1000, -1, INT64_MIN};
    return timeouts[below(it, 5)];
}

/* Room, NULL, or room that is not aligned. */
static void *any_struct(state *it) {
    memset(it->room, (int)below(it, 256), 1024);
    switch (below(it, 8)) {
        case 0: return NULL;
        case 1: return it->room + 1;
        case 2: *(size_t *)(void *)it->room = 3; return it->room;
        default: *(size_t *)(void *)it->room = 8 * (1 + below(it, 64)); return it->room;
    }
}

static void *any_place(state *it) {
    return any_struct(it);
}

static void *any_result(state *it) {
    return below(it, 8) == 0 ? NULL : it->results;
}

static bytes_argument any_bytes(state *it) {
    static const uint8_t payload[24] = {0, 1, 0, 0, 7};
    bytes_argument argument = {payload, 20};
    switch (below(it, 8)) {
        case 0: argument.pointer = NULL; break;
        case 1: argument.count = 0; break;
        case 2: argument.count = SIZE_MAX; break;
        case 3: argument.count = below(it, 24); break;
        case 4: argument.pointer = NULL; argument.count = 0; break;
        default: break;
    }
    return argument;
}

static texts_argument any_texts(state *it) {
    static const char *const texts[] = {"1", "'A'", NULL};
    texts_argument argument = {texts, below(it, 4)};
    if (below(it, 8) == 0) argument.pointer = NULL;
    if (below(it, 8) == 0) argument.count = SIZE_MAX;
    return argument;
}

static buffer_argument any_buffer(state *it) {
    buffer_argument argument = {it->room, sizeof it->room};
    if (below(it, 4) == 0) argument.pointer = NULL;
    if (below(it, 4) == 0) argument.count = below(it, 5);
    return argument;
}

static array_argument any_array(state *it) {
    array_argument argument = {it->room, 64};
    if (below(it, 4) == 0) argument.pointer = NULL;
    if (below(it, 4) == 0) argument.count = below(it, 3);
    if (below(it, 8) == 0) argument.pointer = it->room + 1;
    return argument;
}

static void free_nothing(void *context) { (void)context; }

static void on_data(tw_reader *reader, void *context) {
    tw_samples samples;
    (void)context;
    if (tw_reader_take(reader, 0, TW_ANY, NULL, &samples) == TW_OK) tw_samples_return(&samples);
}

static void (*any_free(state *it))(void *) {
    return below(it, 4) ? free_nothing : NULL;
}

static void on_end(tw_result result, tw_samples *reply, void *context) {
    (void)context;
    if (result == TW_OK) tw_samples_return(reply);
}

static void (*any_end(state *it))(tw_result, tw_samples *, void *) {
    return below(it, 4) ? on_end : NULL;
}

static void look_at(const tw_sample *sample, void *context) {
    (void)context;
    if (sample->len > 0 && sample->data == NULL) abort();
}

static void (*any_each(state *it))(const tw_sample *, void *) {
    return below(it, 4) ? look_at : NULL;
}

static const tw_listener *any_listener(state *it) {
    memset(&it->listener, 0, sizeof it->listener);
    it->listener.size = sizeof it->listener;
    it->listener.free_context = free_nothing;
    it->listener.on_data_available = on_data;
    switch (below(it, 6)) {
        case 0: return NULL;
        case 1: it->listener.size = 0; break;
        case 2: it->listener.size = SIZE_MAX; break;
        case 3: it->listener.size = 3 * sizeof(void *); break;
        default: break;
    }
    return &it->listener;
}

static tw_samples *any_samples(state *it) {
    switch (below(it, 6)) {
        case 0: return NULL;
        case 1: it->samples.held = (tw_held *)nonsense(it); it->samples.count = 1; break;
        case 2: it->samples.held = NULL; break;
        default: break;
    }
    return &it->samples;
}

static const tw_idl_options *any_options(state *it) {
    texts_argument defines = any_texts(it), dirs = any_texts(it);
    memset(&it->options, 0, sizeof it->options);
    it->options.size = below(it, 6) ? sizeof it->options : any_number(it);
    it->options.defines = defines.pointer;
    it->options.define_count = defines.count;
    it->options.include_dirs = dirs.pointer;
    it->options.include_dir_count = dirs.count;
    it->options.extensibility = (int32_t)below(it, 5);
    it->options.is_file = (int32_t)below(it, 2);
    return below(it, 3) ? &it->options : NULL;
}

/* CALLS */

static const char *tag;

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tw_last_error());
    exit(1);
}

#define OK(call) do { if ((call) != TW_OK) fail(#call); } while (0)

/* What there is to be used wrongly, in the place of what was there. */
static void create(int at) {
    tw_participant *participant, *before;
    tw_qos *qos;
    tw_type *type, *bytes;
    tw_topic *topic, *frames;
    tw_publisher *publisher;
    tw_subscriber *subscriber;
    tw_writer *writer, *lending;
    tw_reader *reader;
    tw_requester *requester;
    tw_replier *replier;
    tw_condition *condition;
    tw_waitset *wait_set;
    tw_loan *loan;
    tw_mq *mq, *mq_before;
    uint32_t exchange;
    void *data;
    OK(tw_qos_create(&qos));
    OK(tw_qos_set(qos, "participant.domain_tag", tag));
    OK(tw_qos_set(qos, "writer.reliability.kind", "best_effort"));
    OK(tw_qos_set(qos, "writer.representation", "xcdr1"));
    OK(tw_participant_create(116, qos, &participant));
    OK(tw_type_from_idl("@final struct Quote { @key long id; double price; };", NULL, NULL, &type));
    OK(tw_type_bytes("Frame", "pixels", 1 << 16, TW_FINAL, &bytes));
    OK(tw_topic_create(participant, "Quotes", type, &topic));
    OK(tw_topic_create(participant, "Frames", bytes, &frames));
    OK(tw_publisher_create(participant, qos, &publisher));
    OK(tw_subscriber_create(participant, qos, &subscriber));
    OK(tw_writer_create(publisher, topic, qos, &writer));
    OK(tw_writer_create(participant, frames, qos, &lending));
    OK(tw_reader_create(subscriber, topic, qos, &reader));
    OK(tw_reader_query_condition(reader, TW_ANY, "id > 0", NULL, 0, &condition));
    OK(tw_waitset_create(&wait_set));
    OK(tw_waitset_attach(wait_set, condition));
    OK(tw_writer_loan(lending, 16, &data, &loan));
    OK(tw_requester_create(participant, "Asked", "Answered", type, type, &requester));
    OK(tw_replier_create(participant, "Asked", "Answered", type, type, &replier));
    OK(tw_mq_create(NULL, 116, qos, &mq));
    OK(tw_mq_create_exchange(mq, "Quotes", TW_MQ_GLOBAL, &exchange));
    OK(tw_mq_create_queue(mq, "keep_all", TW_MQ_LOCAL, NULL));
    OK(tw_mq_bind(mq, "Quotes", "keep_all"));
    before = objects[PARTICIPANT][at];
    mq_before = objects[MQ][at];
    objects[PARTICIPANT][at] = participant;
    objects[TYPE][at] = at ? type : bytes;
    objects[TOPIC][at] = topic;
    objects[PUBLISHER][at] = publisher;
    objects[SUBSCRIBER][at] = subscriber;
    objects[WRITER][at] = writer;
    objects[READER][at] = reader;
    objects[REQUESTER][at] = requester;
    objects[REPLIER][at] = replier;
    objects[CONDITION][at] = condition;
    objects[WAITSET][at] = wait_set;
    objects[QOS][at] = qos;
    objects[LOAN][at] = loan;
    objects[MQ][at] = mq;
    tw_delete(before);
    tw_delete(mq_before);
}

static void *run(void *start) {
    state *it = calloc(1, sizeof *it);
    it->random = (uint64_t)(uintptr_t)start;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
            tw_result result;
            int is_returned = all[at].call == try_tw_samples_return;
            it->is_wrong = 0;
            memset(it->results, 0, sizeof it->results);
            result = all[at].call(it);
            if (result > TW_OK || result < TW_PANIC) fail(all[at].name);
            if (result == TW_PANIC) fail(all[at].name);
            if (result == TW_OK && it->is_wrong) fail(all[at].name);
            if (result != TW_OK && *tw_last_error() == '\0') fail(all[at].name);
            if (it->results[0]) tw_delete(it->results[0]);
            if (it->samples.held && !is_returned && below(it, 2)) tw_samples_return(&it->samples);
        }
    }
    free(it);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    tag = argc > 1 ? argv[1] : "misuse";
    for (int at = 0; at < LIVING; at++) create(at);
    for (int at = 0; at < THREADS; at++) {
        void *start = (void *)(uintptr_t)((seed * THREADS + (uint64_t)at + 1) * UINT64_C(0x9e3779b97f4a7c15));
        if (pthread_create(&threads[at], NULL, run, start)) fail("no thread");
    }
    for (int turn = 0; turn < 20; turn++) create(turn % LIVING);
    for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    for (int at = 0; at < LIVING; at++) tw_delete(objects[PARTICIPANT][at]), tw_delete(objects[MQ][at]);
    return 0;
}
