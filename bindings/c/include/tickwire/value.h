/*
 * tickwire/value.h: what structs are put together from: readers and writers of a payload, numbers, strings, and sequences of
 * these. For code that `tickwire idl gen` makes, by tickwire/cdr.h.
 */
#ifndef TICKWIRE_VALUE_H
#define TICKWIRE_VALUE_H

#include <tickwire/payload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that are inlined at each member, and those that none of them is made longer by: compilers cannot know. */
#ifdef __GNUC__
#define TW_CDR_HOT static inline __attribute__((always_inline))
#define TW_CDR_APART static __attribute__((noinline, unused))
#else
#define TW_CDR_HOT static inline
#define TW_CDR_APART static inline
#endif

/** Takes bytes of a payload from the front. */
typedef struct tw_cdr_reader {
    /** The payload without its first four bytes, which tell the encoding. */
    const uint8_t *bytes;
    /** Bytes that were read. */
    size_t position;
    /** The end of the innermost struct, sequence or member that told its length. */
    size_t limit;
    /** Where alignment counts from. */
    size_t origin;
    /** Memory that may still be taken. */
    size_t allowance;
    /** The largest alignment of this version. */
    size_t max_align;
    /** After a failure, the innermost member concerned; else NULL. */
    const char *member;
    /** The first failure. */
    tw_cdr_status status;
    tw_cdr_version version;
    /** Whether numbers are in the other byte order than this machine's. */
    bool swap;
    /** Structs that are entered. */
    int depth;
    /** Members that are tried, within each other. */
    int tries;
    /** Whether the innermost of them has a value that its type cannot hold. */
    bool failed;
} tw_cdr_reader;

/** A struct, sequence or array that is being read. */
typedef struct tw_cdr_scope {
    size_t outer;
    bool delimited;
    /** Whether missing members at the end are a shorter version of the type, and no failure. */
    bool may_end;
} tw_cdr_scope;

/** A member with a header that is being read. */
typedef struct tw_cdr_member {
    uint32_t id;
    bool must_understand;
    bool delimited;
    size_t outer;
    size_t origin;
} tw_cdr_member;

/** Where a length is to be written, once it is known. */
typedef struct tw_cdr_mark {
    size_t at;
    size_t origin;
    bool delimited;
} tw_cdr_mark;

enum {
    TW_CDR_MAX_DEPTH = 65,
    TW_CDR_MEMORY_PER_BYTE = 256,
    TW_CDR_MEMORY_AT_LEAST = 65536,
    TW_CDR_LIST_EXTENDED = 0x3f01,
    TW_CDR_LIST_END = 0x3f02,
    TW_CDR_LIST_MUST_UNDERSTAND = 0x4000
};

static inline bool tw_cdr_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

static inline uint8_t tw_cdr_swap8(uint8_t bits)
{
    return bits;
}

static inline uint16_t tw_cdr_swap16(uint16_t bits)
{
    return (uint16_t)(bits << 8 | bits >> 8);
}

static inline uint32_t tw_cdr_swap32(uint32_t bits)
{
    bits = (bits & 0x00ff00ffu) << 8 | (bits >> 8 & 0x00ff00ffu);
    return bits << 16 | bits >> 16;
}

static inline uint64_t tw_cdr_swap64(uint64_t bits)
{
    return (uint64_t)tw_cdr_swap32((uint32_t)bits) << 32 | tw_cdr_swap32((uint32_t)(bits >> 32));
}

/** Notes a failure of reading, unless there was one; false, so that it can be returned. */
static inline bool tw_cdr_reject(tw_cdr_reader *r, tw_cdr_status status)
{
    if (r->status == TW_CDR_OK)
        r->status = status;
    return false;
}

/** Begins to try a member (XTypes 1.3 section 7.2.2.7): a value in it that its type cannot hold is noted from here on, and
 * read to its end. What it returns is for tw_cdr_end_try(). */
static inline bool tw_cdr_begin_try(tw_cdr_reader *r)
{
    bool outer = r->failed;
    r->tries++;
    r->failed = false;
    return outer;
}

/** Ends it. True if there was such a value: what was read is to be something else. */
static inline bool tw_cdr_end_try(tw_cdr_reader *r, bool outer)
{
    bool failed = r->failed;
    r->tries--;
    r->failed = outer;
    return failed;
}

