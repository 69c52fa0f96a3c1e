/*
 * Tickwire for C: publish/subscribe for market data, an OMG DDS that is on the wire with Cyclone DDS, Fast DDS and
 * others. For C11 and C++11 and later, on 64-bit machines.
 *
 *     tw_participant *participant;
 *     tw_type *type;
 *     tw_topic *topic;
 *     tw_writer *writer;
 *     tw_participant_create(0, NULL, &participant);
 *     tw_type_from_idl("struct Quote { @key string symbol; double price; };", NULL, NULL, &type);
 *     tw_topic_create(participant, "Quotes", type, &topic);
 *     tw_writer_create(participant, topic, NULL, &writer);
 *     tw_writer_write(writer, payload, payload_len, NULL);
 *     tw_delete(participant);
 *
 * Results. Each function returns TW_OK, or a negative code, and then has done nothing unless it says otherwise;
 * tw_last_error() has the text, which says what to do. Results go where the last arguments point; these are not
 * touched where a function fails.
 *
 * Handles. A tw_participant * and its like are no addresses but names: never look into them. NULL, the handle of
 * what was deleted, one of another kind, and any other number are told apart from what exists, and lead to
 * TW_BAD_HANDLE. What else is passed must be what its type says: a text that ends in NUL and is in UTF-8, `len` bytes,
 * `count` elements. NULL is refused where it is not allowed.
 *
 * Threads. Any thread may call any function at any time with any handle, also in a listener, unless the function says
 * otherwise. A call that another thread deletes its object under ends as if it had come before.
 *
 * Callbacks. No exception and no longjmp() may leave a function that is passed, be it of a listener or of a call, or one
 * that frees a context or data: the process may end. Most run on threads of the library.
 *
 * Ownership. What a caller passes is the caller's again when the function returns; nothing of it is kept but contexts
 * of listeners, calls and what takes samples, and bytes that are handed over with a function that frees them. Objects
 * live until tw_delete() is called with them, or with what they were made from: a participant is made from nothing;
 * topics, publishers, subscribers and writers and readers of these are made from it, conditions from readers and other
 * entities, calls from requesters. Types and QoS objects are copied into what is made with them, and may be deleted at
 * once.
 *
 * Costs. What is called once for each sample (tw_writer_write(), tw_reader_take(), tw_samples_return()) costs some ten to
 * fifty nanoseconds more than in Rust, and allocates nothing once warm. A handle is found without a lock if it is one of
 * the last four of its kind that the thread has used. docs/sample-path.md has the costs of the rest.
 *
 * Time is in nanoseconds: timeouts from 0 on or TW_INFINITE; points in time since 1970-01-01 UTC.
 */
#ifndef TICKWIRE_H
#define TICKWIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* TW_OK, or why a function has not done what it was to do. */
typedef int32_t tw_result;

enum {
    TW_OK = 0,
    /* Something else; tw_last_error() says what. */
    TW_ERROR = -1,
    /* NULL, deleted, of another kind, or no handle at all. */
    TW_BAD_HANDLE = -2,
    /* An argument, a text, a setting or an expression cannot be so. */
    TW_BAD_ARGUMENT = -3,
    /* It did not happen in time. */
    TW_TIMEOUT = -4,
    /* Memory, sockets, threads, or RESOURCE_LIMITS. */
    TW_OUT_OF_RESOURCES = -5,
    /* Something else must be done first, or another function is meant. */
    TW_PRECONDITION = -6,
    /* The entity is not enabled. */
    TW_NOT_ENABLED = -7,
    TW_UNSUPPORTED = -8,
    /* The policy cannot be changed while the entity lives. */
    TW_IMMUTABLE = -9,
    /* Policies contradict each other. */
    TW_INCONSISTENT = -10,
    /* There is no such profile, type or instance. */
    TW_NOT_FOUND = -11,
    /* The buffer is too small; `len` says what it takes. */
    TW_TOO_SMALL = -12,
    /* The bytes are no sample of the topic's type, or of another encoding than the writer's. */
    TW_BAD_SAMPLE = -13,
    /* The sample was sent, but is not in the log of the TRANSIENT or PERSISTENT writer, or may not outlive the machine;
     * or the writer's log cannot be had. */
    TW_NOT_STORED = -14,
    /* A fault of Tickwire: please report it. */
    TW_PANIC = -15
};

/* What was wrong in this thread's last call that failed, and what to do about it; "" before the first. It stays as it is
 * until the thread's next call that fails. */
const char *tw_last_error(void);

/* The name of a result, such as "TW_TIMEOUT". */
const char *tw_result_name(tw_result result);

/* The library's version, such as "0.1.0". */
const char *tw_version(void);

/* ---- Handles and plain types ------------------------------------------------------------------------------------ */

typedef struct tw_participant tw_participant;
typedef struct tw_type tw_type;
typedef struct tw_topic tw_topic;
typedef struct tw_publisher tw_publisher;
typedef struct tw_subscriber tw_subscriber;
typedef struct tw_writer tw_writer;
typedef struct tw_reader tw_reader;
typedef struct tw_requester tw_requester;
typedef struct tw_replier tw_replier;
typedef struct tw_call tw_call;
typedef struct tw_condition tw_condition;
typedef struct tw_waitset tw_waitset;
typedef struct tw_qos tw_qos;
typedef struct tw_loan tw_loan;
typedef struct tw_held tw_held;

/* The name of a participant, writer or reader on the network; all zeros is nobody. */
typedef struct tw_guid {
    uint8_t value[16];
} tw_guid;

/* The name of an instance: the hash of its key in XCDR2. All zeros is the only instance of a topic without key. */
typedef struct tw_instance {
    uint8_t value[16];
} tw_instance;

