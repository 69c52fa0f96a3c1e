/*
 * tickwire/cdr.h: the encoding of samples, as far as all types share it: what code that `tickwire idl gen` makes is put
 * together from. What programs call themselves is in tickwire/payload.h; numbers, strings and
 * sequences of them are in tickwire/value.h.
 *
 * The encoding is that of XTypes 1.3 section 7.4: XCDR1 and XCDR2, read in both byte orders, written in
 * little-endian. Whatever bytes a payload has, reading it ends with a value or a status: nothing outside
 * of the payload is read, and the memory that is taken is in proportion to it.
 *
 * Threads: nothing here is shared. One value, reader or writer belongs to one thread at a time.
 */
#ifndef TICKWIRE_CDR_H
#define TICKWIRE_CDR_H

#include <tickwire/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- Writing structs, members and collections -- */

/** Fills in the number of bytes after the word at `at`. */
static inline bool tw_cdr_fill_length(tw_cdr_writer *w, size_t at)
{
    size_t length = w->size - at - 4;
    if (length > UINT32_MAX)
        return tw_cdr_refuse(w, TW_CDR_LENGTH);
    tw_cdr_put_uint32(w->data + at, (uint32_t)length, w->swap);
    return true;
}

/** Leaves room for a length. */
static inline bool tw_cdr_open_length(tw_cdr_writer *w, tw_cdr_mark *mark)
{
    if (!tw_cdr_write_uint32(w, 0))
        return false;
    mark->at = w->size - 4;
    mark->delimited = true;
    return true;
}

static inline bool tw_cdr_open_struct(tw_cdr_writer *w, tw_cdr_extensibility extensibility, tw_cdr_mark *mark)
{
    mark->at = 0;
    mark->origin = w->origin;
    mark->delimited = false;
    if (++w->depth > TW_CDR_MAX_DEPTH)
        return tw_cdr_refuse(w, TW_CDR_DEPTH);
    if (extensibility == TW_CDR_FINAL || w->version == TW_CDR_XCDR1)
        return true;
    return tw_cdr_open_length(w, mark);
}

static inline bool tw_cdr_close_struct(tw_cdr_writer *w, tw_cdr_extensibility extensibility,
                                       const tw_cdr_mark *mark)
{
    uint8_t *at;
    w->depth--;
    if (mark->delimited)
        return tw_cdr_fill_length(w, mark->at);
    if (extensibility != TW_CDR_MUTABLE)
        return true;
    at = tw_cdr_room(w, 4, 4);
    if (at == NULL)
        return false;
    tw_cdr_put_uint16(at, TW_CDR_LIST_MUST_UNDERSTAND | TW_CDR_LIST_END, w->swap);
    tw_cdr_put_uint16(at + 2, 0, w->swap);
    return true;
}

/** The extended parameter header of XCDR1 (XTypes 1.3 section 7.4.1.2.1). */
static inline bool tw_cdr_open_list_member(tw_cdr_writer *w, uint32_t id, bool must_understand, tw_cdr_mark *mark)
{
    uint8_t *at = tw_cdr_room(w, 4, 12);
    if (at == NULL)
        return false;
    tw_cdr_put_uint16(at, TW_CDR_LIST_MUST_UNDERSTAND | TW_CDR_LIST_EXTENDED, w->swap);
    tw_cdr_put_uint16(at + 2, 8, w->swap);
    tw_cdr_put_uint32(at + 4, (must_understand ? UINT32_C(1) << 30 : 0) | id, w->swap);
    tw_cdr_put_uint32(at + 8, 0, w->swap);
    mark->at = w->size - 4;
    mark->origin = w->origin;
    mark->delimited = true;
    w->origin = w->size;
    return true;
}

/** Begins a member of a mutable struct. `code` says how the length is told (XTypes 1.3 section 7.4.3.4.2). */
static inline bool tw_cdr_open_member(tw_cdr_writer *w, uint32_t id, bool must_understand, uint32_t code,
                                      tw_cdr_mark *mark)
{
    if (w->version == TW_CDR_XCDR1)
        return tw_cdr_open_list_member(w, id, must_understand, mark);
    mark->at = 0;
    mark->origin = w->origin;
    mark->delimited = false;
    if (!tw_cdr_write_uint32(w, (must_understand ? UINT32_C(1) << 31 : 0) | code << 28 | id))
        return false;
    return code != 4 || tw_cdr_open_length(w, mark);
}

