/* Writes or reads the topics of matrix.idl, as matrix.py says. */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <dds/dds.hpp>

#include "matrix.hpp"

using namespace matrix;

namespace {

constexpr int COUNT = 4;
/* Whose instance is disposed of that a sample of this number has. */
template <class T>
constexpr bool ENDING = std::is_same_v<T, Keyed> || std::is_same_v<T, Sides>;
constexpr int DISPOSED = 1;
const dds::core::Duration PATIENCE(10);
/* Who has waited in vain once looks at what is there, and says how much that is. */
dds::core::Duration patience = PATIENCE;

template <class T, class Of>
std::vector<T> several(int count, Of of)
{
    std::vector<T> all;
    for (int i = 0; i < count; i++)
        all.push_back(of(i));
    return all;
}

Numbers numbers(int n)
{
    return Numbers(n % 2 == 1, n + 1, 'a' + n, -n, 200 + n, -1000 * n, 60000 + n, -100000 * n, 4000000000u + n,
                   -(INT64_C(1) << 40) * n, (UINT64_C(1) << 63) + n, n + 0.5f, n * 1e100);
}

Texts texts(int n)
{
    return Texts(n ? "text " + std::to_string(n) + " é€📈" : "", "m" + std::to_string(n));
}

Wides wides(int n)
{
    std::u16string digit(1, static_cast<char16_t>(u'0' + n));
    return Wides(u"wide " + digit + u" é€📈", u"w" + digit, static_cast<char16_t>(0x20ac + n),
                 std::vector<std::u16string>(n, u"é"));
}

Side side(int n) { return n % 2 ? SELL : BUY; }

Named named(int n)
{
    int flags = (n & 1 ? FlagsBits::OPEN : 0) | (n & 2 ? FlagsBits::HALTED : 0);
    return Named(side(n), n % 2 ? State::OPENED : State::CLOSED, static_cast<Flags>(flags),
                 several<std::int32_t>(n, [](int i) { return i; }), VENUE, TICK * n, DEPTH, MARK, LIVE);
}

Masks masks(int n)
{
    Masks of;
    if (n & 1) {
        of.narrow() |= NarrowBits::LOW16;
        of.usual() |= UsualBits::LOW32;
        of.broad() |= BroadBits::LOW64;
    }
    if (n & 2) {
        of.narrow() |= NarrowBits::HIGH16;
        of.usual() |= UsualBits::HIGH32;
        of.broad() |= BroadBits::HIGH64;
    }
    if (n == 3)
        of.broad() |= BroadBits::MIDDLE64;
    of.more(std::vector<Narrow>(n, of.narrow()));
    return of;
}

Row row(int n, int i) { return {n * 100 + i * 10, n * 100 + i * 10 + 1, n * 100 + i * 10 + 2}; }

Grid grid(int n) { return {row(n, 0), row(n, 1)}; }

Aliases aliases(int n)
{
    return Aliases(row(n, 0), grid(n), {row(n, 2), row(n, 3)}, several<Row>(n, [n](int i) { return row(n, i); }),
                   several<Grid>(n, grid));
}

Bitsets bitsets(int n)
{
    Bits bits;
    bits.low = static_cast<std::uint8_t>(n);
    bits.flag = n % 2 == 1;
    bits.below_zero = static_cast<std::int16_t>(-n);
    return Bitsets(bits, std::vector<Bits>(n, bits));
}

Point point(int n, int at) { return Point(n + 0.5, at); }

Level level(int n) { return Level(n + 0.25, n); }

std::string text(const char *before, int n) { return before + std::to_string(n); }

Choice choice(int n)
{
    Choice of;
    switch (n % 3) {
    case 0: of.level(level(n)); break;
    case 1: of.price(n + 0.5); break;
    default: of.text(text("t", n)); break;
    }
    return of;
}

Choices choices(int n)
{
    BySide by_side;
    if (n % 2)
        by_side.texts(std::vector<std::string>(n, "s"));
    else
        by_side.number(n * 10);
    return Choices(choice(n), by_side, several<Choice>(n, choice));
}

Letters letters(int n)
{
    ByLetter by_letter;
    if (n == 1)
        by_letter.large(INT64_C(1) << 40);
    else if (n == 2)
        by_letter._d('\0');
    else
        by_letter.small(static_cast<std::int16_t>(n));
    return Letters(by_letter);
}

Mutables mutables(int n)
{
    ByBool by_bool;
    if (n % 2)
        by_bool.point(point(n, n));
    else
        by_bool.plain(static_cast<std::uint8_t>(n));
    return Mutables(by_bool);
}

std::vector<double> eighths(int n)
{
    return several<double>(n, [](int i) { return i / 8.0; });
}

Collections collections(int n)
{
    Collections of;
    of.numbers(eighths(n));
    of.levels(several<Level>(n, level));
    of.texts(several<std::vector<std::string>>(n, [](int i) { return std::vector<std::string>(i, "s"); }));
    of.truths(several<bool>(n, [](int i) { return i % 2 == 1; }));
    of.sides(several<Side>(n, side));
    of.blob(several<std::uint8_t>(n, [](int i) { return static_cast<std::uint8_t>(i); }));
    for (int i = 0; i < 4; i++)
        of.digest()[i] = static_cast<std::uint8_t>(n + i);
    of.grid(grid(n));
    of.points({point(n, 0), point(n, 1)});
    of.names({text("n", n), ""});
    of.spread()[0] = several<Point>(n, [](int i) { return point(i, i); });
    return of;
}

Maps maps(int n)
{
    Maps of;
    for (int i = 0; i < n; i++) {
        of.by_name()[text("k", i)] = i;
        of.by_number()[i - 1] = level(i);
        of.bounded()[static_cast<std::int16_t>(i)] = eighths(i);
        if (i < 2)
            of.by_side()[side(i)] = i == 0;
        auto byte = static_cast<std::uint8_t>(i);
        of.octets()[byte] = static_cast<std::uint8_t>(200 + i);
        of.blobs()[text("k", i)] = several<std::uint8_t>(i, [](int j) { return static_cast<std::uint8_t>(j); });
    }
    return of;
}

Codes codes(int n)
{
    Codes of;
    if (n % 2)
        of.by_octet().number(-n);
    else
        of.by_octet().plain(static_cast<std::uint8_t>(n));
    if (n == 2)
        of.by_wide()._d(u'\0');
    else
        of.by_wide().price(n + 0.5);
    return of;
}

Absent absent(int n)
{
    Absent of;
    of.apart(level(n));
    if (n % 2) {
        of.number(n);
        of.text("");
        of.level(level(n));
        of.numbers(eighths(n));
        of.far(tickwire::external<Level>(level(n)));
        of.seven(n);
        of.note("x");
    }
    return of;
}

Derived derived(int n)
{
    Derived of;
    of.symbol(text("S", n));
    of.venue(n);
    of.price(n + 0.25);
    return of;
}

DerivedMutable derived_mutable(int n)
{
    DerivedMutable of;
    of.symbol(text("S", n));
    of.venue(n);
    of.price(n + 0.25);
    if (n % 2)
        of.note("note");
    return of;
}

DerivedFinal derived_final(int n)
{
    DerivedFinal of;
    of.symbol(text("S", n));
    of.venue(n);
    of.price(n + 0.25);
    return of;
}

Sides sides(int n)
{
    Sided sided;
    if (n % 2)
        sided.text(text("t", n));
    else
        sided.number(n);
    return Sides(sided, n + 0.25);
}

Words words(int n)
{
    except namespace_;
    if (n % 2)
        namespace_.yield(text("y", n));
    else
        namespace_.finally(n);
    return Words(n, text("t", n), n + 0.5, n % 2 ? pass::raise : pass::is, lambda(-n), namespace_);
}

Keyed keyed(int n) { return Keyed(text("S", n), Place(n, "note"), side(n), n + 0.25); }

Flowing flowing(int n)
{
    Flowing of;
    of.number(n);
    of.price(n + 0.25);
    of.text(text("t", n));
    of.level(level(n));
    of.loose(several<Loose>(n, [](int i) {
        return Loose(static_cast<std::uint8_t>(i), i % 2 ? std::optional<std::string>("s") : std::nullopt);
    }));
    if (n % 2)
        of.point(point(n, n));
    of.choice(choice(n));
    of.shorts(several<std::int16_t>(n, [](int i) { return static_cast<std::int16_t>(-i); }));
    return of;
}

Hashed hashed(int n) { return Hashed(n, text("t", n)); }

Tree tree(int n)
{
    Tree of;
    of.value(n);
    of.children(several<Tree>(n, tree));
    if (n % 2)
        of.next(tickwire::external<Tree>(tree(n - 1)));
    return of;
}

class Program {
public:
    Program(int argc, char **argv)
        : profile_(""), participant_(dds::domain::DomainParticipant(0, profile_.participant_qos())),
          publisher_(participant_), subscriber_(participant_), writes_(argc > 1 && std::string(argv[1]) == "write")
    {
        if (argc != (writes_ ? 6 : 4))
            throw std::invalid_argument("usage: write TOPICS NAME READERS REPRESENTATION | read TOPICS NAMES");
        topics_ = split(argv[2]);
        if (writes_) {
            own_ = argv[3];
            readers_ = std::atoi(argv[4]);
        } else {
            writers_ = split(argv[3]);
        }
    }

