/* Writes or reads the topics of matrix.idl, as matrix.py says. Two values are the same if their payloads are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwire.h>

#include "matrix.h"

#define COUNT 4
/* The instance that is disposed of, of topics of which one is. */
#define DISPOSED 1
#define PATIENCE (10 * INT64_C(1000000000))
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%d: %s; %s\n", __LINE__, #condition, tw_last_error()); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == TW_OK)

static void set_text(char **to, const char *before, int n, const char *after)
{
    char text[40];
    snprintf(text, sizeof text, "%s%d%s", before, n, after);
    CHECK(tw_cdr_set_text(to, text));
}

/* `text` with the digit `n` in the place of its '#'. */
static void set_wide(uint16_t **to, const uint16_t *text, int n)
{
    uint16_t digits[40];
    size_t at = 0;
    do
        digits[at] = text[at] == u'#' ? (uint16_t)(u'0' + n) : text[at];
    while (text[at++] != 0);
    CHECK(tw_cdr_set_wide_text(to, digits));
}

static void set_level(matrix_Level *of, int n)
{
    of->price = n + 0.25;
    of->size = (uint32_t)n;
}

static void set_point(matrix_Point *of, int n, int at)
{
    of->x = n + 0.5;
    of->n = at;
}

static void set_eighths(tw_double_seq *of, int n)
{
    CHECK(tw_double_seq_resize(of, (uint32_t)n));
    for (int i = 0; i < n; i++)
        of->buffer[i] = i / 8.0;
}

static void set_letters(tw_string_seq *of, int n)
{
    CHECK(tw_string_seq_resize(of, (uint32_t)n));
    for (int i = 0; i < n; i++)
        CHECK(tw_cdr_set_text(&of->buffer[i], "s"));
}

static matrix_Side side(int n)
{
    return n % 2 ? matrix_Side_SELL : matrix_Side_BUY;
}

static void set_choice(matrix_Choice *of, int n)
{
    CHECK(matrix_Choice_select(of, n % 3));
    switch (n % 3) {
    case 0: set_level(&of->_u.level, n); break;
    case 1: of->_u.price = n + 0.5; break;
    default: set_text(&of->_u.text, "t", n, ""); break;
    }
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
    if (n > 0)
        set_text(&of->free, "text ", n, " é€📈");
    set_text(&of->most8, "m", n, "");
}

static void set_Wides(matrix_Wides *of, int n)
{
    set_wide(&of->wide, u"wide # é€📈", n);
    set_wide(&of->wide8, u"w#", n);
    of->letter = (uint16_t)(0x20ac + n);
    CHECK(tw_wstring_seq_resize(&of->more, (uint32_t)n));
    for (int i = 0; i < n; i++)
        set_wide(&of->more.buffer[i], u"é", 0);
}

static void set_Named(matrix_Named *of, int n)
{
    of->side = side(n);
    of->state = n % 2 ? matrix_State_OPENED : matrix_State_CLOSED;
    of->flags = (matrix_Flags)((n & 1 ? matrix_Flags_OPEN : 0) | (n & 2 ? matrix_Flags_HALTED : 0));
    CHECK(tw_int32_seq_resize(&of->sizes, (uint32_t)n));
    for (int i = 0; i < n; i++)
        of->sizes.buffer[i] = i;
    CHECK(tw_cdr_set_text(&of->venue, matrix_VENUE));
    of->tick = matrix_TICK * n;
    of->depth = matrix_DEPTH;
    of->mark = matrix_MARK;
    of->live = matrix_LIVE;
}

static void set_Masks(matrix_Masks *of, int n)
{
    of->narrow = (matrix_Narrow)((n & 1 ? matrix_Narrow_LOW16 : 0) | (n & 2 ? matrix_Narrow_HIGH16 : 0));
    of->usual = (n & 1 ? matrix_Usual_LOW32 : 0) | (n & 2 ? matrix_Usual_HIGH32 : 0);
    of->broad = (n & 1 ? matrix_Broad_LOW64 : 0) | (n == 3 ? matrix_Broad_MIDDLE64 : 0);
    of->broad |= n & 2 ? matrix_Broad_HIGH64 : 0;
    CHECK(matrix_Narrow_seq_resize(&of->more, (uint32_t)n));
    for (int i = 0; i < n; i++)
        of->more.buffer[i] = of->narrow;
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
    CHECK(tw_int32_3_seq_resize(&of->more, (uint32_t)n) && tw_int32_2x3_seq_resize(&of->grids, (uint32_t)n));
    for (int i = 0; i < n; i++) {
        set_row(of->more.buffer[i], n, i);
        set_grid(of->grids.buffer[i], i);
    }
}