/* Waits for ever. */
#define TW_INFINITE INT64_MAX
/* A point in time that nobody has told. */
#define TW_TIME_UNKNOWN INT64_MIN

/* ---- What several kinds of objects have ------------------------------------------------------------------------- */

/* Deletes an object, and all that was made from it. Nobody finds it from here on; it ends now, or with the last call
 * of another thread that is under way with it, on that thread. One that waits for a reader, a writer, a wait set, a service,
 * a request or a reply, or in tw_participant_poll() or tw_type_from_topic(), stops at once, and is told TW_BAD_HANDLE. The
 * end of a writer waits up to a second until all reliable readers have what was written, and disposes of its instances
 * unless its QoS says not to; that of a participant waits for its threads, and so for what its listeners are doing: do not
 * delete one in a listener of another participant, as two that delete each other's wait for ever, nor with a lock held
 * that one of its listeners takes.
 *
 * Else allowed in a listener, of the same entity, too. A listener that another thread is in goes on: its context is
 * freed when it has returned, so use `free_context`, or tw_set_listener() with NULL first; the same of what
 * tw_reader_take_each() was given. Samples that were taken stay as they are, and so does what a writer has lent, which
 * keeps the writer and its participant until it is discarded. Of samples and loans see tw_samples_return() and
 * tw_loan_discard(). */
tw_result tw_delete(void *object);

/* Has a participant, publisher, subscriber, writer or reader take part, where what made it does not have it do so at once
 * (`entity_factory.autoenable_created_entities`). Nothing changes if it does already, as topics do from the start.
 * TW_PRECONDITION if what made it is not enabled. */
tw_result tw_enable(void *entity);

/* Changes what `qos` says something of, in a participant, publisher, subscriber, writer or reader; the rest stays. Of a
 * participant that is `entity_factory.autoenable_created_entities` alone; what else is said of participants is ignored.
 * TW_IMMUTABLE for a policy that cannot change while the entity lives; then nothing changes. */
tw_result tw_set_qos(void *entity, const tw_qos *qos);

/* The name of a participant, writer or reader. */
tw_result tw_get_guid(const void *entity, tw_guid *guid);

/* Says that a writer lives whose liveliness is manual, or all writers of a participant whose liveliness is
 * manual_by_participant. A write says the same. */
tw_result tw_assert_liveliness(const void *entity);

/* ---- QoS -------------------------------------------------------------------------------------------------------- */

/* What entities are to be: one object says it of participants (with transports, interfaces, cores and so on), topics,
 * publishers, subscribers, writers and readers, as a profile does. What it says nothing of has the standard's default.
 * docs/qos.md lists the settings. */

/* One that says nothing. */
tw_result tw_qos_create(tw_qos **qos);

/* A profile of a file: TOML, DDS-XML or Fast DDS's XML. `profile` may be NULL if the file has only one or names the
 * default. `file` may be NULL: then $TICKWIRE_QOS_FILE names it, $TICKWIRE_QOS_PROFILE the profile, and
 * $TICKWIRE_RENDEZVOUS a rendezvous; without these it says nothing.
 * TW_BAD_ARGUMENT if the file cannot be read or obeyed; the text has each place and what to do there. TW_NOT_FOUND if it
 * has no such profile. */
tw_result tw_qos_load(const char *file, const char *profile, tw_qos **qos);

/* The same of a text. */
tw_result tw_qos_parse(const char *text, const char *profile, tw_qos **qos);

/* Says something more, or in another way: tw_qos_set(qos, "writer.history.kind", "keep_all"). `setting` is the entity and
 * the key, `value` is as in TOML, but that the quotes around a text and the brackets around a list may be left out: "100ms",
 * "udp,shm". Holds for what is made with `qos` from here on. TW_BAD_ARGUMENT if there is no such setting or value. */
tw_result tw_qos_set(tw_qos *qos, const char *setting, const char *value);

/* What a setting is, in TOML: of one topic, or of all others if `topic` is NULL. At most `capacity` bytes are written, with
 * a NUL at the end; `len` may be NULL, else it is the length without that. TW_TOO_SMALL if the text was cut. */
tw_result tw_qos_get(const tw_qos *qos, const char *setting, const char *topic, char *buffer, size_t capacity,
                     size_t *len);

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* Samples are payloads: the bytes that travel, serialized in XCDR1 or XCDR2 behind their encapsulation header of four
 * bytes. A writer takes the first of `writer.representation`; by default XCDR1 for final types and XCDR2 for others.
 * `tickwire idl gen --lang c` makes structs and functions that turn them into payloads and back (IDL.md). Or samples are
 * plain bytes, for types that are nothing but one sequence of octets: these alone can be written and read in place. */

/* How a type may change. */
enum { TW_FINAL = 1, TW_APPENDABLE = 2, TW_MUTABLE = 3 };

/* How IDL is read. Set `size` to sizeof(tw_idl_options) and all that is of no interest to 0. */
typedef struct tw_idl_options {
    size_t size;
    /* Directories in which included files are looked for; without any, a text includes none. */
    const char *const *include_dirs;
    size_t include_dir_count;
    /* Macros: NAME or NAME=VALUE. */
    const char *const *defines;
    size_t define_count;
    /* Of types that do not say how they may change; 0 is TW_APPENDABLE. */
    int32_t extensibility;
    /* Whether `idl` is the name of a file. */
    int32_t is_file;
} tw_idl_options;

/* The struct of that full name ("market::Quote") in a text of OMG IDL 4.2; `name` may be NULL if it has only one that is
 * for topics, `options` if none is of interest. TW_BAD_ARGUMENT with the place of each error and what to do,
 * TW_NOT_FOUND with the structs that there are. Costs some 100 us. */
tw_result tw_type_from_idl(const char *idl, const char *name, const tw_idl_options *options, tw_type **type);

