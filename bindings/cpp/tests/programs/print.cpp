/* What `<<` of std::ostream shows of values. */
#include <iomanip>
#include <iostream>
#include <sstream>

#include "print.hpp"

namespace own {
struct Ostream : std::ostringstream {};
} // namespace own

/* A program may show a type in its own way. */
static bool ours = false;
namespace print {
static std::ostream &operator<<(std::ostream &out, const Node &node)
{
    ours = true;
    return out << node.value() << " and " << node.children().size();
}
} // namespace print

template <class T>
static void check(const T &value, const std::string &expected)
{
    own::Ostream out;
    out << value;
    if (out.str() != expected) {
        std::cerr << "is   " << out.str() << "\nnot  " << expected << std::endl;
        std::exit(1);
    }
}

int main()
{
    using namespace print;
    check(Side::SELL, "SELL");
    check(Side::_cxx_new, "new");
    check(static_cast<Side>(5), "5");
    check(::Traits(3), "[out: 3]");
    Bits bits;
    bits.low = 5;
    bits.flag = true;
    bits.level = -16;
    check(bits, "[low: 5, flag: true, level: -16]");
    check(Closed(SELL), "[side: SELL]");
    check(Empty(), "[]");

    Choice choice;
    check(choice, "[_d: new]");
    choice.level(Level(1, 2));
    check(choice, "[_d: BUY, level: [price: 1, size: 2]]");
    choice.text("a \"b\" \\ c\n\t\x1b \xc2\x9b \xc3\xa9 \x7f");
    check(choice, R"([_d: SELL, text: "a \"b\" \\ c\n\t\u001b \u009b )"
                  "\xc3\xa9"
                  R"( \u007f"])");
    choice._d(Side::_cxx_new);
    check(choice, "[_d: new]");
    ByOctet bytes;
    bytes.number(-1);
    check(bytes, "[_d: 1, number: -1]");
    bytes.bytes({1, 255});
    check(bytes, "[_d: 0, bytes: [1, 255]]");

    check(Order(), "[symbol: \"\", side: BUY, phases: 0, bits: [low: 0, flag: false, level: 0], small: 0, tiny: 0, "
                   "letter: '\\u0000', wide: '\\u0000', live: false, ratio: 0, number: 0, title: \"\", flags: [], words: [], "
                   "grid: [[0, 0], [0, 0]], levels: {}, sides: {}, limit: null, missing: null, "
                   "apart: [price: 0, size: 0], both: null, choice: [_d: new], "
                   "bytes: [_d: 0, bytes: []], class: 0]");
    Order order;
    order.symbol("ESZ6");
    order.side(SELL);
    order.phases(PhasesBits::OPEN | PhasesBits::AUCTION);
    order.bits(bits);
    order.small(200);
    order.tiny(-3);
    order.letter('\'');
    order.wide(u'\u20ac');
    order.live(true);
    order.ratio(0.5f);
    order.number(-9223372036854775807 - 1);
    order.title(u"g\u00fc\u20ac\U0001F600");
    order.title() += static_cast<char16_t>(0xd800);
    order.flags({true, false});
    order.words({"a", ""});
    order.grid({{{1, 2}, {3, 4}}});
    order.levels()["x"] = Level(1.5, 2);
    order.levels()["y"] = Level();
    order.sides()[7] = SELL;
    order.limit(101.25);
    order.apart()->size(1);
    order.both(Level(2, 3));
    order.bytes(bytes);
    order._cxx_class(4);
    check(order, "[symbol: \"ESZ6\", side: SELL, phases: 9, bits: [low: 5, flag: true, level: -16], small: 200, tiny: -3, "
                 "letter: '\\'', wide: '\xe2\x82\xac', live: true, ratio: 0.5, number: -9223372036854775808, "
                 "title: \"g\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\\ud800\", flags: [true, false], words: [\"a\", \"\"], "
                 "grid: [[1, 2], [3, 4]], levels: {\"x\": [price: 1.5, size: 2], \"y\": [price: 0, size: 0]}, "
                 "sides: {7: SELL}, limit: 101.25, missing: null, apart: [price: 0, size: 1], "
                 "both: [price: 2, size: 3], choice: [_d: new], "
                 "bytes: [_d: 0, bytes: [1, 255]], class: 4]");
    const tickwire::external<Level> moved = std::move(order.apart());
    std::ostringstream out;
    out << order;
    if (out.str().find("apart: null") == std::string::npos)
        return 1;

    // Numbers are as the stream shows them.
    out.str("");
    out << std::fixed << std::setprecision(2) << Level(1.0 / 3, 10);
    if (out.str() != "[price: 0.33, size: 10]")
        return 1;

    out.str("");
    out << Node(1, {Node(), Node()}, std::nullopt);
    return out.str() == "1 and 2" && ours ? 0 : 1;
}