static inline bool tw_cdr_close_member(tw_cdr_writer *w, const tw_cdr_mark *mark)
{
    if (!mark->delimited)
        return true;
    /* Lengths in lists of XCDR1 are multiples of 4, as RTPS and some peers want. */
    if (w->version == TW_CDR_XCDR1 && tw_cdr_room(w, 4, 0) == NULL)
        return false;
    w->origin = mark->origin;
    return tw_cdr_fill_length(w, mark->at);
}

/** Begins an optional member that is there, of a struct that is not mutable. */
static inline bool tw_cdr_open_optional(tw_cdr_writer *w, uint32_t id, bool must_understand, tw_cdr_mark *mark)
{
    if (w->version == TW_CDR_XCDR1)
        return tw_cdr_open_list_member(w, id, must_understand, mark);
    mark->at = 0;
    mark->origin = w->origin;
    mark->delimited = false;
    return tw_cdr_write_boolean(w, true);
}

static inline bool tw_cdr_close_optional(tw_cdr_writer *w, const tw_cdr_mark *mark)
{
    if (!mark->delimited)
        return true;
    w->origin = mark->origin;
    return tw_cdr_fill_length(w, mark->at);
}

/** Says that an optional member is not there. */
static inline bool tw_cdr_write_absent(tw_cdr_writer *w, uint32_t id, bool must_understand)
{
    tw_cdr_mark mark;
    if (w->version == TW_CDR_XCDR2)
        return tw_cdr_write_boolean(w, false);
    if (!tw_cdr_open_list_member(w, id, must_understand, &mark))
        return false;
    w->origin = mark.origin;
    return true;
}

/** Begins a sequence or a map. */
static inline bool tw_cdr_open_sequence(tw_cdr_writer *w, uint32_t length, uint32_t bound, bool primitive,
                                        tw_cdr_mark *mark)
{
    mark->at = 0;
    mark->origin = w->origin;
    mark->delimited = false;
    if (bound != 0 && length > bound)
        return tw_cdr_refuse(w, TW_CDR_LENGTH);
    if (!primitive && w->version == TW_CDR_XCDR2 && !tw_cdr_open_length(w, mark))
        return false;
    return tw_cdr_write_uint32(w, length);
}

/** Begins an array of what is not primitive. */
static inline bool tw_cdr_open_array(tw_cdr_writer *w, tw_cdr_mark *mark)
{
    mark->at = 0;
    mark->origin = w->origin;
    mark->delimited = false;
    return w->version == TW_CDR_XCDR1 || tw_cdr_open_length(w, mark);
}

/** Ends a sequence, map or array. */
static inline bool tw_cdr_close_elements(tw_cdr_writer *w, const tw_cdr_mark *mark)
{
    return !mark->delimited || tw_cdr_fill_length(w, mark->at);
}

/* -- Reading structs, members and collections -- */

/** Narrows the limit by a length. */
static inline bool tw_cdr_narrow(tw_cdr_reader *r, size_t length)
{
    if (length > r->limit - r->position)
        return tw_cdr_reject(r, TW_CDR_END);
    r->limit = r->position + length;
    return true;
}

static inline bool tw_cdr_enter_length(tw_cdr_reader *r)
{
    uint32_t length;
    return tw_cdr_read_uint32(r, &length) && tw_cdr_narrow(r, length);
}

static inline bool tw_cdr_enter_struct(tw_cdr_reader *r, tw_cdr_extensibility extensibility, tw_cdr_scope *scope)
{
    scope->outer = r->limit;
    scope->delimited = extensibility != TW_CDR_FINAL && r->version == TW_CDR_XCDR2;
    /* XCDR1 does not delimit appendable structs: only the outermost one can tell that it is short. */
    scope->may_end = extensibility != TW_CDR_FINAL && (scope->delimited || r->position == 0);
    if (++r->depth > TW_CDR_MAX_DEPTH)
        return tw_cdr_reject(r, TW_CDR_DEPTH);
    return !scope->delimited || tw_cdr_enter_length(r);
}

