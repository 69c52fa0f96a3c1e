/* Structs that `tickwire idl gen --lang c` has made, through writer and reader. The argument keeps other programs away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwire.h>

#include "c-quotes.h"

#define PATIENCE (20 * INT64_C(1000000000))
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%d: %s; %s\n", __LINE__, #condition, tw_last_error()); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == TW_OK)

static bool is_empty(const market_Place *place) {
    return strcmp(place->city, "") == 0 && place->wide[0] == 0 && strcmp(place->streets[0], "") == 0
        && strcmp(place->streets[1], "") == 0 && strcmp(place->quiet, "") == 0;
}

/* What an older writer says nothing of is empty, and no NULL. */
static void strings_that_are_missing_are_empty(void) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Older older;
    market_Newer newer;
    CHECK(market_Older_init(&older) && market_Newer_init(&newer));
    CHECK(tw_cdr_set_text(&older.symbol, "ESZ6") && tw_cdr_set_text(&newer.place.city, "Paris"));
    CHECK(market_Older_to_payload(&older, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    for (int time = 0; time < 2; time++) {
        CHECK(market_Newer_from_payload(&newer, payload.data, payload.size) == TW_CDR_OK);
        CHECK(strcmp(newer.symbol, "ESZ6") == 0 && strcmp(newer.note, "") == 0 && newer.wide[0] == 0);
        CHECK(is_empty(&newer.place) && strcmp(newer.said, "x") == 0 && newer.absent == NULL);
        CHECK(newer.remark._d != 1 && is_empty(&newer.remark._u.place) && is_empty(newer.apart));
        CHECK(newer.remark_apart->_d != 1 && is_empty(&newer.remark_apart->_u.place));
        CHECK(newer.word._d && strcmp(newer.word._u.text, "") == 0);
        CHECK(market_Remark_select(&newer.remark, 1) && market_Word_select(&newer.word, false));
    }
    CHECK(newer.word._u.wide == NULL && market_Newer_empty_texts(&newer) && newer.word._u.wide[0] == 0);
    CHECK(strcmp(newer.symbol, "ESZ6") == 0 && strcmp(newer.said, "x") == 0 && newer.absent == NULL);
    market_Older_free(&older);
    /* What is all zeros is a value, too. */
    market_Newer_free(&newer);
    CHECK(market_Newer_empty_texts(&newer) && strcmp(newer.note, "") == 0 && strcmp(newer.said, "") == 0);
    CHECK(newer.apart == NULL && newer.absent == NULL);
    market_Newer_free(&newer);
    tw_cdr_writer_free(&payload);
}

/* What no sample has begins anew when one is read. */
static void what_does_not_travel_begins_anew(void) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Cached cached;
    CHECK(market_Cached_init(&cached) && cached.rank == 7);
    cached.id = 3;
    cached.rank = 8;
    cached.age = (int32_t *)calloc(1, sizeof *cached.age);
    CHECK(tw_cdr_set_text(&cached.note, "mine") && market_Level_seq_resize(&cached.levels, 2));
    CHECK(market_Cached_to_payload(&cached, TW_CDR_XCDR1, &payload) == TW_CDR_OK && payload.size == 8);
    CHECK(market_Cached_from_payload(&cached, payload.data, payload.size) == TW_CDR_OK);
    CHECK(cached.id == 3 && cached.rank == 7 && strcmp(cached.note, "") == 0);
    CHECK(cached.age == NULL && cached.levels.length == 0);
    market_Cached_free(&cached);
    tw_cdr_writer_free(&payload);
}