    void run()
    {
        topic("Numbers", numbers);
        topic("Texts", texts);
        topic("Wides", wides);
        topic("Named", named);
        topic("Masks", masks);
        topic("Aliases", aliases);
        topic("Choices", choices);
        topic("Letters", letters);
        topic("Mutables", mutables);
        topic("Collections", collections);
        topic("Maps", maps);
        topic("Codes", codes);
        topic("Absent", absent);
        topic("Derived", derived);
        topic("DerivedMutable", derived_mutable);
        topic("DerivedFinal", derived_final);
        topic("Keyed", keyed);
        topic("Flowing", flowing);
        topic("Hashed", hashed);
        topic("Tree", tree);
        topic("Bitsets", bitsets);
        topic("Sides", sides);
        topic("Words", words);
        for (const auto &rest : rest_)
            rest();
        if (writes_)
            std::cin.get();
    }

private:
    static std::vector<std::string> split(const char *text)
    {
        std::vector<std::string> names;
        std::istringstream all(text);
        for (std::string name; std::getline(all, name, ',');)
            names.push_back(name);
        return names;
    }

    template <class T>
    void topic(const std::string &name, T (*of)(int))
    {
        if (std::find(topics_.begin(), topics_.end(), name) == topics_.end())
            return;
        if (writes_) {
            dds::topic::Topic<T> topic(participant_, name + "_" + own_);
            dds::pub::DataWriter<T> writer(publisher_, topic, profile_.datawriter_qos());
            int readers = readers_;
            rest_.push_back([=]() mutable {
                writer.wait_for_matched(readers, PATIENCE);
                for (int n = 0; n < COUNT; n++)
                    writer << of(n);
                if constexpr (ENDING<T>)
                    writer.dispose_instance(of(DISPOSED));
                writer.wait_for_acknowledgments(PATIENCE);
            });
            return;
        }
        for (const std::string &other : writers_) {
            dds::topic::Topic<T> topic(participant_, name + "_" + other);
            dds::sub::DataReader<T> reader(subscriber_, topic, profile_.datareader_qos());
            rest_.push_back([=]() mutable {
                std::cout << name << " " << other << " " << verdict<T>(reader, of) << std::endl;
            });
        }
    }

