/* Uses each feature once. The argument keeps other programs away. */
#include "features.h"

static void settings(void) {
    tw_qos *qos;
    char text[64];
    size_t len;
    OK(tw_qos_create(&qos));
    OK(tw_qos_get(qos, "writer.history.kind", NULL, text, sizeof text, &len));
    CHECK(strcmp(text, "\"keep_last\"") == 0 && len == 11);
    OK(tw_qos_set(qos, "writer.history.kind", "keep_all"));
    OK(tw_qos_get(qos, "writer.history.kind", NULL, text, sizeof text, NULL));
    CHECK(strcmp(text, "\"keep_all\"") == 0);
    IS(TW_TOO_SMALL, tw_qos_get(qos, "writer.history.kind", NULL, text, 5, &len));
    CHECK(strcmp(text, "\"kee") == 0 && len == 10);
    IS(TW_BAD_ARGUMENT, tw_qos_set(qos, "writer.histroy.kind", "keep_all"));
    CHECK(strstr(tw_last_error(), "did you mean `writer.history.kind`"));
    IS(TW_BAD_ARGUMENT, tw_qos_set(qos, "writer.history.kind", "keep_al"));
    CHECK(strstr(tw_last_error(), "did you mean `keep_all`"));
    OK(tw_delete(qos));
    IS(TW_BAD_HANDLE, tw_qos_set(qos, "writer.history.kind", "keep_all"));
    OK(tw_qos_parse("[profiles.fast.writer]\nlatency_budget = \"1ms\"", "fast", &qos));
    OK(tw_qos_get(qos, "writer.latency_budget", NULL, text, sizeof text, NULL));
    CHECK(strcmp(text, "\"1ms\"") == 0);
    OK(tw_delete(qos));
    IS(TW_NOT_FOUND, tw_qos_parse("[profiles.fast]", "slow", &qos));
    IS(TW_BAD_ARGUMENT, tw_qos_load("/nowhere/at/all.toml", NULL, &qos));
    CHECK(strcmp(tw_result_name(TW_TIMEOUT), "TW_TIMEOUT") == 0);
    CHECK(strlen(tw_version()) > 0);
}

static void types(void) {
    tw_type *type, *bytes;
    tw_idl_options options;
    const char *defines[] = {"WIDE", "NAME=Frame"};
    char name[64];
    OK(tw_type_from_idl(QUOTE, NULL, NULL, &type));
    OK(tw_type_name(type, name, sizeof name, NULL));
    CHECK(strcmp(name, "market::Quote") == 0);
    IS(TW_PRECONDITION, tw_type_as_bytes(type, &bytes));
    OK(tw_delete(type));
    IS(TW_NOT_FOUND, tw_type_from_idl(QUOTE, "market::Trade", NULL, &type));
    CHECK(strstr(tw_last_error(), "market::Quote"));
    IS(TW_BAD_ARGUMENT, tw_type_from_idl("struct Quote { lnog id; };", NULL, NULL, &type));
    CHECK(strstr(tw_last_error(), "<idl>:1:"));
    memset(&options, 0, sizeof options);
    IS(TW_BAD_ARGUMENT, tw_type_from_idl(QUOTE, NULL, &options, &type));
    options.size = sizeof options;
    options.defines = defines;
    options.define_count = 2;
    options.extensibility = TW_FINAL;
    OK(tw_type_from_idl("#ifdef WIDE\nstruct NAME { sequence<octet> pixels; };\n#endif", NULL, &options, &type));
    OK(tw_type_as_bytes(type, &bytes));
    OK(tw_type_name(bytes, name, sizeof name, NULL));
    CHECK(strcmp(name, "Frame") == 0);
    OK(tw_delete(type));
    OK(tw_delete(bytes));
}

