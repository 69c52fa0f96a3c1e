/* Keyed market data: quotes of several securities, each of which is an instance with a life of its own:
 *
 *     tickwire idl gen --lang c market.idl --out . && gcc market_data.c market.c $(pkg-config --cflags --libs tickwire)
 */
#include "market_example.h"

static void publish(tw_writer *writer) {
    const char *const symbols[] = {"ESZ6", "NQZ6"};
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Quote quote;
    for (int tick = 1; tick <= 2; tick++)
        for (int at = 0; at < 2; at++) write_quote(writer, symbols[at], 100 * (at + 1) + tick, 100 * (at + 1) + tick + 0.5);
    /* One of them is no longer traded. */
    must(!market_Quote_init(&quote) || !tw_cdr_set_text(&quote.symbol, symbols[0]), "no memory");
    must(market_Quote_key_to_payload(&quote, TW_CDR_XCDR2, &payload) != TW_CDR_OK, "no key");
    must(tw_writer_dispose(writer, payload.data, payload.size, TW_KEY, NULL, NULL), "not disposed of");
    market_Quote_free(&quote);
    tw_cdr_writer_free(&payload);
}

int main(int argc, char **argv) {
    const char *const all[] = {"writer.history.kind", "keep_all", "reader.history.kind", "keep_all",
                               "reader.reliability", "reliable", NULL};
    tw_participant *participant;
    tw_topic *topic;
    tw_qos *qos = qos_of(all);
    tw_writer *writer;
    tw_reader *reader;
    market_Quote quote;
    int ended = 0;
    must(tw_participant_create(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &participant), "no participant");
    topic = topic_of(participant, "Quotes", market_Quote_idl, market_Quote_type_name);
    must(tw_writer_create(participant, topic, qos, &writer), "no writer");
    must(tw_reader_create(participant, topic, qos, &reader), "no reader");
    must(tw_writer_wait_for_matched(writer, 1, PATIENCE), "nobody listens");
    publish(writer);

    must(!market_Quote_init(&quote), "no memory");
    while (!ended) {
        tw_samples samples;
        must(tw_reader_wait_for_data(reader, PATIENCE), "nothing comes");
        must(tw_reader_take(reader, 0, TW_ANY, NULL, &samples), "no samples");
        for (size_t at = 0; at < samples.count; at++) {
            const tw_sample *sample = &samples.samples[at];
            if (sample->info.valid_data) {
                must(market_Quote_from_payload(&quote, sample->data, sample->len) != TW_CDR_OK, "no quote");
                printf("%s %g %g\n", quote.symbol, quote.bid, quote.ask);
            } else if (sample->info.states & TW_DISPOSED) {
                must(market_Quote_key_from_payload(&quote, sample->data, sample->len) != TW_CDR_OK, "no key");
                printf("%s ended\n", quote.symbol);
                ended = 1;
            }
        }
        tw_samples_return(&samples);
    }
    market_Quote_free(&quote);
    tw_delete(qos);
    return tw_delete(participant);
}