/* The type of a topic as its writers and readers tell it; waits until one is known and has answered. If they tell nothing
 * but its name, it is opaque. TW_TIMEOUT if there is none in time. */
tw_result tw_type_from_topic(tw_participant *participant, const char *topic_name, int64_t timeout_ns, tw_type **type);

/* A type of which nothing is known but its name and whether it has a key. No filters and queries; of a keyed one each sample
 * needs tw_writer_write_keyed(). */
tw_result tw_type_opaque(const char *name, int32_t keyed, tw_type **type);

/* A struct with one member, a sequence of at most `bound` octets, or of any number if that is 0; its samples are these bytes.
 * `extensibility` is TW_FINAL or TW_APPENDABLE. */
tw_result tw_type_bytes(const char *name, const char *member, uint32_t bound, int32_t extensibility, tw_type **type);

/* The same type as one whose samples are bytes. TW_PRECONDITION unless it is one sequence of octets. */
tw_result tw_type_as_bytes(const tw_type *described, tw_type **type);

/* Its name. The buffer is as in tw_qos_get(). */
tw_result tw_type_name(const tw_type *type, char *buffer, size_t capacity, size_t *len);

/* ---- Participants ----------------------------------------------------------------------------------------------- */

/* The domain that the QoS names, or 0. */
#define TW_DOMAIN_OF_QOS UINT32_MAX

/* Joins a domain, on this machine's loopback interface unless `qos` (which may be NULL) says otherwise, and starts threads
 * unless `participant.driving` is polled. Costs milliseconds. */
tw_result tw_participant_create(uint32_t domain, const tw_qos *qos, tw_participant **participant);

/* Does what is to be done for a participant whose `participant.driving` is polled: waits up to `timeout_ns` for data or a
 * deadline, takes in what has come, and calls listeners. TW_PRECONDITION if it has threads of its own. */
tw_result tw_participant_poll(tw_participant *participant, int64_t timeout_ns);

/* A line for each writer and reader of one topic: by which way samples go from one to the other, or why they do not match
 * and what to change. The buffer is as in tw_qos_get(). For people: the text may change. */
tw_result tw_participant_explain(const tw_participant *participant, char *buffer, size_t capacity, size_t *len);

/* ---- Topics ----------------------------------------------------------------------------------------------------- */

/* A topic. The same name and type make the same topic again. TW_PRECONDITION if the participant has it with another type. */
tw_result tw_topic_create(tw_participant *participant, const char *name, const tw_type *type, tw_topic **topic);

/* A topic of which readers get those samples alone for which `expression` is true, in the SQL subset of DDS 1.4 Annex B:
 * "symbol LIKE %0 AND price > 1.1". `parameters` are what %0, %1 ... stand for, as literals ("'EUR%'"). Writers keep back
 * what the reader does not want. Only for tw_reader_create(). TW_BAD_ARGUMENT if it does not fit the type. */
tw_result tw_topic_filtered(const tw_topic *topic, const char *name, const char *expression,
                            const char *const *parameters, size_t parameter_count, tw_topic **filtered);

/* Changes the parameters of a filtered topic, for all its readers and what comes from here on. */
tw_result tw_topic_set_parameters(tw_topic *filtered, const char *const *parameters, size_t parameter_count);

/* Its name; of a filtered one, that of the topic that it is of. The buffer is as in tw_qos_get(). */
tw_result tw_topic_name(const tw_topic *topic, char *buffer, size_t capacity, size_t *len);

/* ---- Publishers ------------------------------------------------------------------------------------------------- */

/* What several writers have in common: PARTITION, PRESENTATION, GROUP_DATA. `qos` may be NULL. */
tw_result tw_publisher_create(tw_participant *participant, const tw_qos *qos, tw_publisher **publisher);

/* Begins and ends a coherent set: readers with coherent access see what all writers of the publisher write between the
 * two together, or not at all. Sets may be nested; the outermost counts. Needs
 * `publisher.presentation.coherent_access`. Ends with the publisher at the latest. */
tw_result tw_publisher_begin_coherent(tw_publisher *publisher);
tw_result tw_publisher_end_coherent(tw_publisher *publisher);

/* Holds back what this thread writes in the publisher's participant until tw_publisher_resume(), so that samples share
 * datagrams: for samples that are at hand together. They leave earlier when there are 64 KiB, or when the thread waits in
 * this library. May be nested. Resume on the same thread; it keeps the participant until then, deleted or not, or until
 * the thread ends. */
tw_result tw_publisher_suspend(tw_publisher *publisher);
tw_result tw_publisher_resume(tw_publisher *publisher);

/* Sends what waits for company: by LATENCY_BUDGET, or as it was written faster than it could be sent, or held back by this
 * thread. All that was written before is sent when this returns. */
tw_result tw_publisher_flush(tw_publisher *publisher);

/* ---- Writers ---------------------------------------------------------------------------------------------------- */

/* What the bytes are that name an instance: a whole sample, or its key alone. */
enum { TW_SAMPLE = 0, TW_KEY = 1 };

/* A writer, of a participant or a publisher. `qos` may be NULL: reliable, and the last sample of each instance is
 * kept. */
tw_result tw_writer_create(void *participant_or_publisher, const tw_topic *topic, const tw_qos *qos,
                           tw_writer **writer);

/* Writes a sample: `len` bytes, which are a payload with its encapsulation header, or plain bytes if the topic's type is
 * such. `timestamp_ns` says when it was made; NULL is now. From here to the system call that sends it everything
 * runs on the calling thread. The bytes are the caller's again when this returns. Payloads are not looked into but for
 * the header and the key: readers are told if they are no samples of the type.
 * TW_TIMEOUT if a reliable keep_all writer found no room within `writer.reliability.max_blocking_time`, TW_BAD_SAMPLE if
 * the header names another encoding than the writer offers. */