static void set_Bitsets(matrix_Bitsets *of, int n)
{
    matrix_Bits_set_low(&of->bits, (uint8_t)n);
    matrix_Bits_set_flag(&of->bits, n % 2 == 1);
    matrix_Bits_set_below_zero(&of->bits, (int16_t)-n);
    CHECK(matrix_Bits_seq_resize(&of->more, (uint32_t)n));
    for (int i = 0; i < n; i++)
        of->more.buffer[i] = of->bits;
}

static void set_Choices(matrix_Choices *of, int n)
{
    set_choice(&of->choice, n);
    CHECK(matrix_BySide_select(&of->by_side, side(n)));
    if (n % 2)
        set_letters(&of->by_side._u.texts, n);
    else
        of->by_side._u.number = n * 10;
    CHECK(matrix_Choice_seq_resize(&of->choices, (uint32_t)n));
    for (int i = 0; i < n; i++)
        set_choice(&of->choices.buffer[i], i);
}

static void set_Letters(matrix_Letters *of, int n)
{
    CHECK(matrix_ByLetter_select(&of->by_letter, n == 1 ? 'b' : n == 2 ? '\0' : 'a'));
    if (n == 1)
        of->by_letter._u.large = INT64_C(1) << 40;
    else if (n != 2)
        of->by_letter._u.small = (int16_t)n;
}

static void set_Mutables(matrix_Mutables *of, int n)
{
    CHECK(matrix_ByBool_select(&of->by_bool, n % 2 == 1));
    if (n % 2)
        set_point(&of->by_bool._u.point, n, n);
    else
        of->by_bool._u.plain = (uint8_t)n;
}

static void set_Collections(matrix_Collections *of, int n)
{
    uint32_t length = (uint32_t)n;
    set_eighths(&of->numbers, n);
    CHECK(matrix_Level_seq_resize(&of->levels, length) && tw_string_seq_seq_resize(&of->texts, length));
    CHECK(tw_boolean_seq_resize(&of->truths, length) && matrix_Side_seq_resize(&of->sides, length));
    CHECK(tw_octet_seq_resize(&of->blob, length) && matrix_Point_seq_resize(&of->spread[0], length));
    for (int i = 0; i < n; i++) {
        set_level(&of->levels.buffer[i], i);
        set_letters(&of->texts.buffer[i], i);
        of->truths.buffer[i] = i % 2 == 1;
        of->sides.buffer[i] = side(i);
        of->blob.buffer[i] = (uint8_t)i;
        set_point(&of->spread[0].buffer[i], i, i);
    }
    for (int i = 0; i < 4; i++)
        of->digest[i] = (uint8_t)(n + i);
    set_grid(of->grid, n);
    for (int i = 0; i < 2; i++)
        set_point(&of->points[i], n, i);
    set_text(&of->names[0], "n", n, "");
}

static void set_Maps(matrix_Maps *of, int n)
{
    uint32_t length = (uint32_t)n;
    CHECK(tw_string_tw_int32_map_resize(&of->by_name, length));
    CHECK(tw_int32_matrix_Level_map_resize(&of->by_number, length));
    CHECK(tw_int16_tw_double_seq_map_resize(&of->bounded, length));
    CHECK(matrix_Side_tw_boolean_map_resize(&of->by_side, length < 2 ? length : 2));
    CHECK(tw_octet_tw_octet_map_resize(&of->octets, length));
    CHECK(tw_string_tw_octet_seq_map_resize(&of->blobs, length));
    for (int i = 0; i < n; i++) {
        set_text(&of->by_name.buffer[i].key, "k", i, "");
        of->by_name.buffer[i].value = i;
        of->by_number.buffer[i].key = i - 1;
        set_level(&of->by_number.buffer[i].value, i);
        of->bounded.buffer[i].key = (int16_t)i;
        set_eighths(&of->bounded.buffer[i].value, i);
        of->octets.buffer[i].key = (uint8_t)i;
        of->octets.buffer[i].value = (uint8_t)(200 + i);
        set_text(&of->blobs.buffer[i].key, "k", i, "");
        CHECK(tw_octet_seq_resize(&of->blobs.buffer[i].value, (uint32_t)i));
        for (int j = 0; j < i; j++)
            of->blobs.buffer[i].value.buffer[j] = (uint8_t)j;
    }
    for (uint32_t i = 0; i < of->by_side.length; i++) {
        of->by_side.buffer[i].key = side((int)i);
        of->by_side.buffer[i].value = i == 0;
    }
}

