/* Writes or reads those topics of matrix.idl that Cyclone DDS 0.10 has in C, as matrix.py says. Two values are the same if
 * they are written as the same bytes. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_cdrstream.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

#define COUNT 4
/* The instance of Keyed that is disposed of. */
#define DISPOSED 1
#define PATIENCE DDS_SECS(10)
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* Memory of a sequence: dds_sample_free() returns it. */
#define RESIZE(seq, length) \
    do { \
        (seq)._buffer = dds_alloc((length) * sizeof *(seq)._buffer + 1); \
        (seq)._length = (seq)._maximum = (uint32_t)(length); \
        (seq)._release = true; \
    } while (0)

static char *text(const char *before, int n, const char *after)
{
    char made[40];
    snprintf(made, sizeof made, "%s%d%s", before, n, after);
    return dds_string_dup(made);
}

static matrix_Level level(int n)
{
    return (matrix_Level){.price = n + 0.25, .size = (uint32_t)n};
}

static matrix_Point point(int n, int at)
{
    return (matrix_Point){.x = n + 0.5, .n = at};
}

static matrix_Level *far_level(int n)
{
    matrix_Level *made = dds_alloc(sizeof *made);
    *made = level(n);
    return made;
}

static matrix_Side side(int n)
{
    return n % 2 ? matrix_SELL : matrix_BUY;
}

static matrix_Choice choice(int n)
{
    matrix_Choice of = {._d = n % 3};
    switch (n % 3) {
    case 0: of._u.level = level(n); break;
    case 1: of._u.price = n + 0.5; break;
    default: of._u.text = text("t", n, ""); break;
    }
    return of;
}

static dds_sequence_string letters(int n)
{
    dds_sequence_string of;
    RESIZE(of, n);
    for (int i = 0; i < n; i++)
        of._buffer[i] = dds_string_dup("s");
    return of;
}

static dds_sequence_double eighths(int n)
{
    dds_sequence_double of;
    RESIZE(of, n);
    for (int i = 0; i < n; i++)
        of._buffer[i] = i / 8.0;
    return of;
}

static void set_Numbers(matrix_Numbers *of, int n)
{
    of->truth = n % 2 == 1;
    of->eight_bits = (uint8_t)(n + 1);
    of->letter = (char)('a' + n);
    of->i8 = (int8_t)-n;
    of->u8 = (uint8_t)(200 + n);
    of->i16 = (int16_t)(-1000 * n);
    of->u16 = (uint16_t)(60000 + n);
    of->i32 = -100000 * n;
    of->u32 = UINT32_C(4000000000) + (uint32_t)n;
    of->i64 = -(INT64_C(1) << 40) * n;
    of->u64 = (UINT64_C(1) << 63) + (uint64_t)n;
    of->f32 = (float)n + 0.5f;
    of->f64 = n * 1e100;
}

static void set_Texts(matrix_Texts *of, int n)
{
    of->free = n > 0 ? text("text ", n, " é€📈") : dds_string_dup("");
    snprintf(of->most8, sizeof of->most8, "m%d", n);
}

static void set_Named(matrix_Named *of, int n)
{
    of->side = side(n);
    of->state = n % 2 ? matrix_OPENED : matrix_CLOSED;
    of->flags = (matrix_Flags)((n & 1 ? matrix_OPEN : 0) | (n & 2 ? matrix_HALTED : 0));
    RESIZE(of->sizes, n);
    for (int i = 0; i < n; i++)
        of->sizes._buffer[i] = i;
    of->venue = dds_string_dup(matrix_VENUE);
    of->tick = matrix_TICK * n;
    of->depth = matrix_DEPTH;
    of->mark = matrix_MARK;
    of->live = matrix_LIVE;
}

static void set_Masks(matrix_Masks *of, int n)
{
    of->narrow = (matrix_Narrow)((n & 1 ? matrix_LOW16 : 0) | (n & 2 ? matrix_HIGH16 : 0));
    of->usual = (matrix_Usual)((n & 1 ? matrix_LOW32 : 0) | (n & 2 ? matrix_HIGH32 : 0));
    of->broad = (n & 1 ? matrix_LOW64 : 0) | (n == 3 ? matrix_MIDDLE64 : 0) | (n & 2 ? matrix_HIGH64 : 0);
    RESIZE(of->more, n);
    for (int i = 0; i < n; i++)
        of->more._buffer[i] = of->narrow;
}