/** Ends what was entered, and skips what is not known of it. */
static inline void tw_cdr_leave(tw_cdr_reader *r, const tw_cdr_scope *scope)
{
    if (scope->delimited) {
        r->position = r->limit;
        r->limit = scope->outer;
    }
}

static inline void tw_cdr_leave_struct(tw_cdr_reader *r, const tw_cdr_scope *scope)
{
    r->depth--;
    tw_cdr_leave(r, scope);
}

/** Whether another member follows. An older version of an appendable type has fewer. */
static inline bool tw_cdr_has_member(const tw_cdr_reader *r, const tw_cdr_scope *scope)
{
    return !scope->may_end || r->position < r->limit;
}

/** Parameter headers of XCDR1, short and extended; false also at the end of the list. */
static inline bool tw_cdr_read_list_header(tw_cdr_reader *r, tw_cdr_member *member, size_t *length)
{
    const uint8_t *at = tw_cdr_take(r, 4, 4);
    uint16_t first;
    uint16_t second;
    if (at == NULL)
        return false;
    first = tw_cdr_get_uint16(at, r->swap);
    second = tw_cdr_get_uint16(at + 2, r->swap);
    member->must_understand = (first & TW_CDR_LIST_MUST_UNDERSTAND) != 0;
    member->id = first & 0x3fff;
    *length = second;
    if (member->id == TW_CDR_LIST_END)
        return false;
    if (member->id == TW_CDR_LIST_EXTENDED) {
        uint32_t word;
        if (second < 8)
            return tw_cdr_reject(r, TW_CDR_HEADER);
        at = tw_cdr_take(r, 4, 8);
        if (at == NULL)
            return false;
        word = tw_cdr_get_uint32(at, r->swap);
        member->must_understand = (word >> 30 & 1) != 0;
        member->id = word & 0x0fffffff;
        *length = tw_cdr_get_uint32(at + 4, r->swap);
    }
    return true;
}

/** The header of a member of XCDR2 (XTypes 1.3 section 7.4.3.4.2). */
static inline bool tw_cdr_read_member_header(tw_cdr_reader *r, tw_cdr_member *member, size_t *length)
{
    static const uint8_t units[] = { 1, 4, 8 };
    uint32_t word;
    uint32_t count;
    uint32_t code;
    uint64_t bytes;
    size_t position;
    if (!tw_cdr_read_uint32(r, &word))
        return false;
    member->must_understand = word >> 31 != 0;
    member->id = word & 0x0fffffff;
    code = word >> 28 & 7;
    if (code < 4) {
        *length = (size_t)1 << code;
        return true;
    }
    position = r->position;
    if (!tw_cdr_read_uint32(r, &count))
        return false;
    if (code == 4) {
        *length = count;
        return true;
    }
    /* The length is the first word of the value, too. */
    r->position = position;
    bytes = (uint64_t)count * units[code - 5] + 4;
    if (bytes > r->limit - r->position)
        return tw_cdr_reject(r, TW_CDR_END);
    *length = (size_t)bytes;
    return true;
}

/** Begins the value after a header. */
static inline bool tw_cdr_enter_member(tw_cdr_reader *r, tw_cdr_member *member, size_t length)
{
    member->delimited = true;
    member->outer = r->limit;
    member->origin = r->origin;
    if (!tw_cdr_narrow(r, length))
        return false;
    if (r->version == TW_CDR_XCDR1)
        r->origin = r->position;
    return true;
}

static inline void tw_cdr_leave_member(tw_cdr_reader *r, const tw_cdr_member *member)
{
    if (member->delimited) {
        r->position = r->limit;
        r->limit = member->outer;
        r->origin = member->origin;
    }
}