static void set_Codes(matrix_Codes *of, int n)
{
    CHECK(matrix_ByOctet_select(&of->by_octet, n % 2 == 1));
    if (n % 2)
        of->by_octet._u.number = -n;
    else
        of->by_octet._u.plain = (uint8_t)n;
    CHECK(matrix_ByWide_select(&of->by_wide, n == 2 ? u'\0' : u'€'));
    if (n != 2)
        of->by_wide._u.price = n + 0.5;
}

static void set_Absent(matrix_Absent *of, int n)
{
    set_level(of->apart, n);
    if (n % 2 == 0)
        return;
    of->number = (int32_t *)malloc(sizeof *of->number);
    of->level = (matrix_Level *)malloc(sizeof *of->level);
    of->far = (matrix_Level *)malloc(sizeof *of->far);
    of->numbers = (tw_double_seq *)calloc(1, sizeof *of->numbers);
    CHECK(of->number && of->level && of->far && of->numbers);
    *of->number = n;
    CHECK(tw_cdr_set_text(&of->text, ""));
    set_level(of->level, n);
    set_eighths(of->numbers, n);
    set_level(of->far, n);
    of->seven = n;
    CHECK(tw_cdr_set_text(&of->note, "x"));
}

static void set_Derived(matrix_Derived *of, int n)
{
    set_text(&of->symbol, "S", n, "");
    of->venue = n;
    of->price = n + 0.25;
}

static void set_DerivedMutable(matrix_DerivedMutable *of, int n)
{
    set_text(&of->symbol, "S", n, "");
    of->venue = n;
    of->price = n + 0.25;
    if (n % 2)
        CHECK(tw_cdr_set_text(&of->note, "note"));
}

static void set_DerivedFinal(matrix_DerivedFinal *of, int n)
{
    set_text(&of->symbol, "S", n, "");
    of->venue = n;
    of->price = n + 0.25;
}

static void set_Keyed(matrix_Keyed *of, int n)
{
    set_text(&of->symbol, "S", n, "");
    of->place.venue = n;
    CHECK(tw_cdr_set_text(&of->place.note, "note"));
    of->side = side(n);
    of->price = n + 0.25;
}

static void set_Flowing(matrix_Flowing *of, int n)
{
    of->number = n;
    of->price = n + 0.25;
    set_text(&of->text, "t", n, "");
    set_level(&of->level, n);
    CHECK(matrix_Loose_seq_resize(&of->loose, (uint32_t)n) && tw_int16_seq_resize(&of->shorts, (uint32_t)n));
    for (int i = 0; i < n; i++) {
        of->loose.buffer[i].a = (uint8_t)i;
        if (i % 2)
            CHECK(tw_cdr_set_text(&of->loose.buffer[i].s, "s"));
        of->shorts.buffer[i] = (int16_t)-i;
    }
    if (n % 2) {
        of->point = (matrix_Point *)malloc(sizeof *of->point);
        CHECK(of->point);
        set_point(of->point, n, n);
    }
    set_choice(&of->choice, n);
}

static void set_Hashed(matrix_Hashed *of, int n)
{
    of->price = n;
    set_text(&of->text, "t", n, "");
}

static void set_Sides(matrix_Sides *of, int n)
{
    CHECK(matrix_Sided_select(&of->sided, side(n)));
    if (n % 2)
        set_text(&of->sided._u.text, "t", n, "");
    else
        of->sided._u.number = n;
    of->price = n + 0.25;
}

static void set_Words(matrix_Words *of, int n)
{
    of->class_ = n;
    set_text(&of->type, "t", n, "");
    of->self = n + 0.5;
    of->from = n % 2 ? matrix_pass_raise : matrix_pass_is;
    of->register_.def = -n;
    CHECK(matrix_except_select(&of->namespace_, n % 2 ? 2 : 1));
    if (n % 2)
        set_text(&of->namespace_._u.yield, "y", n, "");
    else
        of->namespace_._u.finally = n;
}

