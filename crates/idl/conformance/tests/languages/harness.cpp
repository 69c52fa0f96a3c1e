/*
 * The same as harness.c with generated C++: reads payloads from standard input, and answers each by what becomes of it.
 * `types.h` has the headers and TYPES(T), a T(name) for each type.
 */
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "types.h"

namespace {

struct functions {
    const char *name;
    const char *idl;
    tw_cdr_status (*from[2])(int which, const void *payload, std::size_t size);
    tw_cdr_status (*to[2])(int which, tw_cdr_version version, tw_cdr_writer *w);
    void (*copy)();
    void (*move)();
    void (*forget)();
};

template <class T>
struct Of {
    static T &value(int which)
    {
        static T values[3];
        return values[which];
    }
    static tw_cdr_status from(int which, const void *payload, std::size_t size)
    {
        return tickwire::from_payload(value(which), payload, size);
    }
    static tw_cdr_status from_key(int which, const void *payload, std::size_t size)
    {
        return tickwire::key_from_payload(value(which), payload, size);
    }
    static tw_cdr_status to(int which, tw_cdr_version version, tw_cdr_writer *w)
    {
        return tickwire::to_payload(value(which), version, w);
    }
    static tw_cdr_status to_key(int which, tw_cdr_version version, tw_cdr_writer *w)
    {
        return tickwire::key_to_payload(value(which), version, w);
    }
    static void copy()
    {
        value(2) = value(0);
        // Unless there is no number in it, a value is the same as its copy.
        if (value(2) != value(0) && value(0) == value(0))
            std::abort();
        std::ostringstream shown, copied;
        shown << value(0);
        copied << value(2);
        if (shown.str() != copied.str() || shown.str().front() != '[' || shown.str().back() != ']')
            std::abort();
    }
    static void move()
    {
        T made(std::move(value(2)));
        swap(value(2), made);
        T other(value(2));
        value(2) = std::move(other);
    }
    static void forget()
    {
        for (int which = 0; which < 3; which++)
            value(which) = T();
    }
};

#define ROW(X)                                                                                                    \
    {#X,                                                                                                          \
     tickwire::cdr::Codec<X>::idl(),                                                                              \
     {Of<X>::from, Of<X>::from_key},                                                                              \
     {Of<X>::to, Of<X>::to_key},                                                                                  \
     Of<X>::copy,                                                                                                 \
     Of<X>::move,                                                                                                 \
     Of<X>::forget},
const functions all[] = {TYPES(ROW)};

[[noreturn]] void die(const char *name, const char *why)
{
    std::fprintf(stderr, "%s: %s\n", name, why);
    std::exit(1);
}

void answer(const tw_cdr_writer *w)
{
    const auto size = static_cast<std::uint32_t>(w->size);
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(w->data, 1, w->size, stdout);
}

/* Writes a value in all ways; each of them, read again, must give the same bytes. */
void answer_all(const functions &of, int form, int which, tw_cdr_writer *w)
{
    tw_cdr_writer again = TW_CDR_WRITER;
    for (int way = 0; way < 4; way++) {
        const tw_cdr_version version = way % 2 == 0 ? TW_CDR_XCDR1 : TW_CDR_XCDR2;
        w->big_endian = way >= 2;
        if (of.to[form](which, version, w) != TW_CDR_OK)
            die(of.name, w->member == nullptr ? "cannot be written" : w->member);
        answer(w);

        again.big_endian = w->big_endian;
        if (of.from[form](1, w->data, w->size) != TW_CDR_OK)
            die(of.name, "what was written cannot be read");
        if (of.to[form](1, version, &again) != TW_CDR_OK || again.size != w->size ||
            std::memcmp(again.data, w->data, w->size) != 0)
            die(of.name, "what was written is read as something else");

        /* Into memory of the exact size, and into less. */
        void *exact = std::malloc(w->size);
        tw_cdr_writer fixed = tw_cdr_writer_over(exact, w->size);
        fixed.big_endian = w->big_endian;
        if (of.to[form](which, version, &fixed) != TW_CDR_OK || std::memcmp(exact, w->data, w->size) != 0)
            die(of.name, "does not fit its own size");
        fixed = tw_cdr_writer_over(exact, w->size - 1);
        if (of.to[form](which, version, &fixed) != TW_CDR_NO_ROOM)
            die(of.name, "is written where there is no room");
        std::free(exact);
    }
    tw_cdr_writer_free(&again);
}

} // namespace

int main(int argc, char **argv)
{
    tw_cdr_writer w = TW_CDR_WRITER;
    std::uint32_t question[3];
    if (argc > 1) {
        std::fputs(all[std::strtoul(argv[1], nullptr, 10)].idl, stdout);
        return 0;
    }
    while (std::fread(question, sizeof *question, 3, stdin) == 3) {
        const functions &of = all[question[0]];
        const int form = static_cast<int>(question[1]);
        /* Memory of exactly that size, so that reading further is noticed. */
        void *payload = std::malloc(question[2] == 0 ? 1 : question[2]);
        if (std::fread(payload, 1, question[2], stdin) != question[2])
            die("input", "too short");
        const std::int32_t status = of.from[form](0, payload, question[2]);
        std::free(payload);
        std::fwrite(&status, sizeof status, 1, stdout);
        if (status == TW_CDR_OK) {
            answer_all(of, form, 0, &w);
            if (form == 0) {
                of.copy();
                answer_all(of, 1, 2, &w);
                of.move();
                answer_all(of, 0, 2, &w);
            }
        }
        /* Now and then memory is not used again. */
        if (question[2] % 16 == 0)
            of.forget();
        std::fflush(stdout);
    }
    tw_cdr_writer_free(&w);
    return 0;
}
