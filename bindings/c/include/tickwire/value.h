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

/** The next `size` bytes, aligned; NULL if there is no memory for them. */
static inline uint8_t *tw_cdr_room(tw_cdr_writer *w, size_t alignment, size_t size)
{
    size_t align = alignment < w->max_align ? alignment : w->max_align;
    size_t padding = (w->origin - w->size) & (align - 1);
    uint8_t *at;
    if (w->capacity - w->size < padding || w->capacity - w->size - padding < size) {
        if (size > SIZE_MAX - 8) {
            tw_cdr_refuse(w, TW_CDR_NO_MEMORY);
            return NULL;
        }
        if (!tw_cdr_grow_writer(w, padding + size))
            return NULL;
    }
    at = w->data + w->size;
    if (padding > 0) {
        /* As one word where there is room for one, which most often there is. */
        if (w->capacity - w->size >= 8)
            memset(at, 0, 8);
        else
            memset(at, 0, padding);
    }
    w->size += padding + size;
    return at + padding;
}

/** The next `size` bytes, aligned; NULL if there are not as many. */
static inline const uint8_t *tw_cdr_peek(tw_cdr_reader *r, size_t alignment, size_t size)
{
    size_t align = alignment < r->max_align ? alignment : r->max_align;
    size_t at = r->position + ((r->origin - r->position) & (align - 1));
    if (at > r->limit || r->limit - at < size)
        return NULL;
    r->position = at + size;
    return r->bytes + at;
}

/** The same; it is a failure if there are not as many. */
static inline const uint8_t *tw_cdr_take(tw_cdr_reader *r, size_t alignment, size_t size)
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
        if ((bound != 0 && length > bound) || length > (r->limit - r->position) / (BITS / 8))          \
            return tw_cdr_reject(r, TW_CDR_LENGTH);                                                    \
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

/** Whether all bytes are of ASCII and none is NUL, as in most strings. */
static inline bool tw_cdr_is_plain(const uint8_t *text, size_t size)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t word;
    size_t i;
    if (size < 8) {
        /* What is not there counts as 1. */
        word = UINT64_C(0x0101010101010101);
        for (i = 0; i < size; i++)
            word = word << 8 | text[i];
        return ((word | ~(word + (high - UINT64_C(0x0101010101010101)))) & high) == 0;
    }
    for (i = 0; i < size; i += 8) {
        /* The last ones, too, some of them again. */
        memcpy(&word, text + (size - i < 8 ? size - 8 : i), sizeof word);
        /* 0x7f more makes the high bit of each byte but of NUL. */
        if (((word | ~(word + (high - UINT64_C(0x0101010101010101)))) & high) != 0)
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

/** Writes a string of at most `bound` bytes, 0 for any number. NULL is the empty one. */
static inline bool tw_cdr_write_string(tw_cdr_writer *w, const char *text, uint32_t bound)
{
    size_t length = text == NULL ? 0 : strlen(text);
    uint8_t *at;
    if ((bound != 0 && length > bound) || length >= UINT32_MAX)
        return tw_cdr_refuse(w, TW_CDR_LENGTH);
    if (!tw_cdr_is_plain((const uint8_t *)text, length) && !tw_cdr_is_utf8((const uint8_t *)text, length))
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

/** Reads a string into the memory that there is, or more. It is never NULL then. */
static inline bool tw_cdr_read_string(tw_cdr_reader *r, char **text, uint32_t bound)
{
    uint32_t size;
    size_t length;
    const uint8_t *at;
    if (!tw_cdr_read_uint32(r, &size))
        return false;
    length = size == 0 ? 0 : (size_t)size - 1;
    if (size > r->limit - r->position || (bound != 0 && length > bound))
        return tw_cdr_reject(r, TW_CDR_LENGTH);
    at = r->bytes + r->position;
    if (size > 0 && at[length] != 0)
        return tw_cdr_reject(r, TW_CDR_TEXT);
    if (!tw_cdr_is_plain(at, length) && (memchr(at, 0, length) != NULL || !tw_cdr_is_utf8(at, length)))
        return tw_cdr_reject(r, TW_CDR_TEXT);
    if (*text == NULL || strlen(*text) < length) {
        char *grown = (char *)realloc(*text, length + 1);
        if (grown == NULL)
            return tw_cdr_reject(r, TW_CDR_NO_MEMORY);
        *text = grown;
    }
    memcpy(*text, at, length);
    (*text)[length] = 0;
    r->position += size;
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
    if (size % 2 != 0 || size > r->limit - r->position || (bound != 0 && length > (size_t)bound + 1))
        return tw_cdr_reject(r, TW_CDR_LENGTH);
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
    if (bound != 0 && length > bound)
        return tw_cdr_reject(r, TW_CDR_LENGTH);
    return tw_cdr_is_utf16(made, length) || tw_cdr_reject(r, TW_CDR_TEXT);
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
