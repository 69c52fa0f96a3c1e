/* Types with unlikely names keep their values, and begin with what their IDL says. */
#include <cstdio>
#include <cstdlib>

#include <dds/dds.hpp>

#include "names.hpp"

static void check(bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::exit(1);
    }
}
#define CHECK(CONDITION) check((CONDITION), #CONDITION)

/* Writes and reads a value in both versions of the encoding. */
template <class T>
static void round_trip(T value)
{
    tickwire::Buffer buffer;
    T again;
    for (const auto version : {TW_CDR_XCDR1, TW_CDR_XCDR2}) {
        CHECK(tickwire::to_payload(value, version, buffer) == TW_CDR_OK);
        CHECK(tickwire::from_payload(again, buffer.data(), buffer.size()) == TW_CDR_OK);
        CHECK(value == again && !(value != again));
        swap(value, again);
    }
}

int main()
{
    round_trip(_cxx_time(1, "x"));
    round_trip(_cxx_dds::Duration());
    round_trip(_cxx_tickwire::cdr::Codec(3, _cxx_tickwire::external(4)));
    CHECK(_cxx_std::int8_t == _cxx_std::E::int8_t && _cxx_std::_cxx_new == _cxx_std::E::_cxx_new);

    m::D d;
    d.v(3);
    d.level(m::Level());
    (*d.level())->v(7);
    round_trip(d);
    m::One one;
    one.one().resize(3);
    one.one()[1].one().resize(1);
    round_trip(one);
    m::m::Text text;
    text.u()[1][1].select(m::Level());
    text.u()[0][1].which({m::U(), m::U()});
    text.u()[1][0].d("hey");
    text.tickwire()["k"] = d;
    text.flags({true, false, true});
    text.bits({true, false, true});
    round_trip(text);

    m::Defaults defaults;
    CHECK(defaults.t() == "x?/" && defaults.c() == 0x20ac && defaults.ws() == u"g\u00fc1" && defaults.q() == '\'');
    defaults.us().resize(2);
    defaults.b({{true}, {false, true}});
    round_trip(defaults);
    m::Mutable begun;
    CHECK(begun.kinds()[1][2] == m::LOW && begun.h() == m::Kind::HIGH && *begun.ed() == "hi" && !begun.k());
    CHECK(*begun.ek() == m::LOW && (*begun.eks())[1] == m::LOW);
    begun.k(m::HIGH);
    round_trip(begun);
    CHECK(m::S == "a?b" && m::W == u"\u00e9x1");

    m::U chosen;
    bool thrown = false;
    try {
        chosen.d();
    } catch (const std::bad_variant_access &) {
        thrown = true;
    }
    CHECK(thrown);
    chosen._d(2);
    CHECK(chosen.d().empty());
    chosen._d(9);
    CHECK(chosen != m::U());

    // What is given may be of the same union.
    const std::string text_of_heap = "this is longer than what fits into a string itself";
    m::V own;
    own.value(text_of_heap);
    own.taken(own.value());
    CHECK(own._d() == 1 && own.taken() == text_of_heap);
    own.value(std::move(own.taken()));
    CHECK(own._d() == 0 && own.value() == text_of_heap);
    own.value(own.value());
    own.value(std::move(own.value()));
    CHECK(own.value() == text_of_heap);
    own.many({"", text_of_heap});
    own.value(own.many()[1]);
    CHECK(own.value() == text_of_heap);
    m::U outer;
    outer.which({m::U(), m::U()});
    outer.which()[1].which({m::U(), m::U(), m::U()});
    outer.which(outer.which()[1].which());
    CHECK(outer.which().size() == 3 && outer.which()[2] == m::U());

    // What is too long for its bound is refused, and where is told.
    tickwire::Buffer buffer;
    defaults.t("longer");
    CHECK(tickwire::to_payload(defaults, TW_CDR_XCDR2, buffer) == TW_CDR_LENGTH);
    CHECK(std::string(buffer.member()) == "m::Defaults.t" && buffer.size() == 0);
    // So is a value that is no literal, and a NUL within a text.
    begun.h(static_cast<m::Kind>(5));
    CHECK(tickwire::to_payload(begun, TW_CDR_XCDR2, buffer) == TW_CDR_LITERAL);
    CHECK(tickwire::to_payload(_cxx_time(1, std::string("a\0b", 3)), TW_CDR_XCDR1, buffer) == TW_CDR_TEXT);
    return 0;
}
