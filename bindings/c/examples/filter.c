/* A reader that gets what an expression asks for alone; the writer keeps the rest back:
 *
 *     tickwire idl gen --lang c market.idl --out . && gcc filter.c market.c $(pkg-config --cflags --libs tickwire)
 */
#include "market_example.h"

int main(int argc, char **argv) {
    const char *const all[] = {"writer.history.kind", "keep_all", "reader.history.kind", "keep_all",
                               "reader.reliability", "reliable", NULL};
    const char *const parameters[] = {"'ES%'", "2"};
    tw_participant *participant;
    tw_topic *topic, *wanted;
    tw_qos *qos = qos_of(all);
    tw_writer *writer;
    tw_reader *reader;
    tw_samples samples;
    market_Quote quote;
    must(tw_participant_create(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &participant), "no participant");
    topic = topic_of(participant, "FilteredQuotes", market_Quote_idl, market_Quote_type_name);
    must(tw_topic_filtered(topic, "ES alone", "symbol LIKE %0 AND bid > %1", parameters, 2, &wanted), "no filter");
    must(tw_reader_create(participant, wanted, qos, &reader), "no reader");
    must(tw_writer_create(participant, topic, qos, &writer), "no writer");
    must(tw_writer_wait_for_matched(writer, 1, PATIENCE), "nobody listens");
    for (int tick = 1; tick <= 4; tick++) {
        write_quote(writer, "ESZ6", tick, tick + 0.25);
        write_quote(writer, "NQZ6", tick, tick + 0.25);
    }
    must(tw_writer_wait_for_acknowledgments(writer, PATIENCE), "not acknowledged");

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