static void set_row(matrix_Row row, int n, int i)
{
    for (int j = 0; j < 3; j++)
        row[j] = n * 100 + i * 10 + j;
}

static void set_grid(matrix_Grid grid, int n)
{
    for (int i = 0; i < 2; i++)
        set_row(grid[i], n, i);
}

static void set_Aliases(matrix_Aliases *of, int n)
{
    set_row(of->row, n, 0);
    set_grid(of->grid, n);
    set_row(of->rows[0], n, 2);
    set_row(of->rows[1], n, 3);
    RESIZE(of->more, n);
    RESIZE(of->grids, n);
    for (int i = 0; i < n; i++) {
        set_row(of->more._buffer[i], n, i);
        set_grid(of->grids._buffer[i], i);
    }
}

static void set_Choices(matrix_Choices *of, int n)
{
    of->choice = choice(n);
    of->by_side._d = side(n);
    if (n % 2)
        of->by_side._u.texts = letters(n);
    else
        of->by_side._u.number = n * 10;
    RESIZE(of->choices, n);
    for (int i = 0; i < n; i++)
        of->choices._buffer[i] = choice(i);
}

static void set_Letters(matrix_Letters *of, int n)
{
    of->by_letter._d = n == 1 ? 'b' : n == 2 ? '\0' : 'a';
    if (n == 1)
        of->by_letter._u.large = INT64_C(1) << 40;
    else if (n != 2)
        of->by_letter._u.small = (int16_t)n;
}

static void set_Collections(matrix_Collections *of, int n)
{
    of->numbers = eighths(n);
    RESIZE(of->levels, n);
    RESIZE(of->texts, n);
    RESIZE(of->truths, n);
    RESIZE(of->sides, n);
    RESIZE(of->blob, n);
    RESIZE(of->spread[0], n);
    for (int i = 0; i < n; i++) {
        of->levels._buffer[i] = level(i);
        of->texts._buffer[i] = letters(i);
        of->truths._buffer[i] = i % 2 == 1;
        of->sides._buffer[i] = side(i);
        of->blob._buffer[i] = (uint8_t)i;
        of->spread[0]._buffer[i] = point(i, i);
    }
    for (int i = 0; i < 4; i++)
        of->digest[i] = (uint8_t)(n + i);
    set_grid(of->grid, n);
    for (int i = 0; i < 2; i++)
        of->points[i] = point(n, i);
    snprintf(of->names[0], sizeof of->names[0], "n%d", n);
}

static void set_Absent(matrix_Absent *of, int n)
{
    of->apart = far_level(n);
    of->seven = n % 2 ? n : 7;
    of->note = dds_string_dup(n % 2 ? "x" : "none");
    if (n % 2 == 0)
        return;
    of->number = dds_alloc(sizeof *of->number);
    *of->number = n;
    of->text = dds_string_dup("");
    of->level = far_level(n);
    of->numbers = dds_alloc(sizeof *of->numbers);
    *of->numbers = eighths(n);
    of->far = far_level(n);
}

static void set_Derived(matrix_Derived *of, int n)
{
    snprintf(of->parent.symbol, sizeof of->parent.symbol, "S%d", n);
    of->parent.venue = n;
    of->price = n + 0.25;
}

static void set_DerivedMutable(matrix_DerivedMutable *of, int n)
{
    snprintf(of->parent.symbol, sizeof of->parent.symbol, "S%d", n);
    of->parent.venue = n;
    of->price = n + 0.25;
    of->note = n % 2 ? dds_string_dup("note") : NULL;
}

static void set_DerivedFinal(matrix_DerivedFinal *of, int n)
{
    snprintf(of->parent.symbol, sizeof of->parent.symbol, "S%d", n);
    of->parent.venue = n;
    of->price = n + 0.25;
}

static void set_Keyed(matrix_Keyed *of, int n)
{
    of->symbol = text("S", n, "");
    of->place.venue = n;
    of->place.note = dds_string_dup("note");
    of->side = side(n);
    of->price = n + 0.25;
}