/** A value that its type cannot hold has been read: a failure, unless a member is being tried. */
static inline bool tw_cdr_not_constructed(tw_cdr_reader *r, tw_cdr_status status)
{
    if (r->tries == 0)
        return tw_cdr_reject(r, status);
    r->failed = true;
    return true;
}

/** Notes which member could not be read, unless an inner one is noted; false. */
static inline bool tw_cdr_unread(tw_cdr_reader *r, const char *member)
{
    if (r->member == NULL)
        r->member = member;
    return false;
}

/** Notes a failure of writing, unless there was one; false. */
static inline bool tw_cdr_refuse(tw_cdr_writer *w, tw_cdr_status status)
{
    if (w->status == TW_CDR_OK)
        w->status = status;
    return false;
}

/** Notes which member could not be written, unless an inner one is noted; false. */
static inline bool tw_cdr_unwritten(tw_cdr_writer *w, const char *member)
{
    if (w->member == NULL)
        w->member = member;
    return false;
}

/* -- Bytes -- */

static inline bool tw_cdr_grow_writer(tw_cdr_writer *w, size_t more)
{
    size_t capacity = w->capacity < 128 ? 128 : w->capacity;
    uint8_t *grown;
    if (!w->grows)
        return tw_cdr_refuse(w, TW_CDR_NO_ROOM);
    while (capacity - w->size < more) {
        if (capacity > SIZE_MAX / 2)
            return tw_cdr_refuse(w, TW_CDR_NO_MEMORY);
        capacity *= 2;
    }
    grown = (uint8_t *)realloc(w->data, capacity);
    if (grown == NULL)
        return tw_cdr_refuse(w, TW_CDR_NO_MEMORY);
    w->data = grown;
    w->capacity = capacity;
    return true;
}

/** The same as tw_cdr_room() where little room is left, or none. */
TW_CDR_APART uint8_t *tw_cdr_last_room(tw_cdr_writer *w, size_t padding, size_t size)
{
    uint8_t *at;
    if (size > SIZE_MAX - 8) {
        tw_cdr_refuse(w, TW_CDR_NO_MEMORY);
        return NULL;
    }
    if (w->capacity - w->size < padding + size && !tw_cdr_grow_writer(w, padding + size))
        return NULL;
    at = w->data + w->size;
    if (padding > 0)
        memset(at, 0, padding);
    w->size += padding + size;
    return at + padding;
}

/** The next `size` bytes, aligned to 1, 2, 4 or the largest alignment; NULL if there is no memory for them. */
TW_CDR_HOT uint8_t *tw_cdr_room(tw_cdr_writer *w, size_t alignment, size_t size)
{
    size_t align = alignment < 8 ? alignment : w->max_align;
    size_t padding = (w->origin - w->size) & (align - 1);
    size_t room = w->capacity - w->size;
    uint8_t *at;
    if (room < 8 || room - 8 < size)
        return tw_cdr_last_room(w, padding, size);
    at = w->data + w->size;
    /* As one word, however much it is; the value lies over the rest. */
    if (alignment > 1)
        memset(at, 0, 8);
    w->size += padding + size;
    return at + padding;
}

/** The next `size` bytes, aligned; NULL if there are not as many. */
TW_CDR_HOT const uint8_t *tw_cdr_peek(tw_cdr_reader *r, size_t alignment, size_t size)
{
    size_t align = alignment < 8 ? alignment : r->max_align;
    size_t at = r->position + ((r->origin - r->position) & (align - 1));
    if (at > r->limit || r->limit - at < size)
        return NULL;
    r->position = at + size;
    return r->bytes + at;
}

/** The same; it is a failure if there are not as many. */
TW_CDR_HOT const uint8_t *tw_cdr_take(tw_cdr_reader *r, size_t alignment, size_t size)
{
    const uint8_t *at = tw_cdr_peek(r, alignment, size);
    if (at == NULL)
        tw_cdr_reject(r, TW_CDR_END);
    return at;
}