tw_result tw_writer_write(tw_writer *writer, const void *data, size_t len, const int64_t *timestamp_ns);

/* The same where the caller knows the instance: saves looking for the key, and opaque types need it. It must be the
 * right one: what tw_writer_register() says, or for opaque types the hash of the key as RTPS 2.5 9.6.4.8 has it. Where
 * that depends on the encoding (a key with a member of 8 bytes behind a shorter one) the key is looked for all the same. */
tw_result tw_writer_write_keyed(tw_writer *writer, const void *data, size_t len, const tw_instance *instance,
                                const int64_t *timestamp_ns);

/* The same as tw_writer_write(), and calls `free_data(context)` once nobody needs the bytes any more, exactly once, whatever
 * the result. Until then they are to stay as they are. More than 64 KiB are sent from where they lie: the kernel copies
 * them, or where all readers follow the writer's log in shared memory they are copied there. The writer needs them until
 * all reliable readers have them, of which none is as good as all, or a transient_local one until others take their place
 * in its history; while it goes on writing, what is acknowledged may be freed by its next write only; and what is left
 * is freed when the writer ends. Fewer bytes, and those of transient and persistent writers, are copied, and freed
 * before this returns. `free_data` is given `context`, on any thread of the library, or in any call with the participant
 * or what was made from it: it is not to call any function of the library, nor to wait for a lock under which one is
 * called. NULL is none: then the bytes are copied, and the caller's again when this returns.
 *     tw_writer_write_owned(writer, buffer, len, free, buffer, NULL); */
tw_result tw_writer_write_owned(tw_writer *writer, const void *data, size_t len, void (*free_data)(void *context),
                                void *context, const int64_t *timestamp_ns);

/* Lends `len` bytes to be written to, for types that are one sequence of octets: of payload types, too, they are the
 * octets alone. They are memory that readers on this machine see, if `writer.max_loan` is not less, one is free and all
 * readers follow the writer's log in shared memory; else the writer's own, aligned to 4, of which more than 64 KiB are
 * handed over when they are written, and fewer, or any of a durable writer, are copied. They hold whatever was there
 * before, and are to be left alone after tw_loan_write() or tw_loan_discard(). A writer that is deleted ends with the last
 * of its loans. A loan may be handed to another thread; calls with it and access to its bytes are to come one after the
 * other. TW_PRECONDITION for other types. */
tw_result tw_writer_loan(tw_writer *writer, size_t len, void **data, tw_loan **loan);

/* Writes the first `len` bytes of a loan, which ends whether that succeeds or not, but for TW_BAD_ARGUMENT if it has not
 * so many; TW_BAD_HANDLE, too, if the writer was deleted. Else as tw_writer_write(). */
tw_result tw_loan_write(tw_loan *loan, size_t len, const int64_t *timestamp_ns);

/* Ends a loan without writing it. */
tw_result tw_loan_discard(tw_loan *loan);

/* Ends an instance: of these bytes (TW_SAMPLE or TW_KEY), of which only the key counts. `instance` may be NULL; opaque types
 * need it, and no bytes. TW_PRECONDITION for types without key; else as tw_writer_write(). */
tw_result tw_writer_dispose(tw_writer *writer, const void *data, size_t len, int32_t form, const tw_instance *instance,
                            const int64_t *timestamp_ns);

/* Says that this writer has nothing more to say about an instance, and disposes of it unless the QoS says not to. Arguments
 * and results are those of tw_writer_dispose(). */
tw_result tw_writer_unregister(tw_writer *writer, const void *data, size_t len, int32_t form,
                               const tw_instance *instance, const int64_t *timestamp_ns);

/* The name of the sample's instance. Instances need no registration before they are written. */
tw_result tw_writer_register(tw_writer *writer, const void *data, size_t len, int32_t form, tw_instance *instance);

/* Waits until at least `count` readers match and each reliable one has been heard from: it gets all that is written from
 * here on. */
tw_result tw_writer_wait_for_matched(tw_writer *writer, uint32_t count, int64_t timeout_ns);

/* Waits until every matched reliable reader has acknowledged everything written so far. */
tw_result tw_writer_wait_for_acknowledgments(tw_writer *writer, int64_t timeout_ns);

/* A reader that matches a writer. */
typedef struct tw_matched_reader {
    tw_guid guid;
    /* Whether it is served reliably. */
    int32_t reliable;
    /* The last sample up to which it has acknowledged all; meaningless unless it is reliable. */
    int64_t acknowledged;
    /* Samples sent to it again. */
    uint64_t resent;
    /* Samples after the last that it has acknowledged. */
    uint64_t behind;
} tw_matched_reader;

/* The readers that match now: up to `capacity` of them are written, `count` says how many there are. */
tw_result tw_writer_matched_readers(const tw_writer *writer, tw_matched_reader *readers, size_t capacity, size_t *count);

/* ---- Subscribers ------------------------------------------------------------------------------------------------ */

/* States of samples, of which masks are put together: of samples (returned by a read before, or not), of how their instance
 * looks to the reader (new, or back to life, or not), and of the instance itself. A mask without any bit of a group
 * accepts all of that group; 0 accepts all. */
enum {
    TW_READ = 1,
    TW_NOT_READ = 2,
    TW_NEW = 4,
    TW_NOT_NEW = 8,
    TW_ALIVE = 16,
    TW_DISPOSED = 32,
    TW_NO_WRITERS = 64,
    TW_ANY = 0
};

/* What several readers have in common: PARTITION, PRESENTATION, GROUP_DATA. `qos` may be NULL. */
tw_result tw_subscriber_create(tw_participant *participant, const tw_qos *qos, tw_subscriber **subscriber);