/** Begins the next member of a mutable struct; false at the end, and on a failure. */
static inline bool tw_cdr_next_member(tw_cdr_reader *r, const tw_cdr_scope *scope, tw_cdr_member *member)
{
    size_t length;
    for (;;) {
        if (scope->delimited && r->position == r->limit)
            return false;
        if (r->version == TW_CDR_XCDR1) {
            if (!tw_cdr_read_list_header(r, member, &length))
                return false;
        } else if (!tw_cdr_read_member_header(r, member, &length)) {
            return false;
        }
        /* An empty value is an optional member that is absent. */
        if (length > 0)
            return tw_cdr_enter_member(r, member, length);
    }
}

/** Refuses the sample if a member that the type does not have was marked as indispensable. */
static inline bool tw_cdr_skip_unknown(tw_cdr_reader *r, const tw_cdr_member *member)
{
    return !member->must_understand || tw_cdr_reject(r, TW_CDR_MUST_UNDERSTAND);
}

/** Begins an optional member of a struct that is not mutable, if it is `present`. */
static inline bool tw_cdr_enter_optional(tw_cdr_reader *r, const tw_cdr_scope *scope, uint32_t id,
                                         tw_cdr_member *member, bool *present)
{
    size_t length;
    member->delimited = false;
    /* Compilers do not see that these are used of a delimited one alone. */
    member->outer = r->limit;
    member->origin = r->origin;
    *present = false;
    if (!tw_cdr_has_member(r, scope))
        return true;
    if (r->version == TW_CDR_XCDR2)
        return tw_cdr_read_boolean(r, present);
    if (!tw_cdr_read_list_header(r, member, &length) || member->id != id)
        return tw_cdr_reject(r, TW_CDR_HEADER);
    *present = length > 0;
    return !*present || tw_cdr_enter_member(r, member, length);
}

/** Begins the discriminator of a mutable union. */
static inline bool tw_cdr_enter_discriminator(tw_cdr_reader *r, const tw_cdr_scope *scope, tw_cdr_member *member)
{
    if (!tw_cdr_next_member(r, scope, member) || member->id != 0)
        return tw_cdr_reject(r, TW_CDR_HEADER);
    return true;
}

/** Passes over the members that are left of a mutable union. */
static inline bool tw_cdr_skip_members(tw_cdr_reader *r, const tw_cdr_scope *scope)
{
    tw_cdr_member member;
    while (tw_cdr_next_member(r, scope, &member)) {
        if (!tw_cdr_skip_unknown(r, &member))
            return false;
        tw_cdr_leave_member(r, &member);
    }
    return r->status == TW_CDR_OK;
}

/** Passes over a union whose discriminator its type does not have: a failure, unless a member is being tried and it is known
 * where the union ends, as that of a mutable one is, or that of an appendable one in XCDR2. */
static inline bool tw_cdr_skip_union(tw_cdr_reader *r, tw_cdr_extensibility extensibility, const tw_cdr_scope *scope)
{
    if (r->tries == 0 || !(scope->delimited || extensibility == TW_CDR_MUTABLE))
        return tw_cdr_reject(r, TW_CDR_LITERAL);
    r->failed = true;
    if (!scope->delimited && !tw_cdr_skip_members(r, scope))
        return false;
    tw_cdr_leave_struct(r, scope);
    return true;
}

/** Begins a sequence or map whose elements take at least `least` bytes each, and `size` in memory. */
static inline bool tw_cdr_enter_sequence(tw_cdr_reader *r, uint32_t bound, bool primitive, size_t least,
                                         size_t size, tw_cdr_scope *scope, uint32_t *length)
{
    scope->outer = r->limit;
    scope->delimited = !primitive && r->version == TW_CDR_XCDR2;
    scope->may_end = false;
    if (scope->delimited && !tw_cdr_enter_length(r))
        return false;
    if (!tw_cdr_read_uint32(r, length))
        return false;
    if (*length > (r->limit - r->position) / least)
        return tw_cdr_reject(r, TW_CDR_LENGTH);
    if (bound != 0 && *length > bound && !tw_cdr_not_constructed(r, TW_CDR_LENGTH))
        return false;
    return tw_cdr_charge(r, *length, size);
}