static void set_Flowing(matrix_Flowing *of, int n)
{
    of->number = n;
    of->price = n + 0.25;
    of->text = text("t", n, "");
    of->level = level(n);
    RESIZE(of->loose, n);
    RESIZE(of->shorts, n);
    for (int i = 0; i < n; i++) {
        of->loose._buffer[i].a = (uint8_t)i;
        of->loose._buffer[i].s = i % 2 ? dds_string_dup("s") : NULL;
        of->shorts._buffer[i] = (int16_t)-i;
    }
    if (n % 2) {
        of->point = dds_alloc(sizeof *of->point);
        *of->point = point(n, n);
    }
    of->choice = choice(n);
}

static void set_Hashed(matrix_Hashed *of, int n)
{
    of->price = n;
    of->text = text("t", n, "");
}

typedef struct topic {
    const char *name;
    const dds_topic_descriptor_t *descriptor;
    void *(*make)(int n);
} topic;

#define TOPIC(T) \
    static void *make_##T(int n) \
    { \
        matrix_##T *of = dds_alloc(sizeof *of); \
        memset(of, 0, sizeof *of); \
        set_##T(of, n); \
        return of; \
    }
TOPIC(Numbers)
TOPIC(Texts)
TOPIC(Named)
TOPIC(Choices)
TOPIC(Letters)
TOPIC(Collections)
TOPIC(Absent)
TOPIC(Derived)
TOPIC(Keyed)
TOPIC(Flowing)
TOPIC(Hashed)
TOPIC(Masks)
TOPIC(Aliases)
TOPIC(DerivedMutable)
TOPIC(DerivedFinal)

#define ROW(T) {#T, &matrix_##T##_desc, make_##T}
static const topic TOPICS[] = {ROW(Numbers), ROW(Texts),   ROW(Named), ROW(Choices), ROW(Letters), ROW(Collections),
                               ROW(Absent),  ROW(Derived), ROW(Keyed), ROW(Flowing), ROW(Hashed), ROW(Masks), ROW(Aliases),
                               ROW(DerivedMutable), ROW(DerivedFinal)};
#define TOPIC_COUNT (sizeof TOPICS / sizeof *TOPICS)
#define MOST_WRITERS 8

static dds_entity_t made(dds_entity_t entity)
{
    if (entity < 0)
        fprintf(stderr, "%s\n", dds_strretcode(-entity));
    CHECK(entity > 0);
    return entity;
}

static dds_entity_t topic_of(dds_entity_t participant, const topic *of, const char *other)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", of->name, other);
    return made(dds_create_topic(participant, of->descriptor, name, NULL, NULL));
}