/* Between the two no further coherent set of GROUP scope appears in any of the subscriber's readers. May be nested. */
tw_result tw_subscriber_begin_access(tw_subscriber *subscriber);
tw_result tw_subscriber_end_access(tw_subscriber *subscriber);

/* The readers that have samples in these states; with ordered access of GROUP scope one entry for each sample, in their
 * order: take one sample of each in turn. Up to `capacity` are written, `count` says how many there are. */
tw_result tw_subscriber_readers(const tw_subscriber *subscriber, uint32_t states, tw_reader **readers, size_t capacity,
                                size_t *count);

/* Has the listeners of the readers told that have data which was not read. */
tw_result tw_subscriber_notify(tw_subscriber *subscriber);

/* ---- Readers ---------------------------------------------------------------------------------------------------- */

/* A sample's circumstances, as they were when it was returned. */
typedef struct tw_sample_info {
    /* One bit of each group: TW_NOT_READ | TW_NEW | TW_ALIVE. */
    uint32_t states;
    /* Whether there is a value. If not, it tells of a change of the instance's state, and the data are its key, if that is
     * known. */
    int32_t valid_data;
    /* When the writer made it, by the writer's clock; or TW_TIME_UNKNOWN. */
    int64_t source_timestamp_ns;
    /* When it arrived, by this machine's clock. */
    int64_t reception_timestamp_ns;
    /* When the kernel had it, if `participant.receive_timestamps` asks for that and it came by UDP; or TW_TIME_UNKNOWN. */
    int64_t kernel_timestamp_ns;
    /* Its place in the writer's history. */
    int64_t sequence_number;
    tw_instance instance;
    tw_guid writer;
    /* How often the instance had come back from disposal, and had found a writer again, when it arrived. */
    uint32_t disposed_generation_count;
    uint32_t no_writers_generation_count;
    /* Samples of the instance that follow; generations between it and the last of these, and the last one received. */
    uint32_t sample_rank;
    uint32_t generation_rank;
    uint32_t absolute_generation_rank;
    /* Whether the data lie where the writer wrote them, on loan. */
    int32_t in_place;
} tw_sample_info;

/* A sample: a payload with its encapsulation header, or plain bytes if the topic's type is such. The data may begin at
 * any address, whatever the type: copy numbers out of them by memcpy(). */
typedef struct tw_sample {
    const void *data;
    size_t len;
    tw_sample_info info;
} tw_sample;

/* Samples on loan from a reader: `samples[0]` to `samples[count - 1]`, as they came. They stay as they are until
 * tw_samples_return(), whatever becomes of the reader, and any thread may look at them. */
typedef struct tw_samples {
    const tw_sample *samples;
    size_t count;
    tw_held *held;
} tw_samples;

/* A reader, of a participant or a subscriber, of a topic or a filtered one. `qos` may be NULL: best effort, and the
 * last sample of each instance is kept. */
tw_result tw_reader_create(void *participant_or_subscriber, const tw_topic *topic, const tw_qos *qos,
                           tw_reader **reader);

/* Removes samples from the reader and returns them: at most `max`, or all if that is 0; in these states; of one instance, or
 * of all if that is NULL. TW_OK also if there are none. Nothing is copied. To be returned by tw_samples_return(): the
 * reader needs their memory. TW_OUT_OF_RESOURCES if 2^20 collections of samples are not given back; then the reader still
 * has them all. */
tw_result tw_reader_take(tw_reader *reader, size_t max, uint32_t states, const tw_instance *instance,
                         tw_samples *samples);

/* The same, but leaves the samples in the reader, marked as read. */
tw_result tw_reader_read(tw_reader *reader, size_t max, uint32_t states, const tw_instance *instance,
                         tw_samples *samples);

/* The same of the first instance behind `previous` that has such samples, or of all instances if that is NULL. */
tw_result tw_reader_take_next_instance(tw_reader *reader, size_t max, uint32_t states, const tw_instance *previous,
                                       tw_samples *samples);
tw_result tw_reader_read_next_instance(tw_reader *reader, size_t max, uint32_t states, const tw_instance *previous,
                                       tw_samples *samples);

/* The same of samples that a read or query condition of this reader is after. */
tw_result tw_reader_take_by(tw_reader *reader, size_t max, const tw_condition *condition, tw_samples *samples);
tw_result tw_reader_read_by(tw_reader *reader, size_t max, const tw_condition *condition, tw_samples *samples);

/* Has `each` called with each sample as it comes, and with those that are there already, in place of what was given before:
 * as if a listener took all whenever there are some, for less, as nothing is kept for the caller: the sample and its data
 * are there during the call alone. In exchange nobody else hears of data, neither wait sets nor listeners, which are told of
 * all else, maybe at the same time. It is called where listeners are, by one thread at a time, and allowed what they are.
 * NULL has samples stay in the reader again, also those that came together with one that is being handed out, and waits
 * until a call has returned, but in such a call, or in a listener's, for nobody: not to be called with a lock held that
 * `each` takes. `free_context`, which may be NULL, is called with the context once nobody calls `each` any more. If this
 * fails, the context stays the caller's, and so does that of NULL. */
tw_result tw_reader_take_each(tw_reader *reader, void (*each)(const tw_sample *sample, void *context), void *context,
                              void (*free_context)(void *context));

/* Gives samples back, whose data are gone then, and empties the struct. TW_BAD_HANDLE if they were given back already.
 * Nothing happens if there are none. */
tw_result tw_samples_return(tw_samples *samples);

/* The instance that these bytes name. TW_NOT_FOUND if the reader does not know it. */
tw_result tw_reader_lookup_instance(const tw_reader *reader, const void *data, size_t len, int32_t form,
                                    tw_instance *instance);