    template <class T>
    static std::string verdict(dds::sub::DataReader<T> &reader, T (*of)(int))
    {
        int n = 0;
        bool ended = !ENDING<T>;
        std::string wrong = "ok";
        dds::core::cond::WaitSet wait;
        wait += dds::sub::cond::ReadCondition(reader, dds::sub::status::DataState::any());
        while (n < COUNT || !ended) {
            try {
                wait.wait(patience);
            } catch (const dds::core::TimeoutError &) {
                patience = dds::core::Duration::zero();
                return std::to_string(n) + " samples came, the end of an instance: " + (ended ? "yes" : "no");
            }
            for (const auto &sample : reader.take()) {
                if (sample.info().valid()) {
                    if (sample.data() != of(n))
                        wrong = "sample " + std::to_string(n) + " is not equal";
                    n++;
                } else if (sample.info().state().instance_state() ==
                           dds::sub::status::InstanceState::not_alive_disposed()) {
                    ended = true;
                    if constexpr (ENDING<T>) {
                        T key = of(DISPOSED);
                        if (reader.lookup_instance(key) != sample.info().instance_handle())
                            wrong = "another instance ended";
                    }
                }
            }
        }
        return wrong;
    }

    dds::core::QosProvider profile_;
    dds::domain::DomainParticipant participant_;
    dds::pub::Publisher publisher_;
    dds::sub::Subscriber subscriber_;
    bool writes_;
    std::string own_;
    int readers_ = 0;
    std::vector<std::string> topics_;
    std::vector<std::string> writers_;
    std::vector<std::function<void()>> rest_;
};

} // namespace

int main(int argc, char **argv)
{
    try {
        Program(argc, argv).run();
    } catch (const std::exception &e) {
        std::cerr << e.what() << std::endl;
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
