/* Requests and replies over two topics: a request is known by its writer and its place in that one's history, which the
 * reply names. The service answers in the listener of its reader:
 *
 *     tickwire idl gen --lang c market.idl --out . && gcc request_reply.c market.c $(pkg-config --cflags --libs tickwire)
 */
#include "market_example.h"

static void answer(tw_reader *reader, void *context) {
    tw_writer *replies = (tw_writer *)context;
    tw_cdr_writer payload = TW_CDR_WRITER;
    tw_samples samples;
    market_Request request;
    market_Reply reply;
    must(!market_Request_init(&request) || !market_Reply_init(&reply), "no memory");
    must(tw_reader_take(reader, 0, TW_ANY, NULL, &samples), "no requests");
    for (size_t at = 0; at < samples.count; at++) {
        const tw_sample *sample = &samples.samples[at];
        if (!sample->info.valid_data) continue;
        must(market_Request_from_payload(&request, sample->data, sample->len) != TW_CDR_OK, "no request");
        memcpy(reply.requester, sample->info.writer.value, sizeof reply.requester);
        reply.number = sample->info.sequence_number;
        reply.price = strcmp(request.symbol, "ESZ6") == 0 ? 101.25 : 0;
        must(market_Reply_to_payload(&reply, TW_CDR_XCDR2, &payload) != TW_CDR_OK, "no payload");
        must(tw_writer_write(replies, payload.data, payload.size, NULL), "not answered");
    }
    tw_samples_return(&samples);
    market_Request_free(&request);
    market_Reply_free(&reply);
    tw_cdr_writer_free(&payload);
}

/* Asks for a price, and waits for the answer to this request. */
static double ask(tw_writer *requests, tw_reader *replies, const char *symbol, int64_t number) {
    tw_cdr_writer payload = TW_CDR_WRITER;
    tw_guid self;
    market_Request request;
    market_Reply reply;
    must(!market_Request_init(&request) || !market_Reply_init(&reply), "no memory");
    must(!tw_cdr_set_text(&request.symbol, symbol), "no memory");
    must(tw_get_guid(requests, &self), "no name");
    must(market_Request_to_payload(&request, TW_CDR_XCDR2, &payload) != TW_CDR_OK, "no payload");
    must(tw_writer_write(requests, payload.data, payload.size, NULL), "not asked");
    market_Request_free(&request);
    tw_cdr_writer_free(&payload);
    for (;;) {
        tw_samples samples;
        int found = 0;
        must(tw_reader_wait_for_data(replies, PATIENCE), "no answer");
        must(tw_reader_take(replies, 0, TW_ANY, NULL, &samples), "no replies");
        for (size_t at = 0; at < samples.count && !found; at++) {
            const tw_sample *sample = &samples.samples[at];
            if (!sample->info.valid_data) continue;
            must(market_Reply_from_payload(&reply, sample->data, sample->len) != TW_CDR_OK, "no reply");
            found = reply.number == number && memcmp(reply.requester, self.value, sizeof self.value) == 0;
        }
        tw_samples_return(&samples);
        if (found) return reply.price;
    }
}

int main(int argc, char **argv) {
    const char *const all[] = {"writer.history.kind", "keep_all", "reader.history.kind", "keep_all",
                               "reader.reliability", "reliable", NULL};
    uint32_t domain = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    tw_participant *service, *client;
    tw_topic *asked, *answered;
    tw_qos *qos = qos_of(all);
    tw_writer *requests, *replies;
    tw_reader *heard, *told;
    tw_listener listener;
    must(tw_participant_create(domain, NULL, &service), "no participant");
    asked = topic_of(service, "Requests", market_Request_idl, market_Request_type_name);
    answered = topic_of(service, "Replies", market_Reply_idl, market_Reply_type_name);
    must(tw_writer_create(service, answered, qos, &replies), "no writer");
    must(tw_reader_create(service, asked, qos, &heard), "no reader");
    memset(&listener, 0, sizeof listener);
    listener.size = sizeof listener;
    listener.context = replies;
    listener.on_data_available = answer;
    must(tw_set_listener(heard, &listener, TW_DATA_AVAILABLE), "no listener");

    must(tw_participant_create(domain, NULL, &client), "no participant");
    asked = topic_of(client, "Requests", market_Request_idl, market_Request_type_name);
    answered = topic_of(client, "Replies", market_Reply_idl, market_Reply_type_name);
    must(tw_writer_create(client, asked, qos, &requests), "no writer");
    must(tw_reader_create(client, answered, qos, &told), "no reader");
    must(tw_writer_wait_for_matched(requests, 1, PATIENCE), "there is no service");
    must(tw_reader_wait_for_matched(told, 1, PATIENCE), "there is no service");
    /* Who answers must have found who is told, too. */
    must(tw_writer_wait_for_matched(replies, 1, PATIENCE), "the service knows nobody");
    printf("ESZ6 %g\n", ask(requests, told, "ESZ6", 1));
    printf("NQZ6 %g\n", ask(requests, told, "NQZ6", 2));
    /* It may be told of what becomes of the client while its reader is deleted. */
    must(tw_set_listener(heard, NULL, 0), "the listener stays");
    tw_delete(client);
    tw_delete(service);
    return tw_delete(qos);
}