/** Takes `size` bytes of memory from what a payload may occupy: a few bytes can announce a lot. */
static inline bool tw_cdr_charge(tw_cdr_reader *r, size_t count, size_t size)
{
    if (size != 0 && count > r->allowance / size)
        return tw_cdr_reject(r, TW_CDR_TOO_LARGE);
    r->allowance -= count * size;
    return true;
}

/** Memory for a member, all zeros. */
static inline void *tw_cdr_new(tw_cdr_reader *r, size_t size)
{
    void *made = tw_cdr_charge(r, 1, size) ? calloc(1, size) : NULL;
    if (made == NULL)
        tw_cdr_reject(r, TW_CDR_NO_MEMORY);
    return made;
}

/** Memory of a sequence for at least `length` elements, the new ones zeros; NULL if there is none. */
static inline void *tw_cdr_grow(void *buffer, uint32_t *capacity, uint32_t length, size_t size)
{
    uint32_t target = *capacity > UINT32_MAX / 2 ? UINT32_MAX : *capacity * 2;
    char *grown;
    if (target < length)
        target = length;
    if (target > SIZE_MAX / size)
        return NULL;
    grown = (char *)realloc(buffer, target * size);
    if (grown == NULL)
        return NULL;
    memset(grown + *capacity * size, 0, (target - *capacity) * size);
    *capacity = target;
    return grown;
}

/** Copies primitives of `size` bytes. */
static inline void tw_cdr_copy(void *to, const void *from, size_t count, size_t size, bool swap)
{
    uint8_t *out = (uint8_t *)to;
    const uint8_t *in = (const uint8_t *)from;
    size_t i;
    if (count == 0)
        return;
    if (!swap || size == 1) {
        memcpy(out, in, count * size);
        return;
    }
    for (i = 0; i < count * size; i++)
        out[i ^ (size - 1)] = in[i];
}

/* -- Primitives and their sequences -- */

#define TW_CDR_PRIMITIVE(NAME, TYPE, BITS)                                                             \
    static inline void tw_cdr_put_##NAME(uint8_t *at, TYPE value, bool swap)                           \
    {                                                                                                  \
        uint##BITS##_t bits;                                                                           \
        memcpy(&bits, &value, sizeof bits);                                                            \
        if (swap)                                                                                      \
            bits = tw_cdr_swap##BITS(bits);                                                            \
        memcpy(at, &bits, sizeof bits);                                                                \
    }                                                                                                  \
    static inline TYPE tw_cdr_get_##NAME(const uint8_t *at, bool swap)                                 \
    {                                                                                                  \
        uint##BITS##_t bits;                                                                           \
        TYPE value;                                                                                    \
        memcpy(&bits, at, sizeof bits);                                                                \
        if (swap)                                                                                      \
            bits = tw_cdr_swap##BITS(bits);                                                            \
        memcpy(&value, &bits, sizeof value);                                                           \
        return value;                                                                                  \
    }                                                                                                  \
    static inline bool tw_cdr_write_##NAME(tw_cdr_writer *w, TYPE value)                               \
    {                                                                                                  \
        uint8_t *at = tw_cdr_room(w, BITS / 8, BITS / 8);                                              \
        if (at == NULL)                                                                                \
            return false;                                                                              \
        tw_cdr_put_##NAME(at, value, w->swap);                                                         \
        return true;                                                                                   \
    }                                                                                                  \
    static inline bool tw_cdr_read_##NAME(tw_cdr_reader *r, TYPE *value)                               \
    {                                                                                                  \
        const uint8_t *at = tw_cdr_take(r, BITS / 8, BITS / 8);                                        \
        if (at == NULL)                                                                                \
            return false;                                                                              \
        *value = tw_cdr_get_##NAME(at, r->swap);                                                       \
        return true;                                                                                   \
    }                                                                                                  \
    static inline bool tw_cdr_check_##NAME(const uint8_t *at, size_t count)                            \
    {                                                                                                  \
        (void)at;                                                                                      \
        (void)count;                                                                                   \
        return true;                                                                                   \
    }                                                                                                  \
    TW_CDR_PRIMITIVES(NAME, TYPE, BITS)

