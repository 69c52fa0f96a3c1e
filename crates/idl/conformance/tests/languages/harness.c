/*
 * Reads payloads from standard input, and answers each by what generated code makes of it. `types.h`
 * has the headers and TYPES(T), a T(name) for each type.
 *
 * A question is three words, the number of the type, whether it is a key, and the length, and the
 * payload. An answer is the status, and if that is 0 the value again: four payloads, of XCDR1 and XCDR2,
 * in little-endian and big-endian; then the keys in the same way; each after its length. With a number of a type as its argument, the program tells that one's IDL.
 */
#include <stdio.h>

#include "types.h"

typedef tw_cdr_status to_payload(const void *value, tw_cdr_version version, tw_cdr_writer *w);
typedef tw_cdr_status from_payload(void *value, const void *payload, size_t size);

struct functions {
    const char *name;
    const char *idl;
    void *values[3];
    size_t size;
    bool (*init)(void *);
    void (*destroy)(void *);
    bool (*copy)(void *, const void *);
    to_payload *to[2];
    from_payload *from[2];
};

#define FUNCTIONS(X)                                                                                   \
    static X X##_values[3];                                                                            \
    static bool X##_i(void *v) { return X##_init((X *)v); }                                            \
    static void X##_f(void *v) { X##_free((X *)v); }                                                   \
    static bool X##_c(void *t, const void *f) { return X##_copy((X *)t, (const X *)f); }               \
    static tw_cdr_status X##_t(const void *v, tw_cdr_version e, tw_cdr_writer *w)                      \
    {                                                                                                  \
        return X##_to_payload((const X *)v, e, w);                                                     \
    }                                                                                                  \
    static tw_cdr_status X##_tk(const void *v, tw_cdr_version e, tw_cdr_writer *w)                     \
    {                                                                                                  \
        return X##_key_to_payload((const X *)v, e, w);                                                 \
    }                                                                                                  \
    static tw_cdr_status X##_r(void *v, const void *p, size_t s)                                       \
    {                                                                                                  \
        return X##_from_payload((X *)v, p, s);                                                         \
    }                                                                                                  \
    static tw_cdr_status X##_rk(void *v, const void *p, size_t s)                                      \
    {                                                                                                  \
        return X##_key_from_payload((X *)v, p, s);                                                     \
    }
TYPES(FUNCTIONS)

#define ROW(X)                                                                                         \
    { #X, X##_idl, { &X##_values[0], &X##_values[1], &X##_values[2] }, sizeof(X), X##_i, X##_f, X##_c,          \
      { X##_t, X##_tk }, { X##_r, X##_rk } },
static const struct functions all[] = { TYPES(ROW) };

static bool read_words(uint32_t *words, size_t count)
{
    return fread(words, sizeof *words, count, stdin) == count;
}

static void die(const char *name, const char *why)
{
    fprintf(stderr, "%s: %s\n", name, why);
    exit(1);
}

static void answer(const tw_cdr_writer *w)
{
    uint32_t size = (uint32_t)w->size;
    fwrite(&size, sizeof size, 1, stdout);
    fwrite(w->data, 1, w->size, stdout);
}

/* Writes a value in all ways; each of them, read again, must give the same bytes. */
static void answer_all(const struct functions *of, int form, const void *value, tw_cdr_writer *w)
{
    tw_cdr_writer again = TW_CDR_WRITER;
    int way;
    for (way = 0; way < 4; way++) {
        tw_cdr_version version = way % 2 == 0 ? TW_CDR_XCDR1 : TW_CDR_XCDR2;
        tw_cdr_writer fixed;
        void *exact;
        w->big_endian = way >= 2;
        if (of->to[form](value, version, w) != TW_CDR_OK)
            die(of->name, w->member == NULL ? "cannot be written" : w->member);
        answer(w);

        again.big_endian = w->big_endian;
        if (of->from[form](of->values[1], w->data, w->size) != TW_CDR_OK)
            die(of->name, "what was written cannot be read");
        if (of->to[form](of->values[1], version, &again) != TW_CDR_OK || again.size != w->size
            || memcmp(again.data, w->data, w->size) != 0)
            die(of->name, "what was written is read as something else");

        /* Into memory of the exact size, and into less. */
        exact = malloc(w->size);
        fixed = tw_cdr_writer_over(exact, w->size);
        fixed.big_endian = w->big_endian;
        if (of->to[form](value, version, &fixed) != TW_CDR_OK || memcmp(exact, w->data, w->size) != 0)
            die(of->name, "does not fit its own size");
        fixed = tw_cdr_writer_over(exact, w->size - 1);
        if (of->to[form](value, version, &fixed) != TW_CDR_NO_ROOM)
            die(of->name, "is written where there is no room");
        free(exact);
    }
    tw_cdr_writer_free(&again);
}

int main(int argc, char **argv)
{
    tw_cdr_writer w = TW_CDR_WRITER;
    uint32_t question[3];
    size_t i;
    if (argc > 1) {
        fputs(all[strtoul(argv[1], NULL, 10)].idl, stdout);
        return 0;
    }
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i].init(all[i].values[0]))
            die(all[i].name, "cannot begin");
    while (read_words(question, 3)) {
        const struct functions *of = &all[question[0]];
        int form = (int)question[1];
        /* Memory of exactly that size, so that reading further is noticed. */
        uint8_t *payload = (uint8_t *)malloc(question[2] == 0 ? 1 : question[2]);
        int32_t status;
        if (fread(payload, 1, question[2], stdin) != question[2])
            die("input", "too short");
        status = of->from[form](of->values[0], payload, question[2]);
        free(payload);
        fwrite(&status, sizeof status, 1, stdout);
        if (status == TW_CDR_OK) {
            answer_all(of, form, of->values[0], &w);
            if (form == 0) {
                if (!of->copy(of->values[2], of->values[0]))
                    die(of->name, "cannot be copied");
                answer_all(of, 1, of->values[2], &w);
                answer_all(of, 0, of->values[2], &w);
            }
        }
        /* Now and then memory is not used again. */
        if (question[2] % 16 == 0)
            for (i = 0; i < 3; i++)
                of->destroy(of->values[i]);
        fflush(stdout);
    }
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        size_t v;
        for (v = 0; v < 3; v++)
            all[i].destroy(all[i].values[v]);
    }
    tw_cdr_writer_free(&w);
    return 0;
}
