/*
 * tickwire/payload.h: what programs with types made of IDL call: status codes, the writer that a payload is written into,
 * and strings and sequences of values. `tickwire idl gen --lang c` makes a header and a source file of IDL, which include
 * this; IDL.md, beside the folder of this header, has the mapping of IDL to C and an example. Needs C11 and nothing else.
 *
 * Threads: nothing here is shared. One value, reader or writer belongs to one thread at a time.
 */
#ifndef TICKWIRE_PAYLOAD_H
#define TICKWIRE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What became of writing or reading. */
typedef enum tw_cdr_status {
    TW_CDR_OK = 0,
    /** There is no memory. */
    TW_CDR_NO_MEMORY = -1,
    /** Written: the buffer that was given is too small. */
    TW_CDR_NO_ROOM = -2,
    /** Read: the bytes end inside a value. */
    TW_CDR_END = -3,
    /** A string or sequence is longer than its bound, or than the bytes that there are. */
    TW_CDR_LENGTH = -4,
    /** A string is not UTF-8, a wide string not UTF-16, or there is a NUL in it. */
    TW_CDR_TEXT = -5,
    /** Read: a boolean that is neither 0 nor 1. */
    TW_CDR_BOOLEAN = -6,
    /** No literal of the enum has this value. */
    TW_CDR_LITERAL = -7,
    /** An @external member is NULL. */
    TW_CDR_NULL = -8,
    /** Structs nest more than 65 deep. */
    TW_CDR_DEPTH = -9,
    /** Read: an encapsulation that is not known, such as XML. */
    TW_CDR_ENCAPSULATION = -10,
    /** Read: the writer's type is of another extensibility (@final, @appendable, @mutable). */
    TW_CDR_EXTENSIBILITY = -11,
    /** Read: an unknown member without which the sample must not be understood. */
    TW_CDR_MUST_UNDERSTAND = -12,
    /** Read: the header of a member is malformed. */
    TW_CDR_HEADER = -13,
    /** Read: the value would take far more memory than its payload's length justifies. */
    TW_CDR_TOO_LARGE = -14
} tw_cdr_status;

/** The version of the encoding. */
typedef enum tw_cdr_version {
    /** What all DDS implementations read. Alignment to 8 bytes. */
    TW_CDR_XCDR1 = 1,
    /** Appendable and mutable types carry their length. Alignment to 4 bytes at most. */
    TW_CDR_XCDR2 = 2
} tw_cdr_version;

/** How a type may change (XTypes 1.3 section 7.2.2.4.4.2). */
typedef enum tw_cdr_extensibility {
    TW_CDR_FINAL = 0,
    TW_CDR_APPENDABLE = 1,
    TW_CDR_MUTABLE = 2
} tw_cdr_extensibility;

/**
 * Where payloads are written. Begin with TW_CDR_WRITER, or tw_cdr_writer_over() to write into memory
 * that there is. One writer can write any number of payloads, each of which replaces
 * the one before in the same memory; tw_cdr_writer_free() ends it.
 */
typedef struct tw_cdr_writer {
    /** What is written. */
    uint8_t *data;
    /** How many bytes. */
    size_t size;
    /** How many bytes there is memory for. */
    size_t capacity;
    /** After a failure, the innermost member concerned, such as "market::Quote.symbol"; else NULL. */
    const char *member;
    /** The first failure. */
    tw_cdr_status status;
    /** Whether the memory is this writer's own, and grows. */
    bool grows;
    /** Whether payloads are written in big-endian, which few need; else in little-endian. */
    bool big_endian;
    /** Whether that is the other byte order than this machine's. */
    bool swap;
    tw_cdr_version version;
    /** Structs that are open. */
    int depth;
    /** Where alignment counts from. */
    size_t origin;
    /** The largest alignment of this version. */
    size_t max_align;
} tw_cdr_writer;

/** A writer that has written nothing. */
#define TW_CDR_WRITER { NULL, 0, 0, NULL, TW_CDR_OK, true, false, false, TW_CDR_XCDR2, 0, 0, 4 }

