/* What the examples with types of market.idl share: topics of them, quotes that are written, and errors that end. */
#ifndef MARKET_EXAMPLE_H
#define MARKET_EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwire.h>

#include "market.h"

#define PATIENCE (60 * INT64_C(1000000000))

/* Ends the program, with the reason, unless a call was a success. */
static inline void must(int failed, const char *what) {
    if (failed) {
        fprintf(stderr, "%s: %s\n", what, tw_last_error());
        exit(1);
    }
}

static inline tw_topic *topic_of(tw_participant *participant, const char *name, const char *idl, const char *type_name) {
    tw_type *type;
    tw_topic *topic;
    must(tw_type_from_idl(idl, type_name, NULL, &type), "no type");
    must(tw_topic_create(participant, name, type, &topic), "no topic");
    must(tw_delete(type), "not deleted");
    return topic;
}

/* QoS of these settings and values, which end with NULL. */
static inline tw_qos *qos_of(const char *const *settings) {
    tw_qos *qos;
    must(tw_qos_create(&qos), "no QoS");
    for (; *settings != NULL; settings += 2) must(tw_qos_set(qos, settings[0], settings[1]), settings[0]);
    return qos;
}

static inline void write_quote(tw_writer *writer, const char *symbol, double bid, double ask) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    market_Quote quote;
    must(!market_Quote_init(&quote) || !tw_cdr_set_text(&quote.symbol, symbol), "no memory");
    quote.bid = bid;
    quote.ask = ask;
    must(market_Quote_to_payload(&quote, TW_CDR_XCDR2, &payload) != TW_CDR_OK, "no payload");
    must(tw_writer_write(writer, payload.data, payload.size, NULL), "not written");
    market_Quote_free(&quote);
    tw_cdr_writer_free(&payload);
}

#endif
