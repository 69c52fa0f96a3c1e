/* Prints the greetings that others publish, until nobody does any more:
 *
 *     gcc hello_subscriber.c $(pkg-config --cflags --libs tickwire) -o hello_subscriber
 */
#include <stdio.h>
#include <stdlib.h>
#include <tickwire.h>

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, tw_last_error());
    return 1;
}

int main(int argc, char **argv) {
    tw_participant *participant;
    tw_type *type;
    tw_topic *topic;
    tw_qos *qos;
    tw_reader *reader;
    tw_condition *news, *matches, *holding[2];
    tw_waitset *wait_set;
    if (tw_participant_create(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &participant)) return failed("no participant");
    if (tw_type_bytes("Hello", "text", 0, TW_APPENDABLE, &type)) return failed("no type");
    if (tw_topic_create(participant, "Hello", type, &topic)) return failed("no topic");
    if (tw_qos_create(&qos) || tw_qos_set(qos, "reader.reliability", "reliable") ||
        tw_qos_set(qos, "reader.history.kind", "keep_all"))
        return failed("no QoS");
    if (tw_reader_create(participant, topic, qos, &reader)) return failed("no reader");
    if (tw_reader_read_condition(reader, TW_NOT_READ, &news) ||
        tw_status_condition(reader, TW_SUBSCRIPTION_MATCHED, &matches))
        return failed("no condition");
    if (tw_waitset_create(&wait_set) || tw_waitset_attach(wait_set, news) || tw_waitset_attach(wait_set, matches))
        return failed("no wait set");
    fprintf(stderr, "waiting for hello_publisher, for a minute at most\n");
    for (;;) {
        tw_samples samples;
        tw_matched_status matched;
        if (tw_waitset_wait(wait_set, 60 * INT64_C(1000000000), holding, 2, NULL)) return failed("nothing comes");
        if (tw_reader_subscription_matched(reader, &matched)) return failed("no status");
        if (tw_reader_take(reader, 0, TW_ANY, NULL, &samples)) return failed("no samples");
        for (size_t at = 0; at < samples.count; at++) {
            const tw_sample *sample = &samples.samples[at];
            if (sample->info.valid_data) printf("%.*s\n", (int)sample->len, (const char *)sample->data);
        }
        tw_samples_return(&samples);
        if (matched.total_count > 0 && matched.current_count == 0) break;
    }
    tw_delete(participant);
    return 0;
}