/** Begins an array of `count` elements that are not primitive. */
static inline bool tw_cdr_enter_array(tw_cdr_reader *r, size_t count, tw_cdr_scope *scope)
{
    scope->outer = r->limit;
    scope->delimited = r->version == TW_CDR_XCDR2;
    scope->may_end = false;
    if (scope->delimited && !tw_cdr_enter_length(r))
        return false;
    return count <= r->limit - r->position || tw_cdr_reject(r, TW_CDR_END);
}

/* -- Payloads -- */

/** Begins a payload in place of the one before (RTPS 2.5 section 10.2). */
static inline bool tw_cdr_open_payload(tw_cdr_writer *w, tw_cdr_version version, tw_cdr_extensibility extensibility)
{
    static const uint8_t kinds[2][3] = { { 0x00, 0x00, 0x02 }, { 0x06, 0x08, 0x0a } };
    uint8_t *at;
    w->size = 0;
    w->swap = w->big_endian != tw_cdr_is_big();
    w->origin = 0;
    w->status = TW_CDR_OK;
    w->member = NULL;
    w->depth = 0;
    w->version = version == TW_CDR_XCDR1 ? TW_CDR_XCDR1 : TW_CDR_XCDR2;
    w->max_align = w->version == TW_CDR_XCDR1 ? 8 : 4;
    at = tw_cdr_room(w, 1, 4);
    if (at == NULL)
        return false;
    at[0] = 0;
    at[1] = (uint8_t)(kinds[w->version == TW_CDR_XCDR1 ? 0 : 1][extensibility] | (w->big_endian ? 0 : 1));
    at[2] = 0;
    at[3] = 0;
    w->origin = w->size;
    return true;
}

/** Ends a payload: pads it to a multiple of four, and tells by how much. */
static inline tw_cdr_status tw_cdr_close_payload(tw_cdr_writer *w, bool written)
{
    size_t padding = (0 - w->size) & 3;
    if (written && tw_cdr_room(w, 4, 0) != NULL)
        w->data[3] = (uint8_t)padding;
    if (w->status != TW_CDR_OK)
        w->size = 0;
    return w->status;
}

/** Looks at the first four bytes of a payload of a type of this extensibility. */
static inline bool tw_cdr_enter_payload(tw_cdr_reader *r, const void *payload, size_t size,
                                        tw_cdr_extensibility extensibility)
{
    const uint8_t *at = (const uint8_t *)payload;
    uint8_t padding;
    tw_cdr_extensibility told;
    memset(r, 0, sizeof *r);
    r->version = TW_CDR_XCDR1;
    r->max_align = 8;
    if (at == NULL || size < 4)
        return tw_cdr_reject(r, TW_CDR_END);
    if (at[0] != 0)
        return tw_cdr_reject(r, TW_CDR_ENCAPSULATION);
    switch (at[1] & 0xfe) {
    case 0x00: told = extensibility == TW_CDR_APPENDABLE ? TW_CDR_APPENDABLE : TW_CDR_FINAL; break;
    case 0x02: told = TW_CDR_MUTABLE; break;
    case 0x06: told = TW_CDR_FINAL; break;
    case 0x08: told = TW_CDR_APPENDABLE; break;
    case 0x0a: told = TW_CDR_MUTABLE; break;
    default: return tw_cdr_reject(r, TW_CDR_ENCAPSULATION);
    }
    if (at[1] >= 0x06) {
        r->version = TW_CDR_XCDR2;
        r->max_align = 4;
    }
    padding = at[3] & 3;
    if (size - 4 < padding)
        return tw_cdr_reject(r, TW_CDR_END);
    if (told != extensibility)
        return tw_cdr_reject(r, TW_CDR_EXTENSIBILITY);
    r->bytes = at + 4;
    r->limit = size - 4 - padding;
    r->swap = ((at[1] & 1) == 0) != tw_cdr_is_big();
    r->allowance = r->limit > (SIZE_MAX - TW_CDR_MEMORY_AT_LEAST) / TW_CDR_MEMORY_PER_BYTE
                       ? SIZE_MAX
                       : r->limit * TW_CDR_MEMORY_PER_BYTE + TW_CDR_MEMORY_AT_LEAST;
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