/* A payload of 8 kB does not take 100 MB, whatever is @external. */
static void external_memory_is_charged(void) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Smalls smalls;
    market_Larges larges;
    CHECK(market_Smalls_init(&smalls) && market_Larges_init(&larges));
    CHECK(market_Small_seq_resize(&smalls.all, 1000));
    CHECK(market_Smalls_to_payload(&smalls, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    CHECK(market_Larges_from_payload(&larges, payload.data, payload.size) == TW_CDR_TOO_LARGE);
    CHECK(larges.all.length == 0);
    CHECK(market_Large_seq_resize(&larges.all, 2));
    CHECK(market_Larges_to_payload(&larges, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    CHECK(market_Larges_from_payload(&larges, payload.data, payload.size) == TW_CDR_OK);
    market_Smalls_free(&smalls);
    market_Larges_free(&larges);
    tw_cdr_writer_free(&payload);
}

/* Nor does one of elements that lack strings, each of which takes memory of its own. */
static void strings_that_are_missing_are_charged(void) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Smalls smalls;
    market_Tolds tolds;
    CHECK(market_Smalls_init(&smalls) && market_Tolds_init(&tolds));
    CHECK(market_Small_seq_resize(&smalls.all, 1000));
    CHECK(market_Smalls_to_payload(&smalls, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    CHECK(market_Tolds_from_payload(&tolds, payload.data, payload.size) == TW_CDR_TOO_LARGE);
    CHECK(market_Told_seq_resize(&tolds.all, 1000));
    CHECK(market_Tolds_to_payload(&tolds, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    CHECK(market_Tolds_from_payload(&tolds, payload.data, payload.size) == TW_CDR_OK);
    market_Smalls_free(&smalls);
    market_Tolds_free(&tolds);
    tw_cdr_writer_free(&payload);
}

/* Members of unions that are @external are charged when they are chosen, and only then. */
static void chosen_memory_is_charged(void) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Choices choices;
    market_Lights lights;
    CHECK(market_Choices_init(&choices) && market_Lights_init(&lights));
    CHECK(market_Choice_seq_resize(&choices.all, 1000) && market_Light_seq_resize(&lights.all, 1000));
    for (int at = 0; at < 1000; at++) {
        CHECK(market_Choice_select(&choices.all.buffer[at], 1));
        CHECK(market_Light_select(&lights.all.buffer[at], 2));
    }
    CHECK(market_Choices_to_payload(&choices, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    market_Choices_free(&choices);
    CHECK(market_Choices_from_payload(&choices, payload.data, payload.size) == TW_CDR_OK);
    CHECK(choices.all.length == 1000);
    CHECK(market_Lights_to_payload(&lights, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    CHECK(market_Choices_from_payload(&choices, payload.data, payload.size) == TW_CDR_TOO_LARGE);
    market_Choices_free(&choices);
    market_Lights_free(&lights);
    tw_cdr_writer_free(&payload);
}

int main(int argc, char **argv) {
    tw_qos *qos;
    tw_type *type;
    tw_participant *one, *two;
    tw_topic *ours, *theirs, *bought;
    tw_writer *writer;
    tw_reader *reader;
    tw_samples samples;
    tw_instance instance;
    const char *symbol[] = {"'ESZ%'"};
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Quote quote, seen;
    CHECK(argc == 2);
    strings_that_are_missing_are_empty();
    what_does_not_travel_begins_anew();
    external_memory_is_charged();
    strings_that_are_missing_are_charged();
    chosen_memory_is_charged();
    OK(tw_qos_create(&qos));
    OK(tw_qos_set(qos, "participant.domain_tag", argv[1]));
    OK(tw_qos_set(qos, "writer.representation", "xcdr2"));
    OK(tw_qos_set(qos, "reader.representation", "xcdr2,xcdr1"));
    OK(tw_qos_set(qos, "reader.reliability", "reliable"));
    OK(tw_qos_set(qos, "reader.history", "keep_all"));
    OK(tw_participant_create(114, qos, &one));
    OK(tw_participant_create(114, qos, &two));
    OK(tw_type_from_idl(market_Quote_idl, market_Quote_type_name, NULL, &type));
    OK(tw_topic_create(one, "Quotes", type, &ours));
    OK(tw_topic_create(two, "Quotes", type, &theirs));
    OK(tw_topic_filtered(theirs, "Index", "symbol LIKE %0 AND side = 'BUY'", symbol, 1, &bought));
    OK(tw_writer_create(one, ours, qos, &writer));
    OK(tw_reader_create(two, bought, qos, &reader));
    OK(tw_writer_wait_for_matched(writer, 1, PATIENCE));
    CHECK(market_Quote_init(&quote) && market_Quote_init(&seen));
    CHECK(market_Quote_has_key);
    for (int side = market_Side_BUY; side <= market_Side_SELL; side++) {
        CHECK(tw_cdr_set_text(&quote.symbol, "ESZ6"));
        quote.side = (market_Side)side;
        CHECK(market_Level_seq_resize(&quote.levels, 2));
        quote.levels.buffer[1].price = 101.25;
        quote.levels.buffer[1].size = 7;
        CHECK(market_Quote_to_payload(&quote, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
        OK(tw_writer_write(writer, payload.data, payload.size, NULL));
    }
    OK(tw_reader_wait_for_data(reader, PATIENCE));
    OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
    CHECK(samples.count == 1);
    CHECK(market_Quote_from_payload(&seen, samples.samples[0].data, samples.samples[0].len) == TW_CDR_OK);
    CHECK(strcmp(seen.symbol, "ESZ6") == 0 && seen.side == market_Side_BUY && seen.last == NULL);
    CHECK(seen.levels.length == 2 && seen.levels.buffer[1].price == 101.25 && seen.levels.buffer[1].size == 7);
    CHECK(market_Quote_key_to_payload(&quote, TW_CDR_XCDR2, &payload) == TW_CDR_OK);
    OK(tw_reader_lookup_instance(reader, payload.data, payload.size, TW_KEY, &instance));
    CHECK(memcmp(&instance, &samples.samples[0].info.instance, sizeof instance) == 0);
    OK(tw_samples_return(&samples));
    OK(tw_writer_dispose(writer, payload.data, payload.size, TW_KEY, NULL, NULL));
    OK(tw_reader_wait_for_data(reader, PATIENCE));
    OK(tw_reader_take(reader, 0, TW_DISPOSED, NULL, &samples));
    CHECK(samples.count == 1 && !samples.samples[0].info.valid_data);
    CHECK(market_Quote_key_from_payload(&seen, samples.samples[0].data, samples.samples[0].len) == TW_CDR_OK);
    CHECK(strcmp(seen.symbol, "ESZ6") == 0);
    OK(tw_samples_return(&samples));
    market_Quote_free(&quote);
    market_Quote_free(&seen);
    tw_cdr_writer_free(&payload);
    OK(tw_delete(one));
    OK(tw_delete(two));
    OK(tw_delete(type));
    OK(tw_delete(qos));
    return 0;
}
