/* Publishes ten greetings, once somebody listens:
 *
 *     gcc hello_publisher.c $(pkg-config --cflags --libs tickwire) -o hello_publisher
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    tw_writer *writer;
    if (tw_participant_create(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &participant)) return failed("no participant");
    if (tw_type_bytes("Hello", "text", 0, TW_APPENDABLE, &type)) return failed("no type");
    if (tw_topic_create(participant, "Hello", type, &topic)) return failed("no topic");
    if (tw_qos_create(&qos) || tw_qos_set(qos, "writer.history.kind", "keep_all")) return failed("no QoS");
    if (tw_writer_create(participant, topic, qos, &writer)) return failed("no writer");
    fprintf(stderr, "waiting for hello_subscriber, for a minute at most\n");
    if (tw_writer_wait_for_matched(writer, 1, 60 * INT64_C(1000000000))) return failed("nobody listens");
    for (int number = 1; number <= 10; number++) {
        char text[32];
        snprintf(text, sizeof text, "hello %d", number);
        if (tw_writer_write(writer, text, strlen(text), NULL)) return failed("not written");
    }
    /* Waits until the subscriber has them. */
    tw_delete(participant);
    return 0;
}