/* The key of an instance, as a payload of the key alone (TW_KEY). `len` may be NULL, else it is its length; TW_TOO_SMALL
 * if the buffer has less, and then nothing is written. TW_NOT_FOUND if the reader does not know it. */
tw_result tw_reader_key_value(const tw_reader *reader, const tw_instance *instance, void *buffer, size_t capacity,
                              size_t *len);

/* Waits until there is a sample that was not read. */
tw_result tw_reader_wait_for_data(tw_reader *reader, int64_t timeout_ns);

/* Waits until at least `count` writers match. */
tw_result tw_reader_wait_for_matched(tw_reader *reader, uint32_t count, int64_t timeout_ns);

/* Waits until what the writers that match now had written before they matched has come, or never will. */
tw_result tw_reader_wait_for_historical_data(tw_reader *reader, int64_t timeout_ns);

/* A writer that matches a reader. */
typedef struct tw_matched_writer {
    tw_guid guid;
    /* The next sample to deliver, and the newest known to exist. */
    int64_t expected;
    int64_t announced;
    uint64_t delivered;
    /* Samples that will never come, and that came again. */
    uint64_t lost;
    uint64_t duplicates;
} tw_matched_writer;

/* The writers that match now: up to `capacity` of them are written, `count` says how many there are. */
tw_result tw_reader_matched_writers(const tw_reader *reader, tw_matched_writer *writers, size_t capacity, size_t *count);

/* ---- Requests and replies --------------------------------------------------------------------------------------- */

/* By DDS-RPC 1.0, for what is made of interfaces: docs/request-reply.md has what is on the wire. The topics of a service are
 * called NAME_Request and NAME_Reply. Requests and replies are payloads, in the encoding of tw_writer_write(). */

/* Who asks. It is made from the participant, and so is a replier. TW_PRECONDITION if the participant has a topic with
 * another type, or a type is of bytes. */
tw_result tw_requester_create(tw_participant *participant, const char *request_topic, const char *reply_topic,
                              const tw_type *request_type, const tw_type *reply_type, tw_requester **requester);

/* Waits until a service is there: until one participant reads the requests and writes the replies, and has shown that it
 * knows the requester. TW_TIMEOUT says what is missing. */
tw_result tw_requester_wait_for_service(tw_requester *requester, int64_t timeout_ns);

/* Sends a request once a service is there, and waits for the reply, which is one sample, to be returned by
 * tw_samples_return(). TW_TIMEOUT if all that takes longer; the text says of what there was none. Not in a listener of
 * the same participant, which the reply would wait for. TW_OUT_OF_RESOURCES if 1024 calls are under way. */
tw_result tw_requester_call(tw_requester *requester, const void *data, size_t len, int64_t timeout_ns,
                            tw_samples *reply);

/* Sends a request to whatever services there are, and does not wait for the reply, nor does any thread: ask
 * tw_requester_wait_for_service() first, be it with a timeout of 0. Calls may be answered in any order.
 *
 * `on_end` is called exactly once, when the call ends: with TW_OK and the reply, which is one sample and belongs to the
 * function, to be returned by tw_samples_return(); or with TW_BAD_HANDLE and NULL when the call is deleted, or what it was
 * made from, or with TW_OUT_OF_RESOURCES. It runs on a thread that delivers data, on that which deletes, or on this one
 * before this returns; those of two calls may run at once. It may call anything, and should not take its time, as nothing
 * else is delivered meanwhile. If this fails, it is not called.
 *
 * What belongs to `context` is to be freed by `on_end`, and nowhere else: when tw_delete() has returned, be it of the call or
 * of what it was made from, another thread may still be about to call it.
 *
 * tw_delete() with `call` gives the call up, as one that takes too long; the service may have done what was asked, and a
 * reply that has just come counts. That is TW_BAD_HANDLE if the call has ended or is about to. TW_OUT_OF_RESOURCES if 1024
 * calls are under way; else as tw_writer_write(). */
tw_result tw_requester_send(tw_requester *requester, const void *data, size_t len,
                            void (*on_end)(tw_result result, tw_samples *reply, void *context), void *context,
                            tw_call **call);

/* Sends a request that nobody replies to. */
tw_result tw_requester_tell(tw_requester *requester, const void *data, size_t len);

/* Who answers. */
tw_result tw_replier_create(tw_participant *participant, const char *request_topic, const char *reply_topic,
                            const tw_type *request_type, const tw_type *reply_type, tw_replier **replier);

/* Waits for the next request, which is one sample, to be returned by tw_samples_return(). */
tw_result tw_replier_wait(tw_replier *replier, int64_t timeout_ns, tw_samples *request);

/* Replies to the request that this writer has written under this number, as its `info` has them. It never waits: the last
 * 1024 replies are kept for requesters that lack them. */
tw_result tw_replier_reply(tw_replier *replier, const tw_guid *writer, int64_t sequence_number, const void *data,
                           size_t len);

/* ---- Statuses --------------------------------------------------------------------------------------------------- */

/* Masks of statuses, numbered as in DDS 1.4. */
enum {
    TW_INCONSISTENT_TOPIC = 1,
    TW_OFFERED_DEADLINE_MISSED = 2,
    TW_REQUESTED_DEADLINE_MISSED = 4,
    TW_OFFERED_INCOMPATIBLE_QOS = 32,
    TW_REQUESTED_INCOMPATIBLE_QOS = 64,
    TW_SAMPLE_LOST = 128,
    TW_SAMPLE_REJECTED = 256,
    TW_DATA_ON_READERS = 512,
    TW_DATA_AVAILABLE = 1024,
    TW_LIVELINESS_LOST = 2048,
    TW_LIVELINESS_CHANGED = 4096,
    TW_PUBLICATION_MATCHED = 8192,
    TW_SUBSCRIPTION_MATCHED = 16384
};

