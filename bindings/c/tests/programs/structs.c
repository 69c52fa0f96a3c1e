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