/* Whether a list with commas has a name. */
static bool has(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

static bool is_keyed(const topic *of)
{
    return strcmp(of->name, "Keyed") == 0;
}

static void write_all(dds_entity_t participant, const dds_qos_t *qos, const char *topics, const char *own, uint32_t readers)
{
    dds_entity_t writers[TOPIC_COUNT] = {0};
    for (size_t at = 0; at < TOPIC_COUNT; at++)
        if (has(topics, TOPICS[at].name))
            writers[at] = made(dds_create_writer(participant, topic_of(participant, &TOPICS[at], own), qos, NULL));
    for (size_t at = 0; at < TOPIC_COUNT; at++) {
        dds_publication_matched_status_t matched = {0};
        if (writers[at] == 0)
            continue;
        for (int turn = 0; matched.current_count < readers && turn < 1000; turn++) {
            CHECK(dds_get_publication_matched_status(writers[at], &matched) == 0);
            dds_sleepfor(DDS_MSECS(10));
        }
        CHECK(matched.current_count >= readers);
        for (int n = 0; n < COUNT; n++) {
            void *sample = TOPICS[at].make(n);
            CHECK(dds_write(writers[at], sample) == 0);
            dds_sample_free(sample, TOPICS[at].descriptor, DDS_FREE_ALL);
        }
        if (is_keyed(&TOPICS[at])) {
            void *sample = TOPICS[at].make(DISPOSED);
            CHECK(dds_dispose(writers[at], sample) == 0);
            dds_sample_free(sample, TOPICS[at].descriptor, DDS_FREE_ALL);
        }
    }
    getchar();
}

/* Whether what came is, once decoded, written as the same bytes as another sample. */
static bool same(const topic *of, const struct ddsi_serdata *came, const void *other)
{
    dds_ostream_t bytes[2];
    void *one = dds_alloc(of->descriptor->m_size);
    const void *samples[] = {one, other};
    bool equal;
    memset(one, 0, of->descriptor->m_size);
    CHECK(ddsi_serdata_to_sample(came, one, NULL, NULL));
    for (int at = 0; at < 2; at++) {
        dds_ostream_init(&bytes[at], 64, 2);
        CHECK(dds_stream_write_sample(&bytes[at], samples[at], (const struct ddsi_sertype_default *)came->type));
    }
    dds_sample_free(one, of->descriptor, DDS_FREE_ALL);
    equal = bytes[0].m_index == bytes[1].m_index && memcmp(bytes[0].m_buffer, bytes[1].m_buffer, bytes[0].m_index) == 0;
    dds_ostream_fini(&bytes[0]);
    dds_ostream_fini(&bytes[1]);
    return equal;
}

/* Who has waited in vain once looks at what is there, and says how much that is. */
static dds_duration_t patience = PATIENCE;

static void judge(dds_entity_t reader, const topic *of, const char *other)
{
    int n = 0;
    bool ended = !is_keyed(of);
    char wrong[80] = "ok";
    dds_time_t deadline = dds_time() + patience;
    while (n < COUNT || !ended) {
        struct ddsi_serdata *samples[100] = {0};
        dds_sample_info_t infos[100];
        int count = dds_takecdr(reader, samples, 100, infos, DDS_ANY_STATE);
        CHECK(count >= 0);
        if (count == 0 && dds_time() > deadline) {
            patience = 0;
            snprintf(wrong, sizeof wrong, "%d samples came, the end of an instance: %d", n, ended);
            break;
        }
        for (int at = 0; at < count; at++) {
            void *expected = of->make(infos[at].valid_data ? n : DISPOSED);
            if (infos[at].valid_data) {
                if (!same(of, samples[at], expected))
                    snprintf(wrong, sizeof wrong, "sample %d is not equal", n);
                n++;
            }
            /* The last sample of an instance tells of its end, if it had not been taken before. */
            if (infos[at].instance_state == DDS_NOT_ALIVE_DISPOSED_INSTANCE_STATE) {
                ended = true;
                if (dds_lookup_instance(reader, expected) != infos[at].instance_handle && !infos[at].valid_data)
                    snprintf(wrong, sizeof wrong, "another instance ended");
            }
            dds_sample_free(expected, of->descriptor, DDS_FREE_ALL);
            ddsi_serdata_unref(samples[at]);
        }
        dds_sleepfor(DDS_MSECS(10));
    }
    printf("%s %s %s\n", of->name, other, wrong);
    fflush(stdout);
}

static void read_all(dds_entity_t participant, const dds_qos_t *qos, const char *topics, char *names)
{
    const char *writers[MOST_WRITERS];
    dds_entity_t readers[TOPIC_COUNT][MOST_WRITERS];
    size_t count = 0;
    for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        CHECK(count < MOST_WRITERS);
        writers[count++] = name;
    }
    for (int judging = 0; judging < 2; judging++)
        for (size_t at = 0; at < TOPIC_COUNT; at++)
            for (size_t other = 0; other < count; other++) {
                const topic *of = &TOPICS[at];
                if (!has(topics, of->name))
                    continue;
                if (judging)
                    judge(readers[at][other], of, writers[other]);
                else
                    readers[at][other] =
                        made(dds_create_reader(participant, topic_of(participant, of, writers[other]), qos, NULL));
            }
}

int main(int argc, char **argv)
{
    dds_entity_t participant = made(dds_create_participant(0, NULL, NULL));
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, PATIENCE);
    dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
    if (argc == 6 && strcmp(argv[1], "write") == 0)
        write_all(participant, qos, argv[2], argv[3], (uint32_t)atoi(argv[4]));
    else if (argc == 4 && strcmp(argv[1], "read") == 0)
        read_all(participant, qos, argv[2], argv[3]);
    else
        CHECK(!"usage: write TOPICS NAME READERS REPRESENTATION | read TOPICS NAMES");
    dds_delete_qos(qos);
    dds_delete(participant);
    return 0;
}
