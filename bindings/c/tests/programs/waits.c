/* Waits, polls, and threads that end in them. The argument keeps other programs away. */
#include "features.h"

#include <semaphore.h>

static void *suspend_and_end(void *publisher) {
    OK(tw_publisher_suspend(publisher));
    return NULL;
}

static void threads_that_end(void) {
    both it = meet("Threads", NULL);
    tw_publisher *publisher;
    pthread_t thread;
    OK(tw_publisher_create(it.one, NULL, &publisher));
    CHECK(pthread_create(&thread, NULL, suspend_and_end, publisher) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    IS(TW_PRECONDITION, tw_publisher_resume(publisher));
    part(&it);
}

static void *wait_for_data_without_end(void *reader) {
    IS(TW_BAD_HANDLE, tw_reader_wait_for_data((tw_reader *)reader, TW_INFINITE));
    return NULL;
}

static void *wait_for_a_match_without_end(void *writer) {
    IS(TW_BAD_HANDLE, tw_writer_wait_for_matched((tw_writer *)writer, 2, TW_INFINITE));
    return NULL;
}

static void *wait_for_a_set_without_end(void *set) {
    IS(TW_BAD_HANDLE, tw_waitset_wait((tw_waitset *)set, TW_INFINITE, NULL, 0, NULL));
    return NULL;
}

static void *wait_for_a_type_without_end(void *participant) {
    tw_type *type;
    IS(TW_BAD_HANDLE, tw_type_from_topic((tw_participant *)participant, "Nobody's", TW_INFINITE, &type));
    return NULL;
}

/* Whether it was told so, or just finds nobody any more, is the same to who polls. */
static void *poll_without_end(void *participant) {
    tw_result result;
    while ((result = tw_participant_poll((tw_participant *)participant, TW_INFINITE)) == TW_OK) continue;
    CHECK(result == TW_BAD_HANDLE);
    return NULL;
}

/* Whoever waits without end for what another thread deletes is told, whether it began before or after. */
static void waits_end_with_what_is_waited_for(void) {
    both it = meet("Deleted", NULL);
    tw_waitset *set;
    pthread_t waiting[4];
    OK(tw_waitset_create(&set));
    CHECK(pthread_create(&waiting[0], NULL, wait_for_data_without_end, it.reader) == 0);
    CHECK(pthread_create(&waiting[1], NULL, wait_for_a_match_without_end, it.writer) == 0);
    CHECK(pthread_create(&waiting[2], NULL, wait_for_a_set_without_end, set) == 0);
    CHECK(pthread_create(&waiting[3], NULL, wait_for_a_type_without_end, it.one) == 0);
    IS(TW_TIMEOUT, tw_reader_wait_for_data(it.reader, 250000000));
    CHECK(strstr(tw_last_error(), "250ms"));
    OK(tw_delete(set));
    part(&it);
    for (int at = 0; at < 4; at++) CHECK(pthread_join(waiting[at], NULL) == 0);
}

typedef struct turns {
    tw_waitset *set;
    tw_condition *guard, *enough;
} turns;

static void *attach_and_detach(void *context) {
    const turns *of = (const turns *)context;
    int32_t enough = 0;
    while (!enough) {
        OK(tw_waitset_attach(of->set, of->guard));
        OK(tw_waitset_detach(of->set, of->guard));
        OK(tw_condition_holds(of->enough, &enough));
    }
    return NULL;
}

/* What is detached while it holds ends no wait with nothing. */
static void waits_end_with_a_condition_that_is_there(void) {
    turns of;
    pthread_t thread;
    size_t count;
    OK(tw_waitset_create(&of.set));
    OK(tw_guard_create(&of.guard));
    OK(tw_guard_create(&of.enough));
    OK(tw_guard_set(of.guard, 1));
    CHECK(pthread_create(&thread, NULL, attach_and_detach, &of) == 0);
    for (int turn = 0; turn < 50000; turn++) {
        tw_condition *holding = NULL;
        count = 0;
        OK(tw_waitset_wait(of.set, TW_INFINITE, &holding, 1, &count));
        CHECK(count == 1 && holding == of.guard);
    }
    OK(tw_guard_set(of.enough, 1));
    CHECK(pthread_join(thread, NULL) == 0);
    IS(TW_TIMEOUT, tw_waitset_wait(of.set, 1000000, NULL, 0, &count));
    CHECK(strstr(tw_last_error(), "1ms"));
    OK(tw_delete(of.set));
    OK(tw_delete(of.guard));
    OK(tw_delete(of.enough));
}

/* Calls under way, and those that have ended before. */
enum { MOST_CALLS = 6 + 1024 + 1 };

static void *wait_for_a_service_without_end(void *requester) {
    IS(TW_BAD_HANDLE, tw_requester_wait_for_service((tw_requester *)requester, TW_INFINITE));
    return NULL;
}

/* A payload of one number, in XCDR1 as writers of final types have it. */
static const uint8_t asked[] = {0, 1, 0, 0, 42, 0, 0, 0};

static void *wait_for_a_reply_without_end(void *requester) {
    tw_samples reply;
    IS(TW_BAD_HANDLE, tw_requester_call((tw_requester *)requester, asked, sizeof asked, TW_INFINITE, &reply));
    return NULL;
}

static void *wait_for_a_request_without_end(void *replier) {
    tw_samples request;
    IS(TW_BAD_HANDLE, tw_replier_wait((tw_replier *)replier, TW_INFINITE, &request));
    return NULL;
}

static void requests_and_their_waits(void) {
    both it = meet("Requests", NULL);
    tw_type *type;
    tw_requester *alone, *requester, *fresh;
    tw_replier *replier, *idle;
    tw_samples request, reply;
    pthread_t waiting[3];
    OK(tw_type_from_idl("@final struct Number { long value; };", NULL, NULL, &type));
    OK(tw_requester_create(it.one, "Nobody_Request", "Nobody_Reply", type, type, &alone));
    OK(tw_requester_create(it.one, "Asked", "Answered", type, type, &requester));
    OK(tw_replier_create(it.two, "Asked", "Answered", type, type, &replier));
    OK(tw_replier_create(it.two, "Unasked", "Unanswered", type, type, &idle));
    OK(tw_delete(type));
    /* Who just looks is not told how long that took. */
    IS(TW_TIMEOUT, tw_requester_wait_for_service(alone, 0));
    CHECK(strcmp(tw_last_error(), "no service: nobody reads `Nobody_Request`, and nobody writes `Nobody_Reply`") == 0);
    CHECK(pthread_create(&waiting[0], NULL, wait_for_a_service_without_end, alone) == 0);
    CHECK(pthread_create(&waiting[1], NULL, wait_for_a_reply_without_end, requester) == 0);
    CHECK(pthread_create(&waiting[2], NULL, wait_for_a_request_without_end, idle) == 0);
    /* What is never answered has been asked. */
    OK(tw_replier_wait(replier, PATIENCE, &request));
    CHECK(request.count == 1 && request.samples[0].len == sizeof asked);
    CHECK(memcmp(request.samples[0].data, asked, sizeof asked) == 0);
    IS(TW_TIMEOUT, tw_replier_wait(replier, 1000000, &reply));
    OK(tw_delete(alone));
    OK(tw_delete(requester));
    OK(tw_delete(idle));
    for (int at = 0; at < 3; at++) CHECK(pthread_join(waiting[at], NULL) == 0);
    /* To who is gone nothing is said, and the next one is served. */
    OK(tw_replier_reply(replier, &request.samples[0].info.writer, request.samples[0].info.sequence_number, asked,
                        sizeof asked));
    OK(tw_samples_return(&request));
    OK(tw_type_from_idl("@final struct Number { long value; };", NULL, NULL, &type));
    OK(tw_requester_create(it.one, "Asked", "Answered", type, type, &fresh));
    OK(tw_delete(type));
    OK(tw_requester_wait_for_service(fresh, PATIENCE));
    OK(tw_requester_tell(fresh, asked, sizeof asked));
    OK(tw_replier_wait(replier, PATIENCE, &request));
    OK(tw_samples_return(&request));
    IS(TW_TIMEOUT, tw_requester_call(fresh, asked, sizeof asked, 1000000, &reply));
    CHECK(strstr(tw_last_error(), "no reply after 1ms"));
    part(&it);
    IS(TW_BAD_HANDLE, tw_replier_wait(replier, TW_INFINITE, &request));
}

/* What is told of calls. */
typedef struct ends {
    sem_t told;
    /* By number of the call, how often it ended, and how: as a result, or the number that was the reply. */
    int count[MOST_CALLS], results[MOST_CALLS];
    /* In an order of their own, of the first ones. */
    int order[3], ended;
    /* What the next end deletes. */
    tw_requester *deletes;
    /* By what it sends the last call. */
    tw_requester *sends;
    struct one_call *last;
} ends;

typedef struct one_call {
    ends *all;
    int number;
    tw_call *call;
} one_call;

static tw_result send_call(tw_requester *requester, one_call *it, ends *all, int number);

static void call_ended(tw_result result, tw_samples *reply, void *context) {
    one_call *it = context;
    ends *all = it->all;
    tw_samples samples;
    all->count[it->number]++;
    all->results[it->number] = result;
    if (result == TW_OK) {
        samples = *reply;
        CHECK(samples.count == 1 && samples.samples[0].len == sizeof asked);
        all->results[it->number] = ((const uint8_t *)samples.samples[0].data)[4];
        OK(tw_samples_return(&samples));
    } else {
        CHECK(reply == NULL);
    }
    if (all->ended < 3) all->order[all->ended] = it->number;
    all->ended++;
    if (all->deletes != NULL) {
        tw_requester *deleted = all->deletes;
        all->deletes = NULL;
        OK(tw_delete(deleted));
    }
    if (all->sends != NULL) {
        tw_requester *by = all->sends;
        all->sends = NULL;
        OK(send_call(by, all->last, all, MOST_CALLS - 1));
    }
    CHECK(sem_post(&all->told) == 0);
}

static tw_result send_call(tw_requester *requester, one_call *it, ends *all, int number) {
    it->all = all;
    it->number = number;
    return tw_requester_send(requester, asked, sizeof asked, call_ended, it, &it->call);
}

static void reply_with(tw_replier *replier, const tw_samples *request, uint8_t number) {
    const tw_sample_info *info = &request->samples[0].info;
    uint8_t reply[sizeof asked];
    memcpy(reply, asked, sizeof asked);
    reply[4] = number;
    OK(tw_replier_reply(replier, &info->writer, info->sequence_number, reply, sizeof reply));
}

static void calls_that_no_thread_waits_for(void) {
    both it = meet("Calls", NULL);
    static ends all;
    static one_call calls[MOST_CALLS];
    tw_samples requests[3], late;
    tw_type *type;
    tw_requester *requester, *other;
    tw_replier *replier;
    CHECK(sem_init(&all.told, 0, 0) == 0);
    OK(tw_type_from_idl("@final struct Number { long value; };", NULL, NULL, &type));
    OK(tw_requester_create(it.one, "Sent", "Answered", type, type, &requester));
    OK(tw_requester_create(it.one, "Sent", "Answered", type, type, &other));
    OK(tw_replier_create(it.two, "Sent", "Answered", type, type, &replier));
    OK(tw_delete(type));
    OK(tw_requester_wait_for_service(requester, PATIENCE));
    OK(tw_requester_wait_for_service(other, PATIENCE));
    IS(TW_BAD_ARGUMENT, tw_requester_send(requester, asked, sizeof asked, NULL, NULL, &calls[0].call));

    /* They are answered in another order than they were sent. */
    for (int at = 0; at < 3; at++) {
        OK(send_call(requester, &calls[at], &all, at));
        OK(tw_replier_wait(replier, PATIENCE, &requests[at]));
    }
    for (int at = 2; at >= 0; at--) {
        reply_with(replier, &requests[at], (uint8_t)(100 + at));
        CHECK(sem_wait(&all.told) == 0);
        OK(tw_samples_return(&requests[at]));
        IS(TW_BAD_HANDLE, tw_delete(calls[at].call));
    }
    for (int at = 0; at < 3; at++) CHECK(all.order[at] == 2 - at && all.results[at] == 100 + at && all.count[at] == 1);

    /* One that is given up ends at once, and is not answered any more. */
    OK(send_call(requester, &calls[3], &all, 3));
    OK(tw_replier_wait(replier, PATIENCE, &late));
    OK(tw_delete(calls[3].call));
    CHECK(all.count[3] == 1 && all.results[3] == TW_BAD_HANDLE);
    IS(TW_BAD_HANDLE, tw_delete(calls[3].call));
    reply_with(replier, &late, 103);
    OK(tw_samples_return(&late));
    CHECK(sem_wait(&all.told) == 0);

    /* Its requester may be deleted while its end is told. */
    OK(send_call(other, &calls[4], &all, 4));
    OK(send_call(other, &calls[5], &all, 5));
    OK(tw_replier_wait(replier, PATIENCE, &requests[0]));
    all.deletes = other;
    reply_with(replier, &requests[0], 104);
    OK(tw_samples_return(&requests[0]));
    for (int at = 0; at < 2; at++) CHECK(sem_wait(&all.told) == 0);
    CHECK(all.results[4] == 104 && all.results[5] == TW_BAD_HANDLE);
    IS(TW_BAD_HANDLE, send_call(other, &calls[6], &all, 6));

    /* So many, of which none is answered, end with their requester. */
    for (int at = 6; at < MOST_CALLS - 1; at++) OK(send_call(requester, &calls[at], &all, at));
    IS(TW_OUT_OF_RESOURCES, send_call(requester, &calls[MOST_CALLS - 1], &all, MOST_CALLS - 1));
    /* Where one has ended there is room for another. */
    all.sends = requester;
    all.last = &calls[MOST_CALLS - 1];
    OK(tw_delete(calls[6].call));
    OK(tw_delete(requester));
    for (int at = 6; at < MOST_CALLS; at++) CHECK(all.count[at] == 1 && all.results[at] == TW_BAD_HANDLE);
    for (int at = 0; at < 6; at++) CHECK(all.count[at] == 1);
    CHECK(sem_destroy(&all.told) == 0);
    part(&it);
}

static atomic_int acknowledged;

static void *wait_for_acknowledgments(void *writer) {
    OK(tw_writer_wait_for_acknowledgments((tw_writer *)writer, TW_INFINITE));
    acknowledged = 1;
    return NULL;
}

/* What is written while somebody waits for what was written before does not make the wait longer. */
static void acknowledgments_are_of_what_was_written_before(void) {
    const char *settings[] = {"reader.resource_limits.max_samples", "1", "writer.max_unacknowledged", "256MiB", NULL};
    both it = meet("Acknowledged", settings);
    pthread_t waiting;
    tw_samples samples;
    for (int32_t id = 0; id < BEHIND; id++) put(it.writer, id, 1);
    CHECK(pthread_create(&waiting, NULL, wait_for_acknowledgments, it.writer) == 0);
    /* The reader stays as far behind as it is. */
    for (int round = 0; !acknowledged; round++) {
        CHECK(round < 4 * BEHIND);
        put(it.writer, round, 2);
        samples = taken(it.reader, 1);
        OK(tw_samples_return(&samples));
    }
    CHECK(pthread_join(waiting, NULL) == 0);
    part(&it);
}

static void polling(void) {
    const char *settings[] = {"participant.driving", "polled",
                              "participant.entity_factory.autoenable_created_entities", "false", NULL};
    tw_participant *polled = participant_with(settings), *threaded = participant_with(NULL);
    tw_qos *qos = qos_of(NULL);
    tw_topic *ours = quotes(polled, "Polled"), *theirs = quotes(threaded, "Polled");
    tw_writer *writer;
    tw_reader *reader;
    tw_samples samples;
    pthread_t waiting;
    uint8_t bytes[QUOTE_LEN];
    IS(TW_PRECONDITION, tw_participant_poll(threaded, 0));
    /* What this says nothing of stays: entities that are made are not enabled. */
    OK(tw_set_qos(polled, qos));
    OK(tw_writer_create(threaded, theirs, qos, &writer));
    OK(tw_reader_create(polled, ours, qos, &reader));
    OK(tw_enable(reader));
    OK(tw_reader_wait_for_matched(reader, 1, PATIENCE));
    put(writer, 1, 1);
    do {
        OK(tw_participant_poll(polled, SECONDS));
        OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    } while (samples.count == 0);
    OK(tw_samples_return(&samples));
    OK(tw_delete(writer));
    OK(tw_writer_create(polled, ours, qos, &writer));
    IS(TW_NOT_ENABLED, tw_writer_write(writer, bytes, payload(bytes, 1, 1), NULL));
    OK(tw_enable(writer));
    put(writer, 1, 1);
    OK(tw_assert_liveliness(writer));
    OK(tw_assert_liveliness(threaded));
    /* Whoever waits drives it, until the writer is deleted. */
    CHECK(pthread_create(&waiting, NULL, wait_for_a_match_without_end, writer) == 0);
    IS(TW_TIMEOUT, tw_writer_wait_for_matched(writer, 2, 20000000));
    OK(tw_delete(writer));
    CHECK(pthread_join(waiting, NULL) == 0);
    OK(tw_delete(polled));
    OK(tw_delete(threaded));
    OK(tw_delete(qos));
}

/* Whoever polls a participant without end does so no more when another thread deletes it. */
static void polls_end_with_the_participant(void) {
    const char *settings[] = {"participant.driving", "polled", "participant.announce_period", "1h",
                              "participant.lease_duration", "2h", NULL};
    tw_participant *polled = participant_with(settings);
    tw_type *type;
    pthread_t polling;
    /* After its first announcements it has nothing to do for an hour. */
    IS(TW_TIMEOUT, tw_type_from_topic(polled, "Nobody's", SECONDS, &type));
    CHECK(pthread_create(&polling, NULL, poll_without_end, polled) == 0);
    IS(TW_TIMEOUT, tw_type_from_topic(polled, "Nobody's", 20000000, &type));
    OK(tw_delete(polled));
    CHECK(pthread_join(polling, NULL) == 0);
}

int main(int argc, char **argv) {
    tag = argc > 1 ? argv[1] : "waits";
    threads_that_end();
    waits_end_with_what_is_waited_for();
    waits_end_with_a_condition_that_is_there();
    requests_and_their_waits();
    calls_that_no_thread_waits_for();
    acknowledgments_are_of_what_was_written_before();
    polling();
    polls_end_with_the_participant();
    return 0;
}