static void set_Tree(matrix_Tree *of, int n)
{
    of->value = n;
    CHECK(matrix_Tree_seq_resize(&of->children, (uint32_t)n));
    for (int i = 0; i < n; i++)
        set_Tree(&of->children.buffer[i], i);
    if (n % 2) {
        of->next = (matrix_Tree *)malloc(sizeof *of->next);
        CHECK(of->next && matrix_Tree_init(of->next));
        set_Tree(of->next, n - 1);
    }
}

/* What is done with each topic: the payload of sample `n` or of its key, and that of what a payload is read as. */
typedef struct topic {
    const char *name;
    const char *idl;
    const char *type_name;
    void (*make)(int n, tw_cdr_version version, int key, tw_cdr_writer *w);
    int (*again)(const void *payload, size_t size, tw_cdr_writer *w);
} topic;

#define TOPIC(T) \
    static void make_##T(int n, tw_cdr_version version, int key, tw_cdr_writer *w) \
    { \
        matrix_##T of; \
        CHECK(matrix_##T##_init(&of)); \
        set_##T(&of, n); \
        if (key) \
            CHECK(matrix_##T##_key_to_payload(&of, version, w) == TW_CDR_OK); \
        else \
            CHECK(matrix_##T##_to_payload(&of, version, w) == TW_CDR_OK); \
        matrix_##T##_free(&of); \
    } \
    static int again_##T(const void *payload, size_t size, tw_cdr_writer *w) \
    { \
        matrix_##T of; \
        int done; \
        CHECK(matrix_##T##_init(&of)); \
        done = matrix_##T##_from_payload(&of, payload, size) == TW_CDR_OK && \
               matrix_##T##_to_payload(&of, TW_CDR_XCDR2, w) == TW_CDR_OK; \
        matrix_##T##_free(&of); \
        return done; \
    }
TOPIC(Numbers)
TOPIC(Texts)
TOPIC(Wides)
TOPIC(Named)
TOPIC(Choices)
TOPIC(Letters)
TOPIC(Mutables)
TOPIC(Collections)
TOPIC(Maps)
TOPIC(Codes)
TOPIC(Absent)
TOPIC(Derived)
TOPIC(Keyed)
TOPIC(Flowing)
TOPIC(Hashed)
TOPIC(Tree)
TOPIC(Bitsets)
TOPIC(Masks)
TOPIC(Aliases)
TOPIC(DerivedMutable)
TOPIC(DerivedFinal)
TOPIC(Sides)
TOPIC(Words)

#define ROW(T) {#T, matrix_##T##_idl, matrix_##T##_type_name, make_##T, again_##T}
static const topic TOPICS[] = {ROW(Numbers), ROW(Texts),   ROW(Wides), ROW(Named),   ROW(Choices),  ROW(Letters),
                               ROW(Mutables), ROW(Collections), ROW(Maps), ROW(Codes), ROW(Absent), ROW(Derived),
                               ROW(Keyed),   ROW(Flowing), ROW(Hashed), ROW(Tree),   ROW(Bitsets),  ROW(Masks),
                               ROW(Aliases), ROW(DerivedMutable), ROW(DerivedFinal), ROW(Sides), ROW(Words)};
#define TOPIC_COUNT (sizeof TOPICS / sizeof *TOPICS)
#define MOST_WRITERS 8

/* Whether a list with commas has a name. */
static int has(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return 1;
    return 0;
}

/* Whether an instance of the topic is disposed of. */
static int ends(const topic *of)
{
    return strcmp(of->name, "Keyed") == 0 || strcmp(of->name, "Sides") == 0;
}

static tw_topic *made(tw_participant *participant, const topic *of, const char *other)
{
    tw_type *type;
    tw_topic *topic;
    char name[64];
    snprintf(name, sizeof name, "%s_%s", of->name, other);
    OK(tw_type_from_idl(of->idl, of->type_name, NULL, &type));
    OK(tw_topic_create(participant, name, type, &topic));
    OK(tw_delete(type));
    return topic;
}

static void write_all(tw_participant *participant, const tw_qos *qos, const char *topics, const char *own, int readers,
                      tw_cdr_version version)
{
    tw_writer *writers[TOPIC_COUNT];
    tw_cdr_writer w = TW_CDR_WRITER;
    for (size_t at = 0; at < TOPIC_COUNT; at++)
        if (has(topics, TOPICS[at].name))
            OK(tw_writer_create(participant, made(participant, &TOPICS[at], own), qos, &writers[at]));
    for (size_t at = 0; at < TOPIC_COUNT; at++) {
        const topic *of = &TOPICS[at];
        if (!has(topics, of->name))
            continue;
        OK(tw_writer_wait_for_matched(writers[at], (uint32_t)readers, PATIENCE));
        for (int n = 0; n < COUNT; n++) {
            of->make(n, version, 0, &w);
            OK(tw_writer_write(writers[at], w.data, w.size, NULL));
        }
        if (ends(of)) {
            of->make(DISPOSED, version, 1, &w);
            OK(tw_writer_dispose(writers[at], w.data, w.size, TW_KEY, NULL, NULL));
        }
    }
    for (size_t at = 0; at < TOPIC_COUNT; at++)
        if (has(topics, TOPICS[at].name))
            OK(tw_writer_wait_for_acknowledgments(writers[at], PATIENCE));
    tw_cdr_writer_free(&w);
    getchar();
}

/* Who has waited in vain once looks at what is there, and says how much that is. */
static int64_t patience = PATIENCE;

static void judge(tw_reader *reader, const topic *of, const char *other)
{
    int n = 0, ended = !ends(of);
    char wrong[80] = "ok";
    tw_cdr_writer expected = TW_CDR_WRITER, seen = TW_CDR_WRITER;
    while (n < COUNT || !ended) {
        tw_samples samples;
        if (tw_reader_wait_for_data(reader, patience)) {
            patience = 0;
            snprintf(wrong, sizeof wrong, "%d samples came, the end of an instance: %d", n, ended);
            break;
        }
        OK(tw_reader_take(reader, 0, TW_ANY, NULL, &samples));
        for (size_t at = 0; at < samples.count; at++) {
            const tw_sample *sample = &samples.samples[at];
            if (sample->info.valid_data) {
                of->make(n, TW_CDR_XCDR2, 0, &expected);
                if (!of->again(sample->data, sample->len, &seen) || seen.size != expected.size ||
                    memcmp(seen.data, expected.data, seen.size) != 0)
                    snprintf(wrong, sizeof wrong, "sample %d is not equal", n);
                n++;
            } else if (sample->info.states & TW_DISPOSED) {
                tw_instance instance;
                ended = 1;
                of->make(DISPOSED, TW_CDR_XCDR2, 1, &expected);
                if (tw_reader_lookup_instance(reader, expected.data, expected.size, TW_KEY, &instance) ||
                    memcmp(&instance, &sample->info.instance, sizeof instance) != 0)
                    snprintf(wrong, sizeof wrong, "another instance ended");
            }
        }
        OK(tw_samples_return(&samples));
    }
    tw_cdr_writer_free(&expected);
    tw_cdr_writer_free(&seen);
    printf("%s %s %s\n", of->name, other, wrong);
    fflush(stdout);
}

static void read_all(tw_participant *participant, const tw_qos *qos, const char *topics, char *names)
{
    const char *writers[MOST_WRITERS];
    tw_reader *readers[TOPIC_COUNT][MOST_WRITERS];
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
                    OK(tw_reader_create(participant, made(participant, of, writers[other]), qos, &readers[at][other]));
            }
}

int main(int argc, char **argv)
{
    tw_participant *participant;
    tw_qos *qos;
    OK(tw_qos_load(NULL, NULL, &qos));
    OK(tw_participant_create(TW_DOMAIN_OF_QOS, qos, &participant));
    if (argc == 6 && strcmp(argv[1], "write") == 0)
        write_all(participant, qos, argv[2], argv[3], atoi(argv[4]), strcmp(argv[5], "xcdr1") == 0 ? TW_CDR_XCDR1 : TW_CDR_XCDR2);
    else if (argc == 4 && strcmp(argv[1], "read") == 0)
        read_all(participant, qos, argv[2], argv[3]);
    else
        CHECK(!"usage: write TOPICS NAME READERS REPRESENTATION | read TOPICS NAMES");
    OK(tw_delete(participant));
    OK(tw_delete(qos));
    return 0;
}