#define TW_CDR_PRIMITIVES(NAME, TYPE, BITS)                                                            \
    static inline bool tw_cdr_write_all_##NAME(tw_cdr_writer *w, const void *values, size_t count)     \
    {                                                                                                  \
        uint8_t *at;                                                                                   \
        if (count == 0)                                                                                \
            return true;                                                                               \
        if (count > SIZE_MAX / (BITS / 8))                                                             \
            return tw_cdr_refuse(w, TW_CDR_LENGTH);                                                    \
        at = tw_cdr_room(w, BITS / 8, count * (BITS / 8));                                             \
        if (at == NULL)                                                                                \
            return false;                                                                              \
        tw_cdr_copy(at, values, count, BITS / 8, w->swap);                                             \
        return true;                                                                                   \
    }                                                                                                  \
    static inline bool tw_cdr_read_all_##NAME(tw_cdr_reader *r, void *values, size_t count)            \
    {                                                                                                  \
        const uint8_t *at;                                                                             \
        if (count == 0)                                                                                \
            return true;                                                                               \
        if (count > SIZE_MAX / (BITS / 8))                                                             \
            return tw_cdr_reject(r, TW_CDR_END);                                                       \
        at = tw_cdr_take(r, BITS / 8, count * (BITS / 8));                                             \
        if (at == NULL)                                                                                \
            return false;                                                                              \
        if (!tw_cdr_check_##NAME(at, count))                                                           \
            return tw_cdr_reject(r, TW_CDR_BOOLEAN);                                                   \
        tw_cdr_copy(values, at, count, BITS / 8, r->swap);                                             \
        return true;                                                                                   \
    }                                                                                                  \
    typedef struct tw_##NAME##_seq {                                                                   \
        uint32_t length;                                                                               \
        uint32_t capacity;                                                                             \
        TYPE *buffer;                                                                                  \
    } tw_##NAME##_seq;                                                                                 \
    static inline bool tw_##NAME##_seq_resize(tw_##NAME##_seq *seq, uint32_t length)                   \
    {                                                                                                  \
        if (length > seq->capacity) {                                                                  \
            void *grown = tw_cdr_grow(seq->buffer, &seq->capacity, length, sizeof *seq->buffer);       \
            if (grown == NULL)                                                                         \
                return false;                                                                          \
            seq->buffer = (TYPE *)grown;                                                               \
        }                                                                                              \
        seq->length = length;                                                                          \
        return true;                                                                                   \
    }                                                                                                  \
    static inline bool tw_##NAME##_seq_copy(tw_##NAME##_seq *to, const tw_##NAME##_seq *from)          \
    {                                                                                                  \
        if (!tw_##NAME##_seq_resize(to, from->length))                                                 \
            return false;                                                                              \
        tw_cdr_copy(to->buffer, from->buffer, from->length, sizeof *to->buffer, false);                \
        return true;                                                                                   \
    }                                                                                                  \
    static inline void tw_##NAME##_seq_free(tw_##NAME##_seq *seq)                                      \
    {                                                                                                  \
        free(seq->buffer);                                                                             \
        seq->buffer = NULL;                                                                            \
        seq->length = 0;                                                                               \
        seq->capacity = 0;                                                                             \
    }                                                                                                  \
    static inline bool tw_##NAME##_seq_write(tw_cdr_writer *w, const tw_##NAME##_seq *seq,             \
                                             uint32_t bound)                                           \
    {                                                                                                  \
        if (bound != 0 && seq->length > bound)                                                         \
            return tw_cdr_refuse(w, TW_CDR_LENGTH);                                                    \
        return tw_cdr_write_uint32(w, seq->length)                                                     \
               && tw_cdr_write_all_##NAME(w, seq->buffer, seq->length);                                \
    }                                                                                                  \
    static inline bool tw_##NAME##_seq_read(tw_cdr_reader *r, tw_##NAME##_seq *seq, uint32_t bound)    \
    {                                                                                                  \
        uint32_t length;                                                                               \
        if (!tw_cdr_read_uint32(r, &length))                                                           \
            return false;                                                                              \
        if (length > (r->limit - r->position) / (BITS / 8))                                            \
            return tw_cdr_reject(r, TW_CDR_LENGTH);                                                    \
        if (bound != 0 && length > bound && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))                 \
            return false;                                                                              \
        if (!tw_##NAME##_seq_resize(seq, length))                                                      \
            return tw_cdr_reject(r, TW_CDR_NO_MEMORY);                                                 \
        return tw_cdr_read_all_##NAME(r, seq->buffer, length);                                         \
    }

