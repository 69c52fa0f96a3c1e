/* A late joiner: a reader that comes when everything is written gets the last quote of each symbol, which a
 * TRANSIENT_LOCAL writer keeps for it:
 *
 *     tickwire idl gen --lang c market.idl --out . && gcc late_joiner.c market.c $(pkg-config --cflags --libs tickwire)
 */
#include "market_example.h"

int main(int argc, char **argv) {
    const char *const kept[] = {"writer.durability", "transient_local", "reader.durability", "transient_local",
                                "reader.reliability", "reliable", NULL};
    const char *const symbols[] = {"ESZ6", "NQZ6", "YMZ6"};
    tw_participant *participant;
    tw_topic *topic;
    tw_qos *qos = qos_of(kept);
    tw_writer *writer;
    tw_reader *reader;
    tw_samples samples;
    market_Quote quote;
    must(tw_participant_create(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &participant), "no participant");
    topic = topic_of(participant, "LateQuotes", market_Quote_idl, market_Quote_type_name);
    must(tw_writer_create(participant, topic, qos, &writer), "no writer");
    for (int tick = 1; tick <= 100; tick++)
        for (int at = 0; at < 3; at++) write_quote(writer, symbols[at], tick, tick + 0.25);

    must(tw_reader_create(participant, topic, qos, &reader), "no reader");
    must(tw_reader_wait_for_matched(reader, 1, PATIENCE), "nobody writes");
    must(tw_reader_wait_for_historical_data(reader, PATIENCE), "the past does not come");
    must(tw_reader_take(reader, 0, TW_ANY, NULL, &samples), "no samples");
    must(!market_Quote_init(&quote), "no memory");
    for (size_t at = 0; at < samples.count; at++) {
        must(market_Quote_from_payload(&quote, samples.samples[at].data, samples.samples[at].len) != TW_CDR_OK, "no quote");
        printf("%s %g\n", quote.symbol, quote.bid);
    }
    tw_samples_return(&samples);
    market_Quote_free(&quote);
    tw_delete(qos);
    return tw_delete(participant);
}
