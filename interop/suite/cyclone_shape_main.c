/* A shape program of the OMG's interoperability suite that speaks through Debian's Eclipse Cyclone DDS.
 *
 * Command line and lines of output are those of `tickwire_shape_main`. Cyclone DDS 0.10 has no
 * PRESENTATION and no filters by time, it filters by function, not by SQL, and it takes no XCDR1 for
 * appendable types: such options are answered by "not supported". The type comes from shape.idl through
 * its idlc.
 */

#include <dds/dds.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "shape.h"

enum { MOST_TOPICS = 16, MOST_SAMPLES = 1024, FIELD_WIDTH = 240, FIELD_HEIGHT = 270 };

static volatile sig_atomic_t all_done = 0;

static void stop(int signal) {
    (void)signal;
    all_done = 1;
}

/* Returns the entity; leaves the program if it could not be made. */
static dds_entity_t created(dds_entity_t entity) {
    if (entity < 0) {
        printf("%s: such a QoS is not supported\n", dds_strretcode(-entity));
        exit(1);
    }
    return entity;
}

/* NAME, NAME1, NAME2 and so on. */
static void numbered(char *out, size_t size, const char *name, int number) {
    if (number)
        snprintf(out, size, "%s%d", name, number);
    else
        snprintf(out, size, "%s", name);
}

static void print(const char *topic, const ShapeType *shape) {
    printf("%-10s %-10s %03d %03d [%d]", topic, shape->color, shape->x, shape->y, shape->shapesize);
    if (shape->additional_payload_size._length)
        printf(" {%u}", shape->additional_payload_size._buffer[shape->additional_payload_size._length - 1]);
    printf("\n");
}

/* ---- what happens to writers and readers; the listener's argument is the topic's name */

static void say(const char *event, const void *topic, unsigned number) {
    printf("%s() topic: '%s'  type: 'ShapeType' : %u\n", event, (const char *)topic, number);
}

static void on_publication_matched(dds_entity_t writer, dds_publication_matched_status_t status, void *topic) {
    (void)writer;
    say("on_publication_matched", topic, status.current_count);
}

static void on_offered_incompatible_qos(
    dds_entity_t writer, dds_offered_incompatible_qos_status_t status, void *topic) {
    (void)writer;
    say("on_offered_incompatible_qos", topic, status.last_policy_id);
}

static void on_offered_deadline_missed(
    dds_entity_t writer, dds_offered_deadline_missed_status_t status, void *topic) {
    (void)writer;
    say("on_offered_deadline_missed", topic, status.total_count);
}

static void on_subscription_matched(dds_entity_t reader, dds_subscription_matched_status_t status, void *topic) {
    (void)reader;
    say("on_subscription_matched", topic, status.current_count);
}

static void on_requested_incompatible_qos(
    dds_entity_t reader, dds_requested_incompatible_qos_status_t status, void *topic) {
    (void)reader;
    say("on_requested_incompatible_qos", topic, status.last_policy_id);
}

static void on_requested_deadline_missed(
    dds_entity_t reader, dds_requested_deadline_missed_status_t status, void *topic) {
    (void)reader;
    say("on_requested_deadline_missed", topic, status.total_count);
}

static dds_listener_t *report(char *topic) {
    dds_listener_t *listener = dds_create_listener(topic);
    dds_lset_publication_matched(listener, on_publication_matched);
    dds_lset_offered_incompatible_qos(listener, on_offered_incompatible_qos);
    dds_lset_offered_deadline_missed(listener, on_offered_deadline_missed);
    dds_lset_subscription_matched(listener, on_subscription_matched);
    dds_lset_requested_incompatible_qos(listener, on_requested_incompatible_qos);
    dds_lset_requested_deadline_missed(listener, on_requested_deadline_missed);
    return listener;
}

/* ---- QoS */

/* What publishers and subscribers have. */
static dds_qos_t *group_qos(const struct Options *options) {
    dds_qos_t *qos = dds_create_qos();
    if (options->partition) dds_qset_partition1(qos, options->partition);
    return qos;
}

/* What writers and readers have in common. */
static dds_qos_t *endpoint_qos(const struct Options *options) {
    dds_qos_t *qos = dds_create_qos();
    dds_data_representation_id_t representation =
        options->representation == 1 ? DDS_DATA_REPRESENTATION_XCDR1 : DDS_DATA_REPRESENTATION_XCDR2;
    dds_qset_data_representation(qos, 1, &representation);
    dds_qset_reliability(
        qos, options->reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_MSECS(100));
    dds_qset_durability(
        qos, options->durability == 'v'   ? DDS_DURABILITY_VOLATILE
             : options->durability == 'l' ? DDS_DURABILITY_TRANSIENT_LOCAL
             : options->durability == 't' ? DDS_DURABILITY_TRANSIENT
                                          : DDS_DURABILITY_PERSISTENT);
    if (options->depth >= 0)
        dds_qset_history(qos, options->depth ? DDS_HISTORY_KEEP_LAST : DDS_HISTORY_KEEP_ALL, options->depth);
    if (options->deadline) dds_qset_deadline(qos, DDS_MSECS(options->deadline));
    if (options->strength >= 0) dds_qset_ownership(qos, DDS_OWNERSHIP_EXCLUSIVE);
    return qos;
}