static inline bool tw_cdr_write_uint32(tw_cdr_writer *w, uint32_t value);
static inline bool tw_cdr_read_uint32(tw_cdr_reader *r, uint32_t *value);

TW_CDR_PRIMITIVE(uint32, uint32_t, 32)
TW_CDR_PRIMITIVE(int32, int32_t, 32)
TW_CDR_PRIMITIVE(uint8, uint8_t, 8)
TW_CDR_PRIMITIVE(int8, int8_t, 8)
TW_CDR_PRIMITIVE(octet, uint8_t, 8)
TW_CDR_PRIMITIVE(char, char, 8)
TW_CDR_PRIMITIVE(uint16, uint16_t, 16)
TW_CDR_PRIMITIVE(int16, int16_t, 16)
TW_CDR_PRIMITIVE(wchar, uint16_t, 16)
TW_CDR_PRIMITIVE(uint64, uint64_t, 64)
TW_CDR_PRIMITIVE(int64, int64_t, 64)
TW_CDR_PRIMITIVE(float, float, 32)
TW_CDR_PRIMITIVE(double, double, 64)

static inline void tw_cdr_put_boolean(uint8_t *at, bool value, bool swap)
{
    (void)swap;
    *at = value ? 1 : 0;
}

static inline bool tw_cdr_write_boolean(tw_cdr_writer *w, bool value)
{
    return tw_cdr_write_uint8(w, value ? 1 : 0);
}

static inline bool tw_cdr_get_boolean(tw_cdr_reader *r, const uint8_t *at, bool *value)
{
    if (*at > 1)
        return tw_cdr_reject(r, TW_CDR_BOOLEAN);
    *value = *at == 1;
    return true;
}

static inline bool tw_cdr_read_boolean(tw_cdr_reader *r, bool *value)
{
    const uint8_t *at = tw_cdr_take(r, 1, 1);
    return at != NULL && tw_cdr_get_boolean(r, at, value);
}

static inline bool tw_cdr_check_boolean(const uint8_t *at, size_t count)
{
    uint8_t all = 0;
    size_t i;
    for (i = 0; i < count; i++)
        all |= at[i];
    return all <= 1;
}

TW_CDR_PRIMITIVES(boolean, bool, 8)

/* -- Strings -- */

/** Fewer than 8 bytes as a number, the first lowest; what is not there is 0. */
static inline uint64_t tw_cdr_load_short(const uint8_t *text, size_t size)
{
    if (size >= 4) {
        uint64_t last = tw_cdr_get_uint32(text + size - 4, tw_cdr_is_big());
        return tw_cdr_get_uint32(text, tw_cdr_is_big()) | last << (size - 4) * 8;
    }
    if (size == 0)
        return 0;
    return text[0] | (uint64_t)text[size >> 1] << (size >> 1) * 8 | (uint64_t)text[size - 1] << (size - 1) * 8;
}

/** Whether all bytes of a word are of ASCII and none is NUL. */
static inline bool tw_cdr_is_plain_word(uint64_t word)
{
    /* 0x7f more makes the high bit of each byte but of NUL. */
    const uint64_t high = UINT64_C(0x8080808080808080);
    return ((word | ~(word + (high - UINT64_C(0x0101010101010101)))) & high) == 0;
}

/** The same of fewer than 8 bytes, as tw_cdr_load_short() has them. */
static inline bool tw_cdr_is_plain_short(uint64_t word, size_t size)
{
    /* What is not there counts as 1. */
    return tw_cdr_is_plain_word(word | UINT64_C(0x0101010101010101) << size * 8);
}

/** Whether all bytes are of ASCII and none is NUL, as in most strings. */
static inline bool tw_cdr_is_plain(const uint8_t *text, size_t size)
{
    uint64_t word;
    size_t i;
    if (size < 8)
        return tw_cdr_is_plain_short(tw_cdr_load_short(text, size), size);
    for (i = 0; i < size; i += 8) {
        /* The last ones, too, some of them again. */
        memcpy(&word, text + (size - i < 8 ? size - 8 : i), sizeof word);
        if (!tw_cdr_is_plain_word(word))
            return false;
    }
    return true;
}