/* All statuses but TW_DATA_ON_READERS, which takes the place of another one. */
#define TW_ALL_STATUSES UINT32_C(0xfffffdff)

/* Endpoints matched: so far, of them since the status was last read, now, and how that has changed; and the last that
 * matched or left. */
typedef struct tw_matched_status {
    uint32_t total_count;
    uint32_t total_count_change;
    uint32_t current_count;
    int32_t current_count_change;
    tw_guid last;
} tw_matched_status;

#define TW_WHY_MAX 512

/* Endpoints of the topic that do not match: how often one was found; the first policy that the last one disagreed on, by its
 * number in DDS 1.4, or 0; the last one; and all that it disagreed on and what to change, cut if it is too long. */
typedef struct tw_incompatible_qos_status {
    uint32_t total_count;
    uint32_t total_count_change;
    uint32_t last_policy_id;
    tw_guid last;
    char why[TW_WHY_MAX];
} tw_incompatible_qos_status;

typedef struct tw_count_status {
    uint64_t total_count;
    uint64_t total_count_change;
} tw_count_status;

/* Which limit the last sample met that found no room: `max_instances`, `max_samples` or `max_samples_per_instance`. */
enum {
    TW_NOT_REJECTED = 0,
    TW_REJECTED_BY_INSTANCES = 1,
    TW_REJECTED_BY_SAMPLES = 2,
    TW_REJECTED_BY_SAMPLES_PER_INSTANCE = 3
};

typedef struct tw_sample_rejected_status {
    uint64_t total_count;
    uint64_t total_count_change;
    uint32_t last_reason;
    tw_instance last_instance;
} tw_sample_rejected_status;

typedef struct tw_deadline_missed_status {
    uint64_t total_count;
    uint64_t total_count_change;
    tw_instance last_instance;
} tw_deadline_missed_status;

typedef struct tw_liveliness_changed_status {
    uint32_t alive_count;
    uint32_t not_alive_count;
    int32_t alive_count_change;
    int32_t not_alive_count_change;
    tw_guid last;
} tw_liveliness_changed_status;

/* Each reads a status and clears its change. */
tw_result tw_writer_publication_matched(tw_writer *writer, tw_matched_status *status);
tw_result tw_writer_offered_incompatible_qos(tw_writer *writer, tw_incompatible_qos_status *status);
tw_result tw_writer_offered_deadline_missed(tw_writer *writer, tw_deadline_missed_status *status);
tw_result tw_writer_liveliness_lost(tw_writer *writer, tw_count_status *status);
tw_result tw_reader_subscription_matched(tw_reader *reader, tw_matched_status *status);
tw_result tw_reader_requested_incompatible_qos(tw_reader *reader, tw_incompatible_qos_status *status);
tw_result tw_reader_requested_deadline_missed(tw_reader *reader, tw_deadline_missed_status *status);
tw_result tw_reader_liveliness_changed(tw_reader *reader, tw_liveliness_changed_status *status);
tw_result tw_reader_sample_lost(tw_reader *reader, tw_count_status *status);
tw_result tw_reader_sample_rejected(tw_reader *reader, tw_sample_rejected_status *status);
tw_result tw_topic_inconsistent(tw_topic *topic, tw_count_status *status);

/* The statuses of a topic, subscriber, writer or reader that have changed since they were last read. Participants and
 * publishers have none of their own, so of these none ever changes. */
tw_result tw_status_changes(const void *entity, uint32_t *statuses);

/* ---- Listeners -------------------------------------------------------------------------------------------------- */

/* Functions that are called when something happens, on a thread that delivers data, or the one that polls. Set `size` to
 * sizeof(tw_listener), and what is of no interest to NULL. What was set with one entity is never called by two threads at
 * once. That of different entities may be, as several threads deliver data (by UDP, multicast, TCP and shared memory), and
 * so may a reader's and what tw_reader_take_each() was given: lock what they share. They may call anything, take samples,
 * write and wait; nothing more is delivered by that thread meanwhile. Each is given the entity that it is about, whoever has
 * the listener, and the status, whose change is cleared by that. */
typedef struct tw_listener {
    size_t size;
    /* Passed to each function. */
    void *context;
    /* Called once when the listener is replaced, taken away or deleted with its entity, and no function runs any more;
     * on any thread. May be NULL. */
    void (*free_context)(void *context);
    void (*on_data_available)(tw_reader *reader, void *context);
    /* In place of the readers' own listeners; only of subscribers and participants, and only if the mask has
     * TW_DATA_ON_READERS. */
    void (*on_data_on_readers)(tw_reader *reader, void *context);
    void (*on_subscription_matched)(tw_reader *reader, const tw_matched_status *status, void *context);
    void (*on_requested_incompatible_qos)(tw_reader *reader, const tw_incompatible_qos_status *status, void *context);
    void (*on_liveliness_changed)(tw_reader *reader, const tw_liveliness_changed_status *status, void *context);
    void (*on_requested_deadline_missed)(tw_reader *reader, const tw_deadline_missed_status *status, void *context);
    void (*on_sample_lost)(tw_reader *reader, const tw_count_status *status, void *context);
    void (*on_sample_rejected)(tw_reader *reader, const tw_sample_rejected_status *status, void *context);
    void (*on_publication_matched)(tw_writer *writer, const tw_matched_status *status, void *context);
    void (*on_offered_incompatible_qos)(tw_writer *writer, const tw_incompatible_qos_status *status, void *context);
    void (*on_offered_deadline_missed)(tw_writer *writer, const tw_deadline_missed_status *status, void *context);
    void (*on_liveliness_lost)(tw_writer *writer, const tw_count_status *status, void *context);
    void (*on_inconsistent_topic)(tw_topic *topic, const tw_count_status *status, void *context);
} tw_listener;