/** A writer into `capacity` bytes of the caller's. What does not fit is TW_CDR_NO_ROOM. */
static inline tw_cdr_writer tw_cdr_writer_over(void *data, size_t capacity)
{
    tw_cdr_writer writer = TW_CDR_WRITER;
    writer.data = (uint8_t *)data;
    writer.capacity = capacity;
    writer.grows = false;
    return writer;
}

/** Frees what a writer has written, if the memory is its own. It can write again. */
static inline void tw_cdr_writer_free(tw_cdr_writer *writer)
{
    if (writer->grows)
        free(writer->data);
    writer->data = NULL;
    writer->size = 0;
    writer->capacity = 0;
}

/** What a status means, in a few words. */
static inline const char *tw_cdr_status_text(tw_cdr_status status)
{
    switch (status) {
    case TW_CDR_OK: return "success";
    case TW_CDR_NO_MEMORY: return "there is no memory";
    case TW_CDR_NO_ROOM: return "the payload does not fit the buffer";
    case TW_CDR_END: return "the bytes end inside a value";
    case TW_CDR_LENGTH: return "longer than its bound, or than the bytes that there are";
    case TW_CDR_TEXT: return "a string is not UTF-8, or not UTF-16, or contains NUL";
    case TW_CDR_BOOLEAN: return "a boolean is neither 0 nor 1";
    case TW_CDR_LITERAL: return "no literal of the enum has this value";
    case TW_CDR_NULL: return "a member that is always there is NULL";
    case TW_CDR_DEPTH: return "structs nest too deeply";
    case TW_CDR_ENCAPSULATION: return "unknown encapsulation";
    case TW_CDR_EXTENSIBILITY: return "the writer's type is of another extensibility";
    case TW_CDR_MUST_UNDERSTAND: return "unknown indispensable member";
    case TW_CDR_HEADER: return "malformed member header";
    case TW_CDR_TOO_LARGE: return "the value is too large for its payload";
    }
    return "unknown status";
}

/** Replaces a string of a value by a copy of `text`, NULL for the empty one. False: no memory. */
static inline bool tw_cdr_set_text(char **to, const char *text)
{
    size_t size = text == NULL ? 1 : strlen(text) + 1;
    char *copy = (char *)malloc(size);
    if (copy == NULL)
        return false;
    memcpy(copy, text == NULL ? "" : text, size);
    free(*to);
    *to = copy;
    return true;
}

/** Units of a wide string before its NUL; 0 of NULL. */
static inline size_t tw_cdr_wide_length(const uint16_t *text)
{
    size_t length = 0;
    while (text != NULL && text[length] != 0)
        length++;
    return length;
}

/** Replaces a wide string of a value by a copy of `text`, NULL for the empty one. False: no memory. */
static inline bool tw_cdr_set_wide_text(uint16_t **to, const uint16_t *text)
{
    size_t length = tw_cdr_wide_length(text);
    uint16_t *copy = (uint16_t *)malloc((length + 1) * sizeof *copy);
    if (copy == NULL)
        return false;
    if (length > 0)
        memcpy(copy, text, length * sizeof *copy);
    copy[length] = 0;
    free(*to);
    *to = copy;
    return true;
}

/*
 * Sequences are structs of `length`, `capacity` and `buffer`. All elements up to the capacity are
 * values that can be freed: memory of those after the length is kept for when it grows again. For
 * each there are
 *
 *   bool S_resize(S *sequence, uint32_t length)   new elements are as X_init makes them; false: no memory
 *   bool S_copy(S *to, const S *from)             false: no memory
 *   void S_free(S *sequence)
 *
 * Those of primitive types are tw_boolean_seq, tw_char_seq, tw_wchar_seq, tw_octet_seq, tw_int8_seq to
 * tw_uint64_seq, tw_float_seq and tw_double_seq; those of strings tw_string_seq and tw_wstring_seq.
 */

#ifdef __cplusplus
}
#endif

#endif