/** Whether bytes are UTF-8 (RFC 3629). */
static inline bool tw_cdr_is_utf8(const uint8_t *text, size_t size)
{
    size_t i = 0;
    while (i < size) {
        uint8_t first = text[i];
        uint8_t low = 0x80;
        uint8_t high = 0xbf;
        size_t more;
        if (first < 0x80) {
            i++;
            continue;
        }
        if (first >= 0xc2 && first <= 0xdf) {
            more = 1;
        } else if (first >= 0xe0 && first <= 0xef) {
            more = 2;
            low = first == 0xe0 ? 0xa0 : low;
            high = first == 0xed ? 0x9f : high;
        } else if (first >= 0xf0 && first <= 0xf4) {
            more = 3;
            low = first == 0xf0 ? 0x90 : low;
            high = first == 0xf4 ? 0x8f : high;
        } else {
            return false;
        }
        if (size - i <= more)
            return false;
        if (text[i + 1] < low || text[i + 1] > high)
            return false;
        for (i += 2; more > 1; more--, i++)
            if ((text[i] & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/** Whether bytes are UTF-8 without NUL. */
static inline bool tw_cdr_is_text(const uint8_t *text, size_t size)
{
    return tw_cdr_is_plain(text, size) || (memchr(text, 0, size) == NULL && tw_cdr_is_utf8(text, size));
}

/** Whether units are UTF-16 without NUL. */
static inline bool tw_cdr_is_utf16(const uint16_t *text, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++) {
        if (text[i] == 0 || (text[i] & 0xfc00) == 0xdc00)
            return false;
        if ((text[i] & 0xfc00) == 0xd800) {
            i++;
            if (i == length || (text[i] & 0xfc00) != 0xdc00)
                return false;
        }
    }
    return true;
}

/** Writes `length` bytes as a string of at most `bound`, 0 for any number. */
TW_CDR_APART bool tw_cdr_write_any_text(tw_cdr_writer *w, const uint8_t *text, size_t length, uint32_t bound)
{
    uint8_t *at;
    if ((bound != 0 && length > bound) || length >= UINT32_MAX)
        return tw_cdr_refuse(w, TW_CDR_LENGTH);
    if (length > 0 && !tw_cdr_is_text(text, length))
        return tw_cdr_refuse(w, TW_CDR_TEXT);
    at = tw_cdr_room(w, 4, length + 5);
    if (at == NULL)
        return false;
    tw_cdr_put_uint32(at, (uint32_t)length + 1, w->swap);
    if (length > 0)
        memcpy(at + 4, text, length);
    at[4 + length] = 0;
    return true;
}

/** The same; most are short and of ASCII, and are looked at and copied as one word. */
TW_CDR_HOT bool tw_cdr_write_text(tw_cdr_writer *w, const uint8_t *text, size_t length, uint32_t bound)
{
    size_t padding = (w->origin - w->size) & 3;
    uint64_t word;
    uint8_t *at;
    if (length >= 8 || (bound != 0 && length > bound) || w->capacity - w->size < 16)
        return tw_cdr_write_any_text(w, text, length, bound);
    at = w->data + w->size;
    memset(at, 0, 4);
    at += padding;
    if (length == 1 && (uint8_t)(text[0] - 1) < 0x7f && !w->big_endian) {
        /* A code or a flag: its length, itself and the NUL. */
        tw_cdr_put_uint64(at, 2 | (uint64_t)text[0] << 32, tw_cdr_is_big());
        w->size += padding + 6;
        return true;
    }
    word = tw_cdr_load_short(text, length);
    if (!tw_cdr_is_plain_short(word, length))
        return tw_cdr_write_any_text(w, text, length, bound);
    tw_cdr_put_uint32(at, (uint32_t)length + 1, w->swap);
    tw_cdr_put_uint64(at + 4, word, tw_cdr_is_big());
    w->size += padding + length + 5;
    return true;
}

/** Bytes before the NUL; many strings are codes of one. */
static inline size_t tw_cdr_text_length(const char *text)
{
    if (text[0] == 0)
        return 0;
    return text[1] == 0 ? 1 : strlen(text);
}

/** Writes a string of at most `bound` bytes, 0 for any number. NULL is the empty one. */
static inline bool tw_cdr_write_string(tw_cdr_writer *w, const char *text, uint32_t bound)
{
    return tw_cdr_write_text(w, (const uint8_t *)text, text == NULL ? 0 : tw_cdr_text_length(text), bound);
}

/** Looks at the next string, and passes over it: its first byte, which may be any if `length` is 0; NULL if it is none. */
TW_CDR_APART const uint8_t *tw_cdr_read_any_text(tw_cdr_reader *r, size_t *length, uint32_t bound)
{
    uint32_t size;
    const uint8_t *at;
    if (!tw_cdr_read_uint32(r, &size))
        return NULL;
    *length = size == 0 ? 0 : (size_t)size - 1;
    if (size > r->limit - r->position) {
        tw_cdr_reject(r, TW_CDR_LENGTH);
        return NULL;
    }
    if (bound != 0 && *length > bound && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
        return NULL;
    at = r->bytes + r->position;
    if ((size > 0 && at[*length] != 0) || !tw_cdr_is_text(at, *length)) {
        tw_cdr_reject(r, TW_CDR_TEXT);
        return NULL;
    }
    r->position += size;
    return at;
}

/** The same; most are short and of ASCII, and are looked at as one word where the payload has as much. */
TW_CDR_HOT const uint8_t *tw_cdr_read_text(tw_cdr_reader *r, size_t *length, uint32_t bound)
{
    size_t rest = r->limit - r->position;
    size_t position = r->position + ((r->origin - r->position) & 3);
    const uint8_t *at;
    uint64_t word;
    size_t size;
    /* Padding, the length, and a word. */
    if (rest < 3 + 4 + 8)
        return tw_cdr_read_any_text(r, length, bound);
    at = r->bytes + position;
    /* A code or a flag: its length in little-endian, itself and the NUL. */
    if (r->swap == tw_cdr_is_big() && tw_cdr_get_uint32(at, tw_cdr_is_big()) == 2
        && (uint16_t)(tw_cdr_get_uint16(at + 4, tw_cdr_is_big()) - 1) < 0x7f) {
        r->position = position + 6;
        *length = 1;
        return at + 4;
    }
    size = (size_t)tw_cdr_get_uint32(at, r->swap) - 1;
    if (size >= 8 || (bound != 0 && size > bound))
        return tw_cdr_read_any_text(r, length, bound);
    /* What is behind the string does not count, but the NUL must be one. */
    word = tw_cdr_get_uint64(at + 4, tw_cdr_is_big());
    if ((word >> size * 8 & 0xff) != 0 || !tw_cdr_is_plain_short(word & ((UINT64_C(1) << size * 8) - 1), size))
        return tw_cdr_read_any_text(r, length, bound);
    r->position = position + 5 + size;
    *length = size;
    return at + 4;
}

/** Reads a string into the memory that there is, or more. It is never NULL then. */
static inline bool tw_cdr_read_string(tw_cdr_reader *r, char **text, uint32_t bound)
{
    size_t length;
    const uint8_t *at = tw_cdr_read_text(r, &length, bound);
    if (at == NULL)
        return false;
    if (*text == NULL || tw_cdr_text_length(*text) < length) {
        char *grown = (char *)realloc(*text, length + 1);
        if (grown == NULL)
            return tw_cdr_reject(r, TW_CDR_NO_MEMORY);
        *text = grown;
    }
    if (length == 1)
        **text = (char)*at;
    else
        memcpy(*text, at, length);
    (*text)[length] = 0;
    return true;
}

/** Writes a wide string of at most `bound` units, 0 for any number. NULL is the empty one. */
static inline bool tw_cdr_write_wstring(tw_cdr_writer *w, const uint16_t *text, uint32_t bound)
{
    size_t length = tw_cdr_wide_length(text);
    if ((bound != 0 && length > bound) || length > UINT32_MAX / 2)
        return tw_cdr_refuse(w, TW_CDR_LENGTH);
    if (!tw_cdr_is_utf16(text, length))
        return tw_cdr_refuse(w, TW_CDR_TEXT);
    return tw_cdr_write_uint32(w, (uint32_t)length * 2) && tw_cdr_write_all_wchar(w, text, length);
}

/** Reads a wide string into new memory. A NUL at its end, which some write, is left out. */
static inline bool tw_cdr_read_wstring(tw_cdr_reader *r, uint16_t **text, uint32_t bound)
{
    uint32_t size;
    size_t length;
    uint16_t *made;
    if (!tw_cdr_read_uint32(r, &size))
        return false;
    length = size / 2;
    if (size % 2 != 0 || size > r->limit - r->position)
        return tw_cdr_reject(r, TW_CDR_LENGTH);
    if (bound != 0 && length > (size_t)bound + 1 && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
        return false;
    made = (uint16_t *)realloc(*text, (length + 1) * sizeof *made);
    if (made == NULL)
        return tw_cdr_reject(r, TW_CDR_NO_MEMORY);
    *text = made;
    made[0] = 0;
    if (!tw_cdr_read_all_wchar(r, made, length))
        return false;
    made[length] = 0;
    if (length > 0 && made[length - 1] == 0)
        length--;
    if (bound != 0 && length > bound && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
        return false;
    return tw_cdr_is_utf16(made, length) || tw_cdr_reject(r, TW_CDR_TEXT);
}

/** Keeps at most `bound` bytes of a string, and cuts no character in two. */
static inline void tw_cdr_trim_text(char *text, uint32_t bound)
{
    size_t length = tw_cdr_text_length(text);
    if (length <= bound)
        return;
    for (length = bound; length > 0 && ((uint8_t)text[length] & 0xc0) == 0x80; length--) {
    }
    text[length] = 0;
}

/** The same of a wide string, in units. */
static inline void tw_cdr_trim_wide_text(uint16_t *text, uint32_t bound)
{
    size_t length = tw_cdr_wide_length(text);
    if (length <= bound)
        return;
    length = bound;
    if (length > 0 && (text[length] & 0xfc00) == 0xdc00)
        length--;
    text[length] = 0;
}

#define TW_CDR_TEXTS(NAME, TYPE, SET)                                                                  \
    typedef struct tw_##NAME##_seq {                                                                   \
        uint32_t length;                                                                               \
        uint32_t capacity;                                                                             \
        TYPE **buffer;                                                                                 \
    } tw_##NAME##_seq;                                                                                 \
    static inline bool tw_##NAME##_seq_resize(tw_##NAME##_seq *seq, uint32_t length)                   \
    {                                                                                                  \
        if (length > seq->capacity) {                                                                  \
            void *grown = tw_cdr_grow(seq->buffer, &seq->capacity, length, sizeof *seq->buffer);       \
            if (grown == NULL)                                                                         \
                return false;                                                                          \
            seq->buffer = (TYPE **)grown;                                                              \
        }                                                                                              \
        seq->length = length;                                                                          \
        return true;                                                                                   \
    }                                                                                                  \
    static inline bool tw_##NAME##_seq_copy(tw_##NAME##_seq *to, const tw_##NAME##_seq *from)          \
    {                                                                                                  \
        uint32_t i;                                                                                    \
        if (!tw_##NAME##_seq_resize(to, from->length))                                                 \
            return false;                                                                              \
        for (i = 0; i < from->length; i++)                                                             \
            if (!SET(&to->buffer[i], from->buffer[i]))                                                 \
                return false;                                                                          \
        return true;                                                                                   \
    }                                                                                                  \
    static inline void tw_##NAME##_seq_free(tw_##NAME##_seq *seq)                                      \
    {                                                                                                  \
        uint32_t i;                                                                                    \
        for (i = 0; i < seq->capacity; i++)                                                            \
            free(seq->buffer[i]);                                                                      \
        free(seq->buffer);                                                                             \
        seq->buffer = NULL;                                                                            \
        seq->length = 0;                                                                               \
        seq->capacity = 0;                                                                             \
    }

TW_CDR_TEXTS(string, char, tw_cdr_set_text)
TW_CDR_TEXTS(wstring, uint16_t, tw_cdr_set_wide_text)

#ifdef __cplusplus
}
#endif

#endif