static void samples_and_instances(void) {
    both it = meet("Samples", NULL);
    uint8_t bytes[QUOTE_LEN], key[16];
    int64_t made = 1234567890123456789;
    tw_instance instance, known;
    tw_samples samples, more;
    tw_guid guid;
    tw_type *type;
    tw_writer_counters written;
    tw_matched_reader readers[2];
    tw_matched_writer writers[2];
    size_t len, count;
    char text[4096];
    OK(tw_writer_write(it.writer, bytes, payload(bytes, 7, 1.5), &made));
    samples = taken(it.reader, 1);
    CHECK(id_of(samples.samples) == 7 && price_of(samples.samples) == 1.5);
    const tw_sample_info *info = &samples.samples[0].info;
    CHECK(info->valid_data && info->source_timestamp_ns == made && info->sequence_number == 1);
    CHECK(info->states == (TW_READ | TW_NOT_NEW | TW_ALIVE) && info->kernel_timestamp_ns == TW_TIME_UNKNOWN);
    OK(tw_get_guid(it.writer, &guid));
    CHECK(memcmp(&guid, &info->writer, sizeof guid) == 0);
    OK(tw_writer_register(it.writer, bytes, QUOTE_LEN, TW_SAMPLE, &instance));
    CHECK(memcmp(&instance, &info->instance, sizeof instance) == 0);
    OK(tw_reader_lookup_instance(it.reader, bytes, QUOTE_LEN, TW_SAMPLE, &known));
    CHECK(memcmp(&instance, &known, sizeof instance) == 0);
    OK(tw_reader_key_value(it.reader, &instance, key, sizeof key, &len));
    OK(tw_reader_lookup_instance(it.reader, key, len, TW_KEY, &known));
    CHECK(memcmp(&instance, &known, sizeof instance) == 0);
    more = samples;
    OK(tw_samples_return(&samples));
    CHECK(samples.count == 0);
    OK(tw_samples_return(&samples));
    IS(TW_BAD_HANDLE, tw_samples_return(&more));

    /* The end of an instance. */
    OK(tw_writer_dispose(it.writer, bytes, QUOTE_LEN, TW_SAMPLE, NULL, NULL));
    samples = taken(it.reader, 1);
    CHECK(!samples.samples[0].info.valid_data && samples.samples[0].info.states & TW_DISPOSED);
    CHECK(id_of(samples.samples) == 7);
    OK(tw_samples_return(&samples));
    OK(tw_writer_write_keyed(it.writer, bytes, payload(bytes, 8, 2), &known, NULL));
    OK(tw_writer_unregister(it.writer, bytes, QUOTE_LEN, TW_SAMPLE, &known, NULL));
    samples = taken(it.reader, 2);
    OK(tw_samples_return(&samples));

    /* One instance after the other, some of the samples. */
    for (int32_t id = 1; id <= 3; id++)
        for (int price = 1; price <= 2; price++) put(it.writer, id, price);
    samples = taken(it.reader, 6);
    OK(tw_samples_return(&samples));
    for (int32_t id = 1; id <= 3; id++)
        for (int price = 1; price <= 2; price++) put(it.writer, id, price);
    OK(tw_writer_wait_for_acknowledgments(it.writer, PATIENCE));
    payload(bytes, 2, 0);
    OK(tw_reader_lookup_instance(it.reader, bytes, QUOTE_LEN, TW_SAMPLE, &instance));
    OK(tw_reader_read(it.reader, 0, TW_ANY, &instance, &samples));
    CHECK(samples.count == 2 && id_of(samples.samples + 1) == 2);
    OK(tw_samples_return(&samples));
    OK(tw_reader_take(it.reader, 1, TW_NOT_READ | TW_ALIVE, NULL, &samples));
    CHECK(samples.count == 1 && samples.samples[0].info.states == (TW_NOT_READ | TW_NOT_NEW | TW_ALIVE));
    OK(tw_samples_return(&samples));
    OK(tw_reader_read_next_instance(it.reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count > 0);
    instance = samples.samples[0].info.instance;
    OK(tw_samples_return(&samples));
    for (count = 1;; count++) {
        OK(tw_reader_take_next_instance(it.reader, 0, TW_ANY, &instance, &samples));
        if (samples.count == 0) break;
        instance = samples.samples[0].info.instance;
        OK(tw_samples_return(&samples));
    }
    CHECK(count == 3);
    OK(tw_reader_take(it.reader, 0, TW_ANY, NULL, &samples));
    OK(tw_samples_return(&samples));

    /* What is no sample, and who is there. */
    IS(TW_BAD_SAMPLE, tw_writer_write(it.writer, bytes, 2, NULL));
    bytes[1] = 7;
    IS(TW_BAD_SAMPLE, tw_writer_write(it.writer, bytes, QUOTE_LEN, NULL));
    written.size = sizeof written;
    OK(tw_writer_get_counters(it.writer, &written));
    CHECK(written.written >= 16);
    written.size = 2 * sizeof(uint64_t);
    written.restored = 77;
    OK(tw_writer_get_counters(it.writer, &written));
    CHECK(written.restored == 77);
    OK(tw_writer_matched_readers(it.writer, readers, 2, &count));
    CHECK(count == 1 && readers[0].reliable);
    OK(tw_reader_matched_writers(it.reader, writers, 2, &count));
    CHECK(count == 1 && memcmp(&writers[0].guid, &guid, sizeof guid) == 0 && writers[0].lost == 0);
    OK(tw_participant_explain(it.one, text, sizeof text, NULL));
    CHECK(strstr(text, "Samples: writer ") && strstr(text, "match, by "));
    OK(tw_type_from_topic(it.two, "Samples", PATIENCE, &type));
    OK(tw_type_name(type, text, sizeof text, NULL));
    CHECK(strcmp(text, "market::Quote") == 0);
    OK(tw_delete(type));
    IS(TW_TIMEOUT, tw_type_from_topic(it.two, "Nothing", 1, &type));
    part(&it);
    IS(TW_BAD_HANDLE, tw_writer_write(it.writer, bytes, QUOTE_LEN, NULL));
    IS(TW_BAD_HANDLE, tw_delete(it.reader));
}

static void opaque_types(void) {
    tw_participant *one = participant_with(NULL), *two = participant_with(NULL);
    tw_qos *qos = qos_of(NULL);
    tw_type *type;
    tw_topic *ours, *theirs;
    tw_writer *writer;
    tw_reader *reader;
    tw_instance instance = {{1, 2, 3}};
    tw_samples samples;
    uint8_t bytes[QUOTE_LEN];
    OK(tw_type_opaque("market::Secret", 1, &type));
    OK(tw_topic_create(one, "Secrets", type, &ours));
    OK(tw_topic_create(two, "Secrets", type, &theirs));
    OK(tw_writer_create(one, ours, qos, &writer));
    OK(tw_reader_create(two, theirs, qos, &reader));
    OK(tw_writer_wait_for_matched(writer, 1, PATIENCE));
    payload(bytes, 1, 1);
    IS(TW_BAD_SAMPLE, tw_writer_write(writer, bytes, QUOTE_LEN, NULL));
    OK(tw_writer_write_keyed(writer, bytes, QUOTE_LEN, &instance, NULL));
    OK(tw_writer_dispose(writer, NULL, 0, TW_SAMPLE, &instance, NULL));
    samples = taken(reader, 2);
    CHECK(memcmp(&samples.samples[0].info.instance, &instance, sizeof instance) == 0);
    CHECK(samples.samples[1].info.states & TW_DISPOSED);
    OK(tw_samples_return(&samples));
    OK(tw_delete(one));
    OK(tw_delete(two));
    OK(tw_delete(type));
    OK(tw_delete(qos));
}

/* The name of an instance is the same in every encoding, and good for samples in each, though the hash that goes with them
 * is another one here: XCDR1 has 4 bytes before the second number. */
static void names_of_instances_are_the_same_in_xcdr1(void) {
    const char *settings[] = {"writer.durability", "transient_local", "reader.durability", "transient_local",
                              "writer.history", "keep_last", "writer.history.depth", "1", NULL};
    tw_participant *one = participant_with(NULL), *two = participant_with(NULL);
    tw_qos *qos = qos_of(settings);
    tw_type *type;
    tw_topic *ours, *theirs;
    tw_writer *writer;
    tw_reader *reader;
    tw_instance instance;
    tw_samples samples;
    /* 7, 8 and 1.0 in XCDR1, little endian. */
    uint8_t bytes[28] = {0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    OK(tw_type_from_idl("@final struct Trade { @key long venue; @key long long number; double price; };", NULL, NULL, &type));
    OK(tw_topic_create(one, "Trades", type, &ours));
    OK(tw_topic_create(two, "Trades", type, &theirs));
    OK(tw_writer_create(one, ours, qos, &writer));
    OK(tw_writer_register(writer, bytes, sizeof bytes, TW_SAMPLE, &instance));
    OK(tw_writer_write(writer, bytes, sizeof bytes, NULL));
    OK(tw_writer_write_keyed(writer, bytes, sizeof bytes, &instance, NULL));
    /* Of one instance one sample is kept. */
    OK(tw_reader_create(two, theirs, qos, &reader));
    samples = taken(reader, 1);
    CHECK(memcmp(&samples.samples[0].info.instance, &instance, sizeof instance) == 0);
    OK(tw_samples_return(&samples));
    OK(tw_writer_dispose(writer, bytes, sizeof bytes, TW_SAMPLE, &instance, NULL));
    samples = taken(reader, 1);
    CHECK(samples.samples[0].info.states & TW_DISPOSED);
    CHECK(memcmp(&samples.samples[0].info.instance, &instance, sizeof instance) == 0);
    OK(tw_samples_return(&samples));
    OK(tw_delete(one));
    OK(tw_delete(two));
    OK(tw_delete(type));
    OK(tw_delete(qos));
}

static void filters_and_queries(void) {
    both it = meet("Filters", NULL);
    const char *above[] = {"10"}, *all[] = {"0"};
    tw_topic *filtered;
    tw_reader *reader;
    tw_condition *query;
    tw_samples samples;
    tw_writer *none;
    tw_qos *qos = qos_of(NULL);
    int32_t holds;
    char name[32];
    OK(tw_topic_filtered(it.theirs, "Dear", "price > %0", above, 1, &filtered));
    OK(tw_topic_name(filtered, name, sizeof name, NULL));
    CHECK(strcmp(name, "Filters") == 0);
    IS(TW_PRECONDITION, tw_writer_create(it.two, filtered, NULL, &none));
    IS(TW_PRECONDITION, tw_topic_set_parameters(it.theirs, all, 1));
    IS(TW_BAD_ARGUMENT, tw_topic_filtered(it.theirs, "Dear", "prize > %0", above, 1, &filtered));
    OK(tw_reader_create(it.two, filtered, qos, &reader));
    OK(tw_writer_wait_for_matched(it.writer, 2, PATIENCE));
    OK(tw_reader_query_condition(it.reader, TW_NOT_READ, "price > %0 ORDER BY price", above, 1, &query));
    put(it.writer, 1, 30);
    put(it.writer, 2, 5);
    put(it.writer, 3, 20);
    samples = taken(reader, 2);
    CHECK(price_of(samples.samples) == 30 && price_of(samples.samples + 1) == 20);
    OK(tw_samples_return(&samples));
    OK(tw_writer_wait_for_acknowledgments(it.writer, PATIENCE));
    OK(tw_condition_holds(query, &holds));
    CHECK(holds == 1);
    IS(TW_PRECONDITION, tw_reader_take_by(reader, 0, query, &samples));
    OK(tw_reader_take_by(it.reader, 0, query, &samples));
    CHECK(samples.count == 2 && price_of(samples.samples) == 20 && price_of(samples.samples + 1) == 30);
    OK(tw_samples_return(&samples));
    OK(tw_query_set_parameters(query, all, 1));
    OK(tw_reader_read_by(it.reader, 0, query, &samples));
    CHECK(samples.count == 1 && price_of(samples.samples) == 5);
    OK(tw_samples_return(&samples));
    OK(tw_topic_set_parameters(filtered, all, 1));
    part(&it);
    OK(tw_delete(qos));
    IS(TW_BAD_HANDLE, tw_condition_holds(query, &holds));
}

/* Topics are enabled from the start, and of participants and publishers no status ever changes. */
static void statuses_of_all_entities(both *it) {
    tw_publisher *publisher;
    tw_condition *never;
    uint32_t changes;
    int32_t holds;
    OK(tw_publisher_create(it->one, NULL, &publisher));
    void *const without[] = {it->one, publisher};
    for (int at = 0; at < 2; at++) {
        OK(tw_enable(without[at]));
        changes = 1;
        OK(tw_status_changes(without[at], &changes));
        CHECK(changes == 0);
        OK(tw_status_condition(without[at], TW_ALL_STATUSES, &never));
        OK(tw_condition_holds(never, &holds));
        CHECK(holds == 0);
        OK(tw_delete(without[at] == publisher ? (void *)publisher : (void *)never));
        IS(TW_BAD_HANDLE, tw_condition_holds(never, &holds));
    }
}

static void wait_sets(void) {
    both it = meet("WaitSets", NULL);
    tw_waitset *wait_set;
    tw_condition *guard, *news, *matched, *holding[3];
    tw_samples samples;
    uint32_t changes;
    size_t count;
    OK(tw_waitset_create(&wait_set));
    OK(tw_guard_create(&guard));
    OK(tw_reader_read_condition(it.reader, TW_NOT_READ, &news));
    OK(tw_status_condition(it.reader, TW_SUBSCRIPTION_MATCHED, &matched));
    OK(tw_waitset_attach(wait_set, guard));
    OK(tw_waitset_attach(wait_set, news));
    OK(tw_waitset_attach(wait_set, news));
    IS(TW_TIMEOUT, tw_waitset_wait(wait_set, 1, holding, 3, &count));
    IS(TW_PRECONDITION, tw_waitset_detach(wait_set, matched));
    IS(TW_PRECONDITION, tw_guard_set(news, 1));
    put(it.writer, 1, 1);
    OK(tw_waitset_wait(wait_set, PATIENCE, holding, 3, &count));
    CHECK(count == 1 && holding[0] == news);
    OK(tw_guard_set(guard, 1));
    OK(tw_waitset_attach(wait_set, matched));
    OK(tw_waitset_wait(wait_set, PATIENCE, holding, 1, &count));
    CHECK(count == 3);
    OK(tw_status_changes(it.reader, &changes));
    CHECK(changes & TW_SUBSCRIPTION_MATCHED && changes & TW_DATA_AVAILABLE);
    statuses_of_all_entities(&it);
    OK(tw_reader_take_by(it.reader, 0, news, &samples));
    CHECK(samples.count == 1);
    OK(tw_samples_return(&samples));
    OK(tw_delete(matched));
    OK(tw_waitset_detach(wait_set, guard));
    IS(TW_TIMEOUT, tw_waitset_wait(wait_set, 1, holding, 3, NULL));
    part(&it);
    IS(TW_TIMEOUT, tw_waitset_wait(wait_set, 1, holding, 3, NULL));
    OK(tw_delete(wait_set));
    OK(tw_delete(guard));
}

typedef struct ears {
    atomic_int data, matched, unmatched, freed, topics, incompatible;
    tw_reader *reader;
    atomic_int deletes;
} ears;

static void freed(void *context) { ((ears *)context)->freed++; }

static void on_data(tw_reader *reader, void *context) {
    ears *it = context;
    tw_samples samples;
    it->reader = reader;
    if (tw_reader_take(reader, 0, TW_ANY, NULL, &samples) == TW_OK) {
        it->data += (int)samples.count;
        tw_samples_return(&samples);
    }
    if (it->deletes && tw_delete(reader) == TW_OK) it->deletes = 0;
}

static void on_match(tw_writer *writer, const tw_matched_status *status, void *context) {
    ears *it = context;
    (void)writer;
    if (status->current_count) it->matched++;
    else it->unmatched++;
}

static void on_incompatible(tw_reader *reader, const tw_incompatible_qos_status *status, void *context) {
    ears *it = context;
    it->reader = reader;
    if (strstr(status->why, "RELIABILITY")) it->incompatible++;
}

static void on_inconsistent(tw_topic *topic, const tw_count_status *status, void *context) {
    (void)topic, (void)status;
    ((ears *)context)->topics++;
}

static void until(atomic_int *count, int least) {
    tw_condition *guard, *holding[1];
    tw_waitset *wait_set;
    OK(tw_guard_create(&guard));
    OK(tw_waitset_create(&wait_set));
    OK(tw_waitset_attach(wait_set, guard));
    for (int turn = 0; *count < least; turn++) {
        CHECK(turn < 20000);
        IS(TW_TIMEOUT, tw_waitset_wait(wait_set, SECONDS / 1000, holding, 1, NULL));
    }
    OK(tw_delete(guard));
    OK(tw_delete(wait_set));
}

static tw_listener listener_of(ears *context) {
    tw_listener listener;
    memset(&listener, 0, sizeof listener);
    listener.size = sizeof listener;
    listener.context = context;
    listener.free_context = freed;
    return listener;
}

static void listeners(void) {
    both it = meet("Listeners", NULL);
    ears own = {0}, group = {0}, last = {0};
    tw_listener listener = listener_of(&own);
    tw_reader *other;
    tw_subscriber *subscriber;
    const char *reliable[] = {NULL};
    const char *best_effort[] = {"writer.reliability.kind", "best_effort", NULL};
    tw_qos *qos = qos_of(reliable), *worse = qos_of(best_effort);
    tw_writer *writer;
    tw_incompatible_qos_status status;
    listener.on_data_available = on_data;
    OK(tw_set_listener(it.reader, &listener, TW_ALL_STATUSES));
    put(it.writer, 1, 1);
    until(&own.data, 1);
    CHECK(own.reader == it.reader && own.freed == 0);
    OK(tw_set_listener(it.reader, NULL, 0));
    CHECK(own.freed == 1);

    /* A topic's is told of nothing that the mask leaves out, and is kept if there is something. */
    own.freed = 0;
    listener = listener_of(&own);
    listener.on_inconsistent_topic = on_inconsistent;
    OK(tw_set_listener(it.theirs, &listener, TW_ALL_STATUSES));
    CHECK(own.freed == 0);
    OK(tw_set_listener(it.theirs, &listener, TW_DATA_AVAILABLE));
    CHECK(own.freed == 1);
    OK(tw_set_listener(it.theirs, NULL, 0));
    CHECK(own.freed == 2);

    /* What nobody below is set for, the participant is told of. */
    listener = listener_of(&last);
    listener.on_publication_matched = on_match;
    OK(tw_set_listener(it.one, &listener, TW_ALL_STATUSES));
    listener = listener_of(&group);
    listener.on_data_available = on_data;
    listener.on_requested_incompatible_qos = on_incompatible;
    OK(tw_subscriber_create(it.two, NULL, &subscriber));
    OK(tw_set_listener(subscriber, &listener, TW_ALL_STATUSES));
    OK(tw_reader_create(subscriber, it.theirs, qos, &other));
    until(&last.matched, 1);
    OK(tw_writer_wait_for_matched(it.writer, 2, PATIENCE));
    put(it.writer, 1, 1);
    until(&group.data, 1);
    CHECK(group.reader == other);
    OK(tw_writer_create(it.one, it.ours, worse, &writer));
    until(&group.incompatible, 1);
    OK(tw_reader_requested_incompatible_qos(other, &status));
    CHECK(status.total_count == 1 && status.total_count_change == 0 && status.last_policy_id == 11);

    /* A listener may delete what it is of. */
    listener = listener_of(&own);
    own.freed = 0;
    own.deletes = 1;
    listener.on_data_available = on_data;
    OK(tw_set_listener(it.reader, &listener, TW_ALL_STATUSES));
    put(it.writer, 1, 1);
    until(&own.freed, 1);
    IS(TW_BAD_HANDLE, tw_reader_wait_for_data(it.reader, 0));
    part(&it);
    until(&group.freed, 1);
    until(&last.freed, 1);
    CHECK(own.freed == 1 && group.freed == 1 && last.freed == 1);
    OK(tw_delete(qos));
    OK(tw_delete(worse));
}

static void each(const tw_sample *sample, void *context) {
    ears *it = context;
    CHECK(id_of(sample) == it->data);
    if (sample->info.valid_data) CHECK(price_of(sample) == 0.5 && !(sample->info.states & TW_READ));
    it->data++;
    if (it->deletes && tw_delete(it->reader) == TW_OK) it->deletes = 0;
}

/* Stops itself at the third. */
static void few(const tw_sample *sample, void *context) {
    ears *it = context;
    each(sample, it);
    if (it->data == 3) OK(tw_reader_take_each(it->reader, NULL, NULL, NULL));
}

static void samples_are_handed_out(void) {
    both it = meet("Each", NULL);
    ears own = {0}, other = {0}, third = {0};
    tw_samples samples;
    put(it.writer, 0, 0.5);
    OK(tw_reader_wait_for_data(it.reader, PATIENCE));
    OK(tw_reader_take_each(it.reader, each, &own, freed));
    for (int32_t id = 1; id < 1000; id++) put(it.writer, id, 0.5);
    until(&own.data, 1000);
    OK(tw_reader_take(it.reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count == 0 && own.freed == 0);
    OK(tw_reader_take_each(it.reader, each, &other, freed));
    until(&own.freed, 1);
    OK(tw_reader_take_each(it.reader, NULL, &own, freed));
    CHECK(own.freed == 1 && other.freed == 1 && other.data == 0);
    put(it.writer, 1000, 0.5);
    samples = taken(it.reader, 1);
    CHECK(id_of(&samples.samples[0]) == 1000);
    OK(tw_samples_return(&samples));

    /* What came together with the last that it took stays in the reader. */
    for (int32_t id = 0; id < 10; id++) put(it.writer, id, 0.5);
    OK(tw_writer_wait_for_acknowledgments(it.writer, PATIENCE));
    third.reader = it.reader;
    OK(tw_reader_take_each(it.reader, few, &third, freed));
    until(&third.freed, 1);
    samples = taken(it.reader, 7);
    CHECK(third.data == 3 && id_of(&samples.samples[0]) == 3 && id_of(&samples.samples[6]) == 9);
    OK(tw_samples_return(&samples));

    /* It may delete what it is of. */
    other.reader = it.reader;
    other.deletes = 1;
    OK(tw_reader_take_each(it.reader, each, &other, freed));
    put(it.writer, 0, 0.5);
    until(&other.freed, 2);
    CHECK(other.data == 1 && other.deletes == 0);
    IS(TW_BAD_HANDLE, tw_reader_take_each(it.reader, each, &other, freed));
    CHECK(other.freed == 2);
    part(&it);
}

/* All handles of a topic share one listener, which ends with the handle that it was set with. */
static void listeners_of_topics(void) {
    both it = meet("Topics", NULL);
    ears first = {0}, second = {0}, above = {0};
    tw_listener listener = listener_of(&above);
    tw_topic *again = quotes(it.two, "Topics"), *other;
    tw_participant *third = participant_with(NULL);
    tw_type *type;
    tw_writer *writer;
    listener.on_inconsistent_topic = on_inconsistent;
    OK(tw_set_listener(it.two, &listener, TW_ALL_STATUSES));
    listener.context = &first;
    OK(tw_set_listener(it.theirs, &listener, TW_ALL_STATUSES));
    listener.context = &second;
    OK(tw_set_listener(again, &listener, TW_ALL_STATUSES));
    CHECK(first.freed == 1 && second.freed == 0);
    OK(tw_delete(again));
    CHECK(second.freed == 1);
    OK(tw_type_from_idl("struct Other { string text; };", NULL, NULL, &type));
    OK(tw_topic_create(third, "Topics", type, &other));
    OK(tw_writer_create(third, other, NULL, &writer));
    until(&above.topics, 1);
    CHECK(first.topics == 0 && second.topics == 0);

    /* What replaces it stays, whatever becomes of the handle before. */
    again = quotes(it.two, "Topics");
    listener.context = &first;
    OK(tw_set_listener(again, &listener, TW_ALL_STATUSES));
    listener.context = &second;
    OK(tw_set_listener(it.theirs, &listener, TW_ALL_STATUSES));
    OK(tw_delete(again));
    until(&first.freed, 2);
    CHECK(second.freed == 1);
    OK(tw_writer_create(third, other, NULL, &writer));
    until(&second.topics, 1);
    part(&it);
    until(&second.freed, 2);
    OK(tw_delete(third));
    OK(tw_delete(type));
}

static void deadlines(void) {
    const char *settings[] = {"writer.deadline", "10ms", "reader.deadline", "10ms", NULL};
    both it = meet("Deadlines", settings);
    tw_condition *missed, *holding[1];
    tw_waitset *wait_set;
    tw_deadline_missed_status status;
    OK(tw_waitset_create(&wait_set));
    OK(tw_status_condition(it.reader, TW_REQUESTED_DEADLINE_MISSED, &missed));
    OK(tw_waitset_attach(wait_set, missed));
    put(it.writer, 1, 1);
    OK(tw_waitset_wait(wait_set, PATIENCE, holding, 1, NULL));
    OK(tw_reader_requested_deadline_missed(it.reader, &status));
    CHECK(status.total_count > 0);
    part(&it);
    OK(tw_delete(wait_set));
}

static void history(void) {
    const char *settings[] = {"writer.durability", "transient_local", "reader.durability", "transient_local", NULL};
    both it = meet("History", settings);
    tw_qos *qos = qos_of(settings), *later;
    tw_reader *late;
    tw_samples samples;
    for (int price = 1; price <= 5; price++) put(it.writer, 1, price);
    OK(tw_reader_create(it.two, it.theirs, qos, &late));
    OK(tw_reader_wait_for_matched(late, 1, PATIENCE));
    OK(tw_reader_wait_for_historical_data(late, PATIENCE));
    samples = taken(late, 5);
    OK(tw_samples_return(&samples));
    OK(tw_qos_create(&later));
    OK(tw_qos_set(later, "writer.durability", "volatile"));
    IS(TW_IMMUTABLE, tw_set_qos(it.writer, later));
    OK(tw_delete(later));
    OK(tw_qos_create(&later));
    OK(tw_qos_set(later, "writer.lifespan", "1h"));
    OK(tw_set_qos(it.writer, later));
    OK(tw_delete(later));
    OK(tw_delete(qos));
    part(&it);
}

static void groups(void) {
    const char *settings[] = {"publisher.partition", "desk", "subscriber.partition", "desk*",
                              "publisher.presentation.coherent_access", "true",
                              "publisher.presentation.access_scope", "topic",
                              "subscriber.presentation.coherent_access", "true",
                              "subscriber.presentation.access_scope", "topic", NULL};
    tw_qos *qos = qos_of(settings);
    both it;
    tw_publisher *publisher;
    tw_subscriber *subscriber;
    tw_reader *readers[2];
    tw_samples samples;
    size_t count;
    it.one = participant_with(NULL);
    it.two = participant_with(NULL);
    it.ours = quotes(it.one, "Groups");
    it.theirs = quotes(it.two, "Groups");
    OK(tw_publisher_create(it.one, qos, &publisher));
    OK(tw_subscriber_create(it.two, qos, &subscriber));
    OK(tw_writer_create(publisher, it.ours, qos, &it.writer));
    OK(tw_reader_create(subscriber, it.theirs, qos, &it.reader));
    match(&it);
    OK(tw_publisher_begin_coherent(publisher));
    put(it.writer, 1, 1);
    put(it.writer, 2, 2);
    OK(tw_writer_wait_for_acknowledgments(it.writer, PATIENCE));
    OK(tw_reader_take(it.reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count == 0);
    OK(tw_publisher_end_coherent(publisher));
    IS(TW_PRECONDITION, tw_publisher_end_coherent(publisher));
    OK(tw_reader_wait_for_data(it.reader, PATIENCE));
    OK(tw_subscriber_begin_access(subscriber));
    OK(tw_subscriber_readers(subscriber, TW_NOT_READ, readers, 2, &count));
    CHECK(count == 1 && readers[0] == it.reader);
    OK(tw_subscriber_end_access(subscriber));
    IS(TW_PRECONDITION, tw_subscriber_end_access(subscriber));
    OK(tw_reader_take(it.reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count == 2);
    OK(tw_samples_return(&samples));
    OK(tw_publisher_suspend(publisher));
    OK(tw_publisher_suspend(publisher));
    put(it.writer, 1, 1);
    OK(tw_publisher_resume(publisher));
    OK(tw_publisher_resume(publisher));
    IS(TW_PRECONDITION, tw_publisher_resume(publisher));
    OK(tw_publisher_flush(publisher));
    OK(tw_subscriber_notify(subscriber));
    samples = taken(it.reader, 1);
    OK(tw_samples_return(&samples));
    OK(tw_delete(publisher));
    IS(TW_BAD_HANDLE, tw_writer_wait_for_matched(it.writer, 1, 0));
    part(&it);
    OK(tw_delete(qos));
}

static void count_free(void *context) { ++*(int *)context; }

static void bytes_and_loans(void) {
    const char *settings[] = {"participant.trusts_lenders", "true", "writer.max_loan", "64KiB", NULL};
    both it;
    tw_qos *qos = qos_of(settings);
    tw_type *type;
    tw_loan *loan, *discarded;
    void *data, *others;
    tw_samples samples;
    tw_reader_counters counters;
    tw_participant_counters passed;
    int frees = 0;
    it.one = participant_with(settings);
    it.two = participant_with(settings);
    OK(tw_type_bytes("camera::Frame", "pixels", 0, TW_FINAL, &type));
    OK(tw_topic_create(it.one, "Frames", type, &it.ours));
    OK(tw_topic_create(it.two, "Frames", type, &it.theirs));
    OK(tw_writer_create(it.one, it.ours, qos, &it.writer));
    OK(tw_reader_create(it.two, it.theirs, qos, &it.reader));
    match(&it);
    OK(tw_writer_write(it.writer, "plain", 5, NULL));
    OK(tw_writer_write_owned(it.writer, "owned", 5, count_free, &frees, NULL));
    OK(tw_writer_loan(it.writer, 60000, &data, &loan));
    memset(data, 42, 60000);
    IS(TW_BAD_ARGUMENT, tw_loan_write(loan, 60001, NULL));
    OK(tw_loan_write(loan, 50000, NULL));
    IS(TW_BAD_HANDLE, tw_loan_write(loan, 1, NULL));
    OK(tw_writer_loan(it.writer, 1, &data, &loan));
    IS(TW_BAD_HANDLE, tw_delete(loan));
    OK(tw_loan_discard(loan));
    IS(TW_BAD_HANDLE, tw_loan_discard(loan));
    samples = taken(it.reader, 3);
    CHECK(samples.samples[0].len == 5 && memcmp(samples.samples[0].data, "plain", 5) == 0);
    CHECK(frees == 1 && memcmp(samples.samples[1].data, "owned", 5) == 0);
    CHECK(samples.samples[2].len == 50000 && ((const uint8_t *)samples.samples[2].data)[49999] == 42);
    counters.size = sizeof counters;
    OK(tw_reader_get_counters(it.reader, &counters));
    passed.size = sizeof passed;
    OK(tw_participant_get_counters(it.two, &passed));
    CHECK(samples.samples[2].info.in_place == (passed.shm_loans_received > 0));
    CHECK(counters.delivered == 3 && counters.stored == 3 && counters.lost == 0);
    /* Once the reader follows the writer's log, what is lent is read where it lies. */
    for (int in_place = 0, turn = 0; !in_place; turn++) {
        tw_samples lent;
        CHECK(turn < 10000);
        OK(tw_writer_loan(it.writer, 50000, &data, &loan));
        memset(data, 43, 50000);
        OK(tw_loan_write(loan, 50000, NULL));
        lent = taken(it.reader, 1);
        CHECK(lent.samples[0].len == 50000 && ((const uint8_t *)lent.samples[0].data)[49999] == 43);
        in_place = lent.samples[0].info.in_place;
        OK(tw_samples_return(&lent));
    }
    OK(tw_participant_get_counters(it.two, &passed));
    CHECK(passed.shm_loans_received > 0);
    /* They stay, whatever becomes of the reader and the writer, and so does what is lent to be written. */
    OK(tw_writer_loan(it.writer, 50000, &data, &loan));
    OK(tw_writer_loan(it.writer, 50000, &others, &discarded));
    part(&it);
    memset(data, 44, 50000);
    memset(others, 45, 50000);
    CHECK(((const uint8_t *)data)[49999] == 44 && ((const uint8_t *)others)[0] == 45);
    IS(TW_BAD_HANDLE, tw_loan_write(loan, 1, NULL));
    OK(tw_loan_discard(discarded));
    IS(TW_BAD_HANDLE, tw_loan_discard(discarded));
    CHECK(((const uint8_t *)samples.samples[2].data)[0] == 42);
    OK(tw_samples_return(&samples));
    IS(TW_BAD_HANDLE, tw_writer_write_owned(it.writer, "owned", 5, count_free, &frees, NULL));
    CHECK(frees == 2);
    OK(tw_delete(type));
    OK(tw_delete(qos));
}

/* Memory of the caller's: how often it was given back, and whether the bytes were as they were then. */
typedef struct {
    unsigned char *bytes;
    size_t len;
    int frees, as_it_was;
} owned;

static unsigned char owned_byte(size_t at) { return (unsigned char)(at % 251); }

static void free_owned(void *context) {
    owned *it = context;
    it->as_it_was = 1;
    for (size_t at = 0; at < it->len; at++)
        if (it->bytes[at] != owned_byte(at)) it->as_it_was = 0;
    memset(it->bytes, 0, it->len);
    __atomic_add_fetch(&it->frees, 1, __ATOMIC_RELEASE);
}

static int frees_of(const owned *it) { return __atomic_load_n(&it->frees, __ATOMIC_ACQUIRE); }

/* What is handed over arrives, whatever the way, and is given back once when it has, or is replaced, or its writer ends. */
static void memory_is_handed_over(void) {
    static unsigned char bytes[3][300003];
    const char *ways[] = {"udp,multicast", "udp,multicast,shm", "tcp,udp,multicast"};
    for (size_t way = 0; way < 3; way++) {
        const char *settings[] = {"participant.transports", ways[way], NULL};
        both it;
        tw_qos *qos = qos_of(settings);
        tw_type *type;
        tw_samples samples;
        owned memory[3] = {{bytes[0], 300003, 0, 0}, {bytes[1], 65537, 0, 0}, {bytes[2], 100, 0, 0}};
        it.one = participant_with(settings);
        it.two = participant_with(settings);
        OK(tw_type_bytes("camera::Frame", "pixels", 0, TW_FINAL, &type));
        OK(tw_topic_create(it.one, "Frames", type, &it.ours));
        OK(tw_topic_create(it.two, "Frames", type, &it.theirs));
        OK(tw_writer_create(it.one, it.ours, qos, &it.writer));
        OK(tw_reader_create(it.two, it.theirs, qos, &it.reader));
        match(&it);
        for (int round = 0; round < 20; round++) {
            for (int at = 0; at < 3; at++) {
                memory[at].frees = 0;
                for (size_t byte = 0; byte < memory[at].len; byte++) memory[at].bytes[byte] = owned_byte(byte);
                OK(tw_writer_write_owned(it.writer, memory[at].bytes, memory[at].len, free_owned, &memory[at], NULL));
            }
            OK(tw_writer_wait_for_acknowledgments(it.writer, PATIENCE));
            samples = taken(it.reader, 3);
            for (int at = 0; at < 3; at++) {
                const unsigned char *data = samples.samples[at].data;
                CHECK(samples.samples[at].len == memory[at].len);
                for (size_t byte = 0; byte < memory[at].len; byte++) CHECK(data[byte] == owned_byte(byte));
            }
            OK(tw_samples_return(&samples));
            /* Of what is acknowledged a later write lets go, if nothing has before. */
            for (int turn = 0; !frees_of(&memory[0]) || !frees_of(&memory[1]); turn++) {
                CHECK(turn < 10000);
                OK(tw_writer_write(it.writer, "next", 4, NULL));
                samples = taken(it.reader, 1);
                OK(tw_samples_return(&samples));
            }
            for (int at = 0; at < 3; at++) CHECK(frees_of(&memory[at]) == 1 && memory[at].as_it_was);
        }
        /* Without a function the bytes are the caller's again at once. */
        for (size_t byte = 0; byte < memory[0].len; byte++) bytes[0][byte] = owned_byte(byte);
        OK(tw_writer_write_owned(it.writer, bytes[0], memory[0].len, NULL, NULL, NULL));
        memset(bytes[0], 0, memory[0].len);
        samples = taken(it.reader, 1);
        for (size_t byte = 0; byte < memory[0].len; byte++)
            CHECK(((const unsigned char *)samples.samples[0].data)[byte] == owned_byte(byte));
        OK(tw_samples_return(&samples));
        /* Whatever is wrong, and when the writer ends. */
        IS(TW_BAD_ARGUMENT, tw_writer_write_owned(it.writer, NULL, 70000, free_owned, &memory[1], NULL));
        CHECK(memory[1].frees == 2);
        OK(tw_writer_write_owned(it.writer, bytes[0], memory[0].len, free_owned, &memory[0], NULL));
        part(&it);
        CHECK(memory[0].frees == 2);
        IS(TW_BAD_HANDLE, tw_writer_write_owned(it.writer, bytes[0], memory[0].len, free_owned, &memory[0], NULL));
        CHECK(memory[0].frees == 3);
        OK(tw_delete(type));
        OK(tw_delete(qos));
    }
}

int main(int argc, char **argv) {
    tag = argc > 1 ? argv[1] : "features";
    settings();
    types();
    samples_and_instances();
    opaque_types();
    names_of_instances_are_the_same_in_xcdr1();
    filters_and_queries();
    wait_sets();
    listeners();
    samples_are_handed_out();
    listeners_of_topics();
    deadlines();
    history();
    groups();
    bytes_and_loans();
    memory_is_handed_over();
    return 0;
}