/* Has a listener told of what happens to the statuses in `mask` for which it has a function, and of data that is there
 * already; in place of the one that was set before. Of others, that of the publisher or subscriber is told, and else that
 * of the participant. NULL takes the listener away and waits until a call on another thread has returned: not to be called
 * with a lock held that the listener takes. In a listener, set one that has no functions instead, which waits for nobody:
 * two listeners that take each other away by NULL wait for ever. The struct is copied. If this fails, the context stays the
 * caller's. All handles of a topic share one listener, which ends with the handle that it was set with. */
tw_result tw_set_listener(void *entity, const tw_listener *listener, uint32_t mask);

/* ---- Conditions and wait sets ----------------------------------------------------------------------------------- */

/* Holds while one of these statuses of a topic, subscriber, writer or reader has changed; of a participant or publisher,
 * which have none of their own, never. */
tw_result tw_status_condition(void *entity, uint32_t mask, tw_condition **condition);

/* Holds while the reader has samples in these states. */
tw_result tw_reader_read_condition(tw_reader *reader, uint32_t states, tw_condition **condition);

/* Holds while the reader has samples in these states for which an expression is true, as in tw_topic_filtered(); it may
 * end in ORDER BY, which tw_reader_take_by() obeys. */
tw_result tw_reader_query_condition(tw_reader *reader, uint32_t states, const char *expression,
                                    const char *const *parameters, size_t parameter_count, tw_condition **condition);

/* Changes what %0, %1 ... stand for. TW_PRECONDITION unless it is a query condition. */
tw_result tw_query_set_parameters(tw_condition *condition, const char *const *parameters, size_t parameter_count);

/* A condition that the program sets by hand; it does not hold at first. */
tw_result tw_guard_create(tw_condition **condition);
tw_result tw_guard_set(tw_condition *condition, int32_t holds);

/* Whether a condition holds now: 1 or 0. */
tw_result tw_condition_holds(const tw_condition *condition, int32_t *holds);

/* Waits for any of several conditions; one that is deleted leaves it. Waiting drives participants that are polled. */
tw_result tw_waitset_create(tw_waitset **wait_set);
tw_result tw_waitset_attach(tw_waitset *wait_set, tw_condition *condition);
tw_result tw_waitset_detach(tw_waitset *wait_set, tw_condition *condition);

/* Waits until a condition holds: up to `capacity` of those that do are written; `count` says how many do, of which there is
 * at least one, and may be NULL. One that is detached or deleted before this returns counts no more. */
tw_result tw_waitset_wait(tw_waitset *wait_set, int64_t timeout_ns, tw_condition **holding, size_t capacity,
                          size_t *count);

/* ---- Counters --------------------------------------------------------------------------------------------------- */

/* Set `size` to sizeof the struct; fields that the library does not know stay as they are. All count since the entity was
 * made. What each means is in the documentation of tickwire_rtps::writer::WriterCounters, ReaderCounters, and
 * tickwire::reader::InboxCounters and ParticipantCounters. */

typedef struct tw_writer_counters {
    size_t size;
    /* Written by the program; taken over from a log; refused, as the history was full; sent, of these to a group; and sent
     * again. */
    uint64_t written, restored, would_block, sent, sent_by_group, resent;
    uint64_t fragments_sent, fragments_resent, suppressed;
    /* Kept back by content filters, counted for each reader; filters that are left to readers. */
    uint64_t filtered, filters_refused;
    uint64_t gaps, heartbeats, acknacks, nack_frags;
    /* Gone before all reliable readers had them; at the end of their LIFESPAN. */
    uint64_t removed_before_ack, expired;
    uint64_t from_unmatched, stale, misbehaved;
    /* How often no loan that readers see was free. */
    uint64_t loans_used_up;
} tw_writer_counters;

typedef struct tw_reader_counters {
    size_t size;
    /* What arrived, by the protocol. */
    uint64_t delivered, sets_discarded, set_changes_discarded, duplicates, known, forgotten, held, dropped, refused, lost;
    uint64_t not_understood, abandoned, gaps, fragments, partial_dropped, heartbeats, acknacks, nack_frags;
    uint64_t from_unmatched, stale, misbehaved, restarts, jumps;
    /* What became of it. */
    uint64_t stored, replaced, filtered, too_early, expired, purged, filtered_by_content, undecodable;
    uint64_t discarded_with_set, parts_guessed, ignored;
} tw_reader_counters;

typedef struct tw_participant_counters {
    size_t size;
    uint64_t datagrams_received, bytes_received, datagrams_sent, bytes_sent;
    uint64_t malformed, unknown_submessages, unrouted, unreachable, receive_errors, send_errors, listener_panics;
    uint64_t interface_changes, interface_errors, store_errors;
    /* Room for datagrams that the kernel granted. */
    uint64_t receive_buffer_bytes;
    uint64_t tcp_opened, tcp_closed, tcp_refused, tcp_bad_hellos, tcp_timeouts, tcp_oversized, tcp_dropped;
    uint64_t tcp_unconnected, tcp_connections, tcp_queued_bytes;
    uint64_t shm_records_sent, shm_bytes_sent, shm_records_unsent, shm_logs, shm_log_bytes, shm_short_logs;
    uint64_t shm_records_received, shm_bytes_received, shm_records_lost, shm_malformed, shm_refused;
    uint64_t shm_loans_sent, shm_loan_bytes_sent, shm_loans_received, shm_loans_copied;
} tw_participant_counters;

tw_result tw_writer_get_counters(const tw_writer *writer, tw_writer_counters *counters);
tw_result tw_reader_get_counters(const tw_reader *reader, tw_reader_counters *counters);
tw_result tw_participant_get_counters(const tw_participant *participant, tw_participant_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