static dds_qos_t *writer_qos(const struct Options *options) {
    dds_qos_t *qos = endpoint_qos(options);
    /* The program's end is to leave instances without writers, not disposed of. */
    dds_qset_writer_data_lifecycle(qos, false);
    if (options->strength >= 0) dds_qset_ownership_strength(qos, options->strength);
    if (options->lifespan) dds_qset_lifespan(qos, DDS_MSECS(options->lifespan));
    if (options->durability != 'v')
        dds_qset_durability_service(
            qos, 0, options->depth ? DDS_HISTORY_KEEP_LAST : DDS_HISTORY_KEEP_ALL,
            options->depth > 0 ? options->depth : 1, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
            DDS_LENGTH_UNLIMITED);
    return qos;
}

/* ---- publisher */

static void advance(const struct Options *options, ShapeType *shape, int iteration) {
    shape->x = iteration * 3 % FIELD_WIDTH;
    shape->y = iteration * 5 % FIELD_HEIGHT;
    if (options->shapesize) return;
    if (options->size_modulo) shape->shapesize %= options->size_modulo;
    shape->shapesize += 1;
}

static void publish(
    const struct Options *options, dds_entity_t participant, const dds_entity_t *topics, char names[][64]) {
    dds_entity_t writers[MOST_TOPICS];
    dds_entity_t publisher = created(dds_create_publisher(participant, group_qos(options), NULL));
    for (int topic = 0; topic < options->num_topics; ++topic) {
        printf("Create writer for topic: %s color: %s\n", names[topic], options->color);
        writers[topic] = created(dds_create_writer(publisher, topics[topic], writer_qos(options), NULL));
        dds_set_listener(writers[topic], report(names[topic]));
    }
    ShapeType shape = {.shapesize = options->shapesize};
    if (options->payload) {
        shape.additional_payload_size._buffer = malloc(options->payload);
        shape.additional_payload_size._length = options->payload;
        memset(shape.additional_payload_size._buffer, 255, options->payload);
    }
    for (int n = 0; !all_done && (!options->num_iterations || n < options->num_iterations); ++n) {
        advance(options, &shape, n);
        for (int topic = 0; topic < options->num_topics; ++topic)
            for (int instance = 0; instance < options->num_instances; ++instance) {
                numbered(shape.color, sizeof shape.color, options->color, instance);
                dds_write(writers[topic], &shape);
                if (options->print_written) print(names[topic], &shape);
            }
        usleep(options->write_period * 1000);
    }
    for (int topic = 0; topic < options->num_topics; ++topic) {
        for (int instance = 0; instance < options->num_instances; ++instance) {
            numbered(shape.color, sizeof shape.color, options->color, instance);
            if (options->final_state == 'u') dds_unregister_instance(writers[topic], &shape);
            if (options->final_state == 'd') dds_dispose(writers[topic], &shape);
        }
        dds_wait_for_acks(writers[topic], DDS_SECS(1));
    }
}

/* ---- subscriber */

static bool has_color(const void *shape, void *color) {
    return strcmp(((const ShapeType *)shape)->color, color) == 0;
}

/* Cyclone DDS returns the samples of an instance together. */
static void take(const struct Options *options, dds_entity_t reader, const char *name) {
    void *samples[MOST_SAMPLES] = {NULL};
    dds_sample_info_t infos[MOST_SAMPLES];
    int count = options->use_read ? dds_read(reader, samples, infos, MOST_SAMPLES, MOST_SAMPLES)
                                  : dds_take(reader, samples, infos, MOST_SAMPLES, MOST_SAMPLES);
    for (int i = 0; i < count; ++i) {
        const ShapeType *shape = samples[i];
        if (infos[i].valid_data) print(name, shape);
        if (infos[i].instance_state != DDS_IST_ALIVE)
            printf("%-10s %-10s NOT_ALIVE_%s_INSTANCE_STATE\n", name, shape->color,
                   infos[i].instance_state == DDS_IST_NOT_ALIVE_DISPOSED ? "DISPOSED" : "NO_WRITERS");
    }
    if (count > 0) dds_return_loan(reader, samples, count);
}

static void subscribe(
    const struct Options *options, dds_entity_t participant, const dds_entity_t *topics, char names[][64]) {
    dds_entity_t readers[MOST_TOPICS];
    dds_entity_t subscriber = created(dds_create_subscriber(participant, group_qos(options), NULL));
    for (int topic = 0; topic < options->num_topics; ++topic) {
        printf("Create reader for topic: %s\n", names[topic]);
        if (options->color) dds_set_topic_filter_and_arg(topics[topic], has_color, (void *)options->color);
        readers[topic] = created(dds_create_reader(subscriber, topics[topic], endpoint_qos(options), NULL));
        dds_set_listener(readers[topic], report(names[topic]));
    }
    for (int n = 0; !all_done && (!options->num_iterations || n < options->num_iterations); ++n) {
        for (int topic = 0; topic < options->num_topics; ++topic) take(options, readers[topic], names[topic]);
        usleep(options->read_period * 1000);
    }
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct Options options = parse(argc, argv);
    if (options.presentation || options.cft || options.time_filter || options.num_topics > MOST_TOPICS) {
        printf("PRESENTATION and filters by SQL or time are not supported\n");
        return 1;
    }
    dds_entity_t participant = created(dds_create_participant(options.domain, NULL, NULL));
    dds_entity_t topics[MOST_TOPICS];
    static char names[MOST_TOPICS][64];
    for (int topic = 0; topic < options.num_topics; ++topic) {
        numbered(names[topic], sizeof names[topic], options.topic, topic);
        printf("Create topic: %s\n", names[topic]);
        topics[topic] = created(dds_create_topic(participant, &ShapeType_desc, names[topic], NULL, NULL));
    }
    (options.publish ? publish : subscribe)(&options, participant, topics, names);
    dds_delete(participant);
    printf("Done.\n");
}
