/* Uses each thing of the PSM that there is; ends with 1 at the first that is not as it should be. */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <thread>
#include <type_traits>

#include <dds/dds.hpp>

#include "psm.hpp"

using namespace dds::core::policy;
using dds::core::Duration;
using dds::core::InstanceHandle;
using dds::sub::status::DataState;
using dds::sub::status::InstanceState;
using dds::sub::status::SampleState;
using dds::sub::status::ViewState;
using test::Order;

/* A name of the program's own, which none of the policies' namespace hides. */
struct Settings {};
static const Settings settings;

static int line_of_failure(int line, const char *what)
{
    std::fprintf(stderr, "psm.cpp:%d: not so: %s\n", line, what);
    std::exit(1);
}
#define CHECK(CONDITION) ((CONDITION) ? 0 : line_of_failure(__LINE__, #CONDITION))
/* That an expression throws an exception of a kind, which says why. */
#define THROWS(KIND, EXPRESSION)                                                                                  \
    do {                                                                                                         \
        bool thrown = false;                                                                                     \
        try {                                                                                                    \
            EXPRESSION;                                                                                          \
        } catch (const dds::core::Exception &e) {                                                                \
            thrown = dynamic_cast<const KIND *>(&e) != nullptr && *e.what() != '\0';                             \
        }                                                                                                        \
        CHECK(thrown);                                                                                           \
    } while (false)

static const Duration PATIENCE(60);

/* Listeners that name both bases, as the standard lets them. */
class ReadsNothing : public virtual dds::sub::DataReaderListener<Order>,
                     public virtual dds::sub::NoOpDataReaderListener<Order> {
};
class WritesNothing : public virtual dds::pub::DataWriterListener<Order>,
                      public virtual dds::pub::NoOpDataWriterListener<Order> {
};
static_assert(!std::is_abstract<ReadsNothing>::value && !std::is_abstract<WritesNothing>::value, "both do nothing");

/* A topic's writer and reader, which know each other. */
struct Pair {
    Pair(const dds::domain::DomainParticipant &participant, const std::string &name)
        : publisher(participant), subscriber(participant), topic(participant, name), writer(publisher, topic, all()),
          reader(subscriber, topic, all())
    {
        writer.wait_for_matched(1, PATIENCE);
        reader.wait_for_matched(1, PATIENCE);
    }
    static dds::topic::qos::TopicQos all()
    {
        dds::topic::qos::TopicQos qos;
        qos << Reliability::Reliable() << History::KeepAll();
        return qos;
    }
    /* Waits until the reader has what was written. */
    void arrive() { writer.wait_for_acknowledgments(PATIENCE); }

    dds::pub::Publisher publisher;
    dds::sub::Subscriber subscriber;
    dds::topic::Topic<Order> topic;
    dds::pub::DataWriter<Order> writer;
    dds::sub::DataReader<Order> reader;
};

static Order order(int id, const char *text = "")
{
    return Order(7, id, test::Side::SELL, text, std::nullopt, {});
}

static void values()
{
    const Duration half(0, 500000000);
    CHECK(half + half == Duration(1) && half < Duration::infinite() && Duration(1) - half == half);
    CHECK(Duration(std::chrono::milliseconds(1500)).sec() == 1 && Duration::from_secs(1.5).nanosec() == 500000000);
    CHECK(Duration::from_millisecs(20).to_microsecs() == 20000 && Duration::infinite() + half == Duration::infinite());
    CHECK(dds::core::Time(5, 6).sec() == 5 && dds::core::Time(5) + half > dds::core::Time(5));
    // What is longer than can be told has no end.
    const Duration longest = Duration::nanoseconds(INT64_MAX - 1), least = Duration::nanoseconds(INT64_MIN);
    CHECK(longest + longest == Duration::infinite() && longest - least == Duration::infinite());
    CHECK(Duration() - least == Duration::infinite() && least - Duration(1) == least && least + least == least);
    CHECK(Duration::infinite() - Duration::infinite() == Duration::infinite());
    CHECK(Duration(std::chrono::hours::max()) == Duration::infinite() && Duration(std::chrono::hours::min()) == least);
    CHECK(Duration::from_millisecs(INT64_MAX) == Duration::infinite() && Duration::from_microsecs(INT64_MIN) == least);
    CHECK(Duration::nanoseconds(-1).sec() == -1 && Duration::nanoseconds(-1).nanosec() == 999999999);
    // So has what is longer in seconds than a number of 32 bits tells.
    CHECK(Duration(INT64_C(4294967297)).sec() == INT64_C(4294967297) && Duration(INT64_MAX) == Duration::infinite());
    CHECK(Duration(INT64_MIN) == least && Duration(-1, 1).count() == -999999999);
    Duration parts(1, 2);
    parts.sec(INT64_C(5000000000));
    CHECK(parts.sec() == INT64_C(5000000000) && parts.nanosec() == 2);
    parts.nanosec(3);
    CHECK(parts == Duration(INT64_C(5000000000), 3));
    using dds::core::Time;
    Time at(7, 8);
    at.sec(9);
    at.nanosec(10);
    CHECK(at == Time(9, 10));
    CHECK(Time::now() + Duration::infinite() > Time::now() && Time(INT64_MAX) == Time::nanoseconds(INT64_MAX));
    CHECK(Time(INT64_MIN) != Time::invalid() && Time(-1) - longest - longest != Time::invalid());
    CHECK(Time::invalid() + half == Time::invalid() && Time::invalid() - half == Time::invalid());
    CHECK(Time::now() - Time::invalid() == Duration::infinite() && Time(5) - Time(3) == Duration(2));
    CHECK(Time(3) - half == Time(2, 500000000) && Time::nanoseconds(-1).nanosec() == 999999999);
    CHECK(InstanceHandle::nil().is_nil() && InstanceHandle(dds::core::null) == InstanceHandle::nil());
    std::ostringstream out;
    out << InstanceHandle::nil();
    CHECK(out.str() == std::string(32, '0'));
    CHECK((DataState::new_data() == DataState(SampleState::not_read(), {}, InstanceState::alive())));
    CHECK(DataState(ViewState::new_view()) == (DataState::any() << ViewState::new_view()));
    CHECK(DataState(InstanceState::not_alive_mask()) == (DataState::any() << InstanceState::not_alive_mask()));
}

static void qos()
{
    static_cast<void>(settings);
    dds::pub::qos::DataWriterQos qos;
    History history;
    qos << History::KeepLast(5) << Deadline(Duration(2)) << OwnershipStrength(-3);
    qos >> history;
    CHECK(history.depth() == 5 && qos.policy<Deadline>().period() == Duration(2));
    const auto &read_only = qos;
    CHECK(read_only.policy<Reliability>().kind() == ReliabilityKind::RELIABLE);
    // What is looked at alone is not said; what is changed in place is.
    const dds::pub::qos::DataWriterQos before = qos;
    CHECK(qos.policy<Reliability>().kind() == ReliabilityKind::RELIABLE && qos == before);
    qos.policy<History>().depth(6);
    CHECK(&qos.policy<History>() == &read_only.policy<History>() && qos.setting("history.depth") == "6");
    qos.policy<History>().depth(5);
    dds::topic::qos::TopicQos looked_at;
    CHECK(looked_at.policy<Reliability>().kind() == ReliabilityKind::BEST_EFFORT);
    CHECK(dds::pub::qos::DataWriterQos(looked_at) == dds::pub::qos::DataWriterQos());
    CHECK(dds::sub::qos::DataReaderQos().policy<Reliability>().kind() == ReliabilityKind::BEST_EFFORT);
    CHECK(qos.setting("history.depth") == "5" && qos.setting("ownership_strength") == "-3");
    CHECK(qos.setting("deadline").find('2') != std::string::npos);
    dds::topic::qos::TopicQos topic;
    topic << Durability::TransientLocal() << Reliability::Reliable(Duration(3));
    dds::sub::qos::DataReaderQos reader = topic;
    CHECK(reader.policy<Durability>().kind() == DurabilityKind::TRANSIENT_LOCAL);
    reader << UserData(dds::core::ByteSeq{1, 2, 255}) << TimeBasedFilter(Duration(1)) << ReaderDataLifecycle(Duration(4))
           << DestinationOrder::SourceTimestamp() << Ownership::Exclusive() << Liveliness::ManualByTopic(Duration(9))
           << ResourceLimits(10, 5, 2) << LatencyBudget(Duration(0, 1)) << DataRepresentation({DataRepresentationId::XCDR2});
    CHECK(reader.setting("resource_limits.max_samples") == "10" && reader.setting("user_data") != "");
    CHECK(reader.setting("representation").find("xcdr2") != std::string::npos);
    qos << DurabilityService(Duration(1), HistoryKind::KEEP_ALL) << Lifespan(Duration(8)) << TransportPriority(3)
        << WriterDataLifecycle::ManuallyDisposeUnregisteredInstances();
    CHECK(qos.setting("lifespan").find('8') != std::string::npos);
    CHECK(qos.setting("max_loan", "64KiB").setting("max_loan").find("64") != std::string::npos);
    dds::pub::qos::PublisherQos publisher;
    publisher << Partition("a \"b\"") << Presentation::TopicAccessScope(true, true) << GroupData({1})
              << EntityFactory::AutoEnable();
    CHECK(publisher.setting("partition").find("\\\"b\\\"") != std::string::npos);

    const auto provider =
        dds::core::QosProvider::parse("[profiles.p.writer]\nhistory.depth = 9\n[profiles.p.reader]\nhistory.depth = 8\n");
    CHECK(provider.datawriter_qos().setting("history.depth") == "9");
    CHECK(provider.datareader_qos().setting("history.depth") == "8");
    THROWS(dds::core::UnsupportedError, provider.datawriter_qos().policy<History>());
    auto above = provider.datawriter_qos();
    above << History::KeepLast(4);
    CHECK(above.setting("history.depth") == "4");
    // Into QoS of another kind the profile comes along.
    const dds::sub::qos::DataReaderQos of_topic = provider.topic_qos();
    CHECK(of_topic.setting("history.depth") == "8");
    THROWS(dds::core::InvalidArgumentError, dds::core::QosProvider::parse("[profiles.p.writer]\nhistry = 1\n"));
}

/* What is made without a QoS has that which its participant says. */
static void defaults(const dds::domain::DomainParticipant &named)
{
    dds::domain::DomainParticipant participant = named;
    const auto publisher = participant.default_publisher_qos();
    const auto subscriber = participant.default_subscriber_qos();
    const auto topic = participant.default_topic_qos();
    participant.default_publisher_qos(dds::pub::qos::PublisherQos() << Partition("p"));
    participant.default_subscriber_qos(dds::sub::qos::SubscriberQos() << Partition("s"));
    participant.default_topic_qos(dds::topic::qos::TopicQos() << History::KeepAll());
    CHECK(dds::pub::Publisher(participant).qos().policy<Partition>() == Partition("p"));
    CHECK(dds::sub::Subscriber(participant).qos().policy<Partition>() == Partition("s"));
    CHECK(dds::topic::Topic<Order>(participant, "Defaults").qos().policy<History>() == History::KeepAll());
    participant.default_publisher_qos(publisher).default_subscriber_qos(subscriber).default_topic_qos(topic);

    const auto before = dds::domain::DomainParticipant::default_participant_qos();
    dds::domain::DomainParticipant::default_participant_qos(
        dds::domain::qos::DomainParticipantQos() << UserData(dds::core::ByteSeq{1}));
    CHECK(dds::domain::DomainParticipant(participant.domain_id()).qos().policy<UserData>().value().size() == 1);
    dds::domain::DomainParticipant::default_participant_qos(before);
    CHECK(dds::topic::is_topic_type<Order>::value && !dds::topic::is_topic_type<int>::value);
    CHECK(dds::topic::topic_type_name<Order>::value() == "test::Order");
    CHECK(participant.current_time() != dds::core::Time::invalid());
}

static void references(const dds::domain::DomainParticipant &participant)
{
    dds::pub::DataWriter<Order> none = dds::core::null;
    CHECK(none.is_nil() && none == dds::core::null);
    THROWS(dds::core::NullReferenceError, none.write(order(1)));
    dds::topic::Topic<Order> topic(participant, "References");
    dds::pub::DataWriter<Order> writer(dds::pub::Publisher(participant), topic);
    dds::pub::DataWriter<Order> same = writer;
    CHECK(same == writer && same.instance_handle() == writer.instance_handle() && writer.topic() == topic);
    CHECK(writer.topic().name() == "References" && topic.type_name() == "test::Order");
    CHECK(writer.publisher().participant() == participant && participant.domain_id() > 0);
    same.close();
    THROWS(dds::core::AlreadyClosedError, writer.write(order(1)));
    writer = dds::core::null;
    CHECK(writer != same);
    // The same name with another type.
    THROWS(dds::core::PreconditionNotMetError, dds::topic::Topic<test::Unkeyed>(participant, "References"));
    dds::topic::Topic<test::Unkeyed> unkeyed(participant, "Unkeyed");
    dds::pub::DataWriter<test::Unkeyed> no_keys(dds::pub::Publisher(participant), unkeyed);
    THROWS(dds::core::PreconditionNotMetError, no_keys.dispose_instance(test::Unkeyed(1)));
}

/* What all entities have, whether they have statuses of their own or not. */
template <class Entity>
static void entity(Entity of)
{
    of.enable();
    CHECK(of.status_changes() == dds::core::status::StatusMask::none());
    dds::core::cond::StatusCondition condition(of);
    CHECK(condition.enabled_statuses() == dds::core::status::StatusMask::all() && !condition.trigger_value());
    condition.enabled_statuses(dds::core::status::StatusMask::data_available());
    dds::core::cond::WaitSet set;
    set += condition;
    THROWS(dds::core::TimeoutError, set.wait(Duration::from_millisecs(1)));
}

static void entities(const dds::domain::DomainParticipant &participant)
{
    const dds::pub::Publisher publisher(participant);
    const dds::sub::Subscriber subscriber(participant);
    const dds::topic::Topic<Order> topic(participant, "Entities");
    entity(participant);
    entity(publisher);
    entity(subscriber);
    entity(topic);
    entity(dds::topic::ContentFilteredTopic<Order>(topic, "filtered", dds::topic::Filter("id = 1")));
    entity(dds::pub::DataWriter<Order>(publisher, topic));
    entity(dds::sub::DataReader<Order>(subscriber, dds::topic::Topic<Order>(participant, "Entities of a reader")));
}

static void writing(const dds::domain::DomainParticipant &participant)
{
    Pair pair(participant, "Writing");
    CHECK(!participant.explain().empty());
    Order full(7, 1, test::BUY, "one", 1.5, {1, 2, 3});
    pair.writer << full;
    pair.writer.write(order(2, "two"), dds::core::Time(5, 6));
    const std::vector<Order> more{order(3, "three"), order(4, "four")};
    pair.writer.write(more.begin(), more.end());
    THROWS(dds::core::InvalidDataError, pair.writer.write(order(5, "this is longer than twenty bytes")));
    pair.arrive();

    auto samples = pair.reader.read();
    CHECK(samples.length() == 4 && samples[0].data() == full && samples[0].info().valid());
    CHECK(samples[1].info().timestamp() == dds::core::Time(5, 6) && samples[1].data().text() == "two");
    CHECK(samples[0].info().publication_handle() == pair.writer.instance_handle());
    CHECK(samples[0].info().state().sample_state() == SampleState::not_read());
    CHECK(samples[3].info().rank().sample() == 0 && samples[3].info().generation_count().disposed() == 0);
    CHECK(pair.reader.select().state(DataState(SampleState::not_read())).read().empty());

    const InstanceHandle two = pair.reader.lookup_instance(order(2));
    CHECK(two == samples[1].info().instance_handle() && pair.reader.lookup_instance(order(99)).is_nil());
    Order key;
    CHECK(pair.reader.key_value(key, two).id() == 2 && key.account() == 7);
    CHECK(pair.reader.select().instance(two).read().length() == 1);
    int instances = 0;
    for (InstanceHandle at;; instances++) {
        const auto next = pair.reader.select().next_instance(at).read();
        if (next.empty())
            break;
        at = next[0].info().instance_handle();
    }
    CHECK(instances == 4);
    CHECK(pair.reader.select().max_samples(3).read().length() == 3);
    std::vector<dds::sub::Sample<Order>> selected;
    CHECK(pair.reader.select().instance(two).read(std::back_inserter(selected), 5) == 1);
    CHECK(selected[0].data().text() == "two" && selected[0].info().instance_handle() == two);
    CHECK(pair.reader.select().max_samples(1).read(std::back_inserter(selected), 5) == 1 && selected.size() == 2);
    CHECK(pair.reader.select().take(std::back_inserter(selected), 0) == 0);
    selected.clear();
    CHECK(pair.reader.read(std::back_inserter(selected)) == 4 && selected[3].data().text() == "four");
    CHECK(pair.reader.select().max_samples(3).read(std::back_inserter(selected)) == 3 && selected.size() == 7);
    CHECK(pair.reader.select().read(std::back_inserter(selected)) == 4 && selected.size() == 11);

    // A query, and what both an instance and a query would select.
    dds::sub::Query query(pair.reader, "id > %0 ORDER BY text", {"1"});
    CHECK(query.parameters_length() == 1 && *query.begin() == "1");
    const auto found = pair.reader.select().content(query).read();
    CHECK(found.length() == 3 && found[0].data().text() == "four");
    THROWS(dds::core::UnsupportedError, pair.reader.select().content(query).instance(two).read());
    THROWS(dds::core::InvalidArgumentError,
           dds::sub::cond::QueryCondition(dds::sub::Query(pair.reader, "nonsense <"), DataState::any()));

    // Into memory of the caller's own.
    std::vector<dds::sub::Sample<Order>> own(3);
    CHECK(pair.reader.take(own.begin(), 3) == 3 && own[2].data().id() == 3);
    CHECK(pair.reader.take(std::back_inserter(own), 10) == 1 && own.size() == 4 && own[3].data().text() == "four");
    CHECK(pair.reader.take().empty() && samples.length() == 4 && samples[0].data() == full);

    CHECK(dds::pub::matched_subscriptions(pair.writer)[0] == pair.reader.instance_handle());
    CHECK(dds::sub::matched_publications(pair.reader)[0] == pair.writer.instance_handle());
    CHECK(pair.writer.counters().written == 4 && pair.reader.counters().stored == 4);
    CHECK(participant.counters().malformed == 0);

    // Samples that are looked at still are not overwritten.
    pair.writer << order(8, "eight");
    pair.arrive();
    const auto eight = pair.reader.take();
    const auto copy = eight;
    pair.writer << order(9, "nine");
    pair.arrive();
    CHECK(pair.reader.take()[0].data().id() == 9 && copy[0].data().id() == 8 && pair.reader.undecodable() == 0);
    // All of them where there is room for each that comes.
    pair.writer << order(10) << order(11);
    pair.arrive();
    own.clear();
    CHECK(pair.reader.select().state(DataState(ViewState::new_view())).read(std::back_inserter(own)) == 2);
    CHECK(pair.reader.select().instance(pair.reader.lookup_instance(order(10))).take(std::back_inserter(own)) == 1);
    CHECK(pair.reader.take(std::back_inserter(own)) == 1 && own.size() == 4 && own[3].data().id() == 11);
}

/* As programs for Cyclone DDS go over samples. */
static void ported(const dds::domain::DomainParticipant &participant)
{
    using namespace org::eclipse::cyclonedds;
    CHECK(domain::default_id() == 0);
    Pair pair(participant, "Ported");
    Order msg(7, 1, test::Side::BUY, "Hello World", std::nullopt, {});
    msg.id(2);
    msg.fills().push_back(3);
    pair.writer.write(msg);
    pair.arrive();
    int valid = 0;
    dds::sub::LoanedSamples<Order> samples;
    samples = pair.reader.take();
    if (samples.length() > 0) {
        dds::sub::LoanedSamples<Order>::const_iterator sample_iter;
        for (sample_iter = samples.begin(); sample_iter < samples.end(); ++sample_iter) {
            const Order &data = sample_iter->data();
            const dds::sub::SampleInfo &info = sample_iter->info();
            if (info.valid())
                valid += data == msg ? 1 : 100;
        }
    }
    CHECK(valid == 1);
    // Without a timestamp that is known, it is now.
    const auto before = dds::core::Time::now();
    pair.writer.write(msg, dds::core::Time::invalid());
    pair.arrive();
    const auto at = pair.reader.take()[0].info().timestamp();
    CHECK(at >= before && at <= dds::core::Time::now());
}

static void instances(const dds::domain::DomainParticipant &participant)
{
    Pair pair(participant, "Instances");
    const InstanceHandle one = pair.writer.register_instance(order(1));
    CHECK(pair.writer.lookup_instance(order(1, "other")) == one && pair.writer.lookup_instance(order(2)).is_nil());
    Order key;
    CHECK(pair.writer.key_value(key, one).id() == 1);
    pair.writer.write(order(1), one);
    pair.writer.dispose_instance(one);
    pair.writer << order(2);
    pair.writer.unregister_instance(order(2));
    pair.arrive();
    const auto samples = pair.reader.take();
    CHECK(samples.length() == 4);
    CHECK(samples[0].info().instance_handle() == one);
    for (const auto &sample : samples) {
        if (sample.info().valid())
            continue;
        CHECK((sample.info().state().instance_state() & InstanceState::not_alive_mask()).bits() != 0);
        CHECK(sample.data().account() == 7 && sample.data().text().empty());
    }
    pair.writer.unregister_instance(one);
    THROWS(dds::core::PreconditionNotMetError, pair.writer.dispose_instance(one));
}

static void conditions(const dds::domain::DomainParticipant &participant)
{
    Pair pair(participant, "Conditions");
    dds::core::cond::WaitSet set;
    dds::core::cond::GuardCondition guard;
    dds::sub::cond::ReadCondition news(pair.reader, DataState::new_data());
    dds::sub::cond::QueryCondition big(dds::sub::Query(pair.reader, "id > %0", {"10"}), DataState::any());
    dds::core::cond::StatusCondition matched(pair.reader);
    set += guard;
    set += news;
    set += big;
    set += matched;
    CHECK(set.conditions().size() == 4 && matched.trigger_value());
    matched.enabled_statuses(dds::core::status::StatusMask::sample_lost());
    CHECK(!matched.trigger_value());
    THROWS(dds::core::TimeoutError, set.wait(Duration::from_millisecs(1)));
    guard.trigger_value(true);
    auto holding = set.wait(PATIENCE);
    CHECK(holding.size() == 1 && holding[0] == guard && guard.trigger_value());
    guard.trigger_value(false);

    int called = 0;
    news.handler([&] { called++; });
    big.handler([&](dds::core::cond::Condition &condition) { called += condition == big ? 10 : 100; });
    pair.writer << order(1);
    set.dispatch(PATIENCE);
    CHECK(called == 1);
    pair.writer << order(11);
    pair.arrive();
    set.dispatch(PATIENCE);
    CHECK(called == 12 && pair.reader.select().condition(big).take()[0].data().id() == 11);
    big.parameters({"0"});
    CHECK(big.trigger_value() && big.expression() == "id > %0");
    matched.enabled_statuses(dds::core::status::StatusMask::subscription_matched());
    CHECK(matched.trigger_value() && pair.reader.subscription_matched_status().current_count() == 1);
    CHECK(!matched.trigger_value() && set.detach_condition(matched) && !set.detach_condition(matched));
    set -= guard;
    CHECK(set.conditions().size() == 2);
    // A wait that another thread ends.
    dds::core::cond::WaitSet other;
    other += guard;
    std::thread sets([&] { guard.trigger_value(true); });
    CHECK(other.wait(PATIENCE).size() == 1);
    sets.join();
    // More of them than a few, and one of them twice.
    std::vector<dds::core::cond::GuardCondition> many(40);
    for (auto &one : many) {
        other += one;
        one.trigger_value(true);
    }
    other += many[0];
    CHECK(other.conditions().size() == 41 && other.wait(PATIENCE).size() == 41);
}

class Heard : public dds::sub::NoOpDataReaderListener<Order> {
public:
    void on_data_available(dds::sub::DataReader<Order> &reader) override
    {
        const auto samples = reader.take();
        const std::lock_guard<std::mutex> guard(lock);
        count += samples.length();
        changed.notify_all();
    }
    void wait(std::size_t until)
    {
        std::unique_lock<std::mutex> guard(lock);
        CHECK(changed.wait_for(guard, std::chrono::seconds(60), [&] { return count >= until; }));
    }
    std::mutex lock;
    std::condition_variable changed;
    std::size_t count = 0;
};

class Matched : public dds::pub::NoOpDataWriterListener<Order> {
public:
    void on_publication_matched(dds::pub::DataWriter<Order> &writer,
                                const dds::core::status::PublicationMatchedStatus &status) override
    {
        const std::lock_guard<std::mutex> guard(lock);
        current = writer.is_nil() ? -1 : status.current_count();
        changed.notify_all();
    }
    std::mutex lock;
    std::condition_variable changed;
    int current = 0;
};

static void listeners(const dds::domain::DomainParticipant &participant)
{
    Heard heard;
    Matched matched;
    {
        Pair pair(participant, "Listeners");
        pair.writer << order(1);
        pair.arrive();
        pair.reader.listener(&heard, dds::core::status::StatusMask::data_available());
        CHECK(pair.reader.listener() == &heard);
        heard.wait(1);
        pair.writer << order(2) << order(3);
        heard.wait(3);
        pair.reader.listener(nullptr, dds::core::status::StatusMask::none());
        pair.writer << order(4);
        pair.arrive();
        CHECK(pair.reader.take().length() == 1 && heard.count == 3);

        dds::pub::DataWriter<Order> other(pair.publisher, pair.topic, Pair::all(), &matched,
                                          dds::core::status::StatusMask::publication_matched());
        std::unique_lock<std::mutex> guard(matched.lock);
        CHECK(matched.changed.wait_for(guard, std::chrono::seconds(60), [&] { return matched.current == 1; }));
    }
}

/* Each status is a type of its own, however much it has in common with others. */
static const char *name_of(const dds::core::status::PublicationMatchedStatus &) { return "publication matched"; }
static const char *name_of(const dds::core::status::SubscriptionMatchedStatus &) { return "subscription matched"; }
static const char *name_of(const dds::core::status::OfferedIncompatibleQosStatus &) { return "offered qos"; }
static const char *name_of(const dds::core::status::RequestedIncompatibleQosStatus &) { return "requested qos"; }
static const char *name_of(const dds::core::status::OfferedDeadlineMissedStatus &) { return "offered deadline"; }
static const char *name_of(const dds::core::status::RequestedDeadlineMissedStatus &) { return "requested deadline"; }
static const char *name_of(const dds::core::status::LivelinessLostStatus &) { return "liveliness lost"; }
static const char *name_of(const dds::core::status::SampleLostStatus &) { return "sample lost"; }
static const char *name_of(const dds::core::status::InconsistentTopicStatus &) { return "inconsistent topic"; }

static void samples_that_are_handed_out(const dds::domain::DomainParticipant &participant)
{
    Pair pair(participant, "Each");
    Heard heard;
    std::vector<std::int32_t> ids;
    const auto each = [&](const dds::sub::Sample<Order> &sample) {
        CHECK(sample.info().valid() && sample.info().state().view_state() != dds::sub::status::ViewState());
        const std::lock_guard<std::mutex> guard(heard.lock);
        ids.push_back(sample.data().id());
        heard.count++;
        heard.changed.notify_all();
    };
    pair.writer << order(1);
    pair.arrive();
    pair.reader.take_each(each);
    heard.wait(1);
    for (int id = 2; id <= 100; id++)
        pair.writer << order(id, "handed out");
    heard.wait(100);
    CHECK(pair.reader.take().empty());
    pair.reader.stop_taking();
    pair.writer << order(101);
    pair.arrive();
    CHECK(pair.reader.take()[0].data().id() == 101);
    for (int id = 1; id <= 100; id++)
        CHECK(ids[static_cast<std::size_t>(id) - 1] == id);
}

static void mismatch(const dds::domain::DomainParticipant &participant)
{
    using std::string;
    dds::topic::Topic<Order> topic(participant, "Mismatch");
    dds::pub::qos::DataWriterQos unreliable;
    unreliable << Reliability::BestEffort();
    dds::pub::DataWriter<Order> writer(dds::pub::Publisher(participant), topic, unreliable);
    dds::sub::DataReader<Order> reader(dds::sub::Subscriber(participant), topic, Pair::all());
    dds::core::cond::StatusCondition refused(reader);
    refused.enabled_statuses(dds::core::status::StatusMask::requested_incompatible_qos());
    dds::core::cond::WaitSet set;
    set += refused;
    set.wait(PATIENCE);
    const auto status = reader.requested_incompatible_qos_status();
    CHECK(status.total_count() == 1 && status.last_policy_id() == 11 && !status.why().empty());
    CHECK(reader.sample_lost_status().total_count() == 0 && reader.sample_rejected_status().total_count() == 0);
    CHECK(reader.requested_deadline_missed_status().total_count() == 0);
    CHECK(reader.liveliness_changed_status().alive_count() == 0 && writer.liveliness_lost_status().total_count() == 0);
    CHECK(writer.offered_deadline_missed_status().last_instance_handle().is_nil());
    CHECK(topic.inconsistent_topic_status().total_count() == 0);
    CHECK(name_of(writer.publication_matched_status()) == string("publication matched"));
    CHECK(name_of(reader.subscription_matched_status()) == string("subscription matched"));
    CHECK(name_of(writer.offered_incompatible_qos_status()) == string("offered qos"));
    CHECK(name_of(reader.requested_incompatible_qos_status()) == string("requested qos"));
    CHECK(name_of(writer.offered_deadline_missed_status()) == string("offered deadline"));
    CHECK(name_of(reader.requested_deadline_missed_status()) == string("requested deadline"));
    CHECK(name_of(writer.liveliness_lost_status()) == string("liveliness lost"));
    CHECK(name_of(reader.sample_lost_status()) == string("sample lost"));
    CHECK(name_of(topic.inconsistent_topic_status()) == string("inconsistent topic"));
    CHECK(!(reader.status_changes() & dds::core::status::StatusMask::requested_incompatible_qos()).any());
    dds::pub::qos::DataWriterQos more = unreliable;
    more << LatencyBudget(Duration(1));
    writer.qos(more);
    CHECK(writer.qos() == more);
    const LatencyBudget &budget = writer.qos().policy<LatencyBudget>();
    CHECK(budget.duration() == Duration(1));
    more << Ownership::Exclusive();
    THROWS(dds::core::ImmutablePolicyError, writer.qos(more));
    THROWS(dds::core::ImmutablePolicyError, writer << more);
}

/* Entities take a QoS by <<, and give theirs by >>. */
static void qos_of_entities(const dds::domain::DomainParticipant &participant)
{
    dds::topic::Topic<Order> topic(participant, "QosOfEntities");
    dds::pub::Publisher publisher(participant);
    dds::sub::Subscriber subscriber(participant);
    dds::pub::DataWriter<Order> writer(publisher, topic);
    dds::sub::DataReader<Order> reader(subscriber, topic);
    dds::domain::qos::DomainParticipantQos of_participant;
    participant >> of_participant;
    CHECK(of_participant == participant.qos());
    dds::topic::qos::TopicQos of_topic;
    topic << (dds::topic::qos::TopicQos() << History::KeepLast(2));
    topic >> of_topic;
    CHECK(of_topic == topic.qos() && of_topic.policy<History>().depth() == 2);
    dds::pub::qos::PublisherQos of_publisher;
    publisher << (dds::pub::qos::PublisherQos() << Partition("p"));
    publisher >> of_publisher;
    CHECK(of_publisher == publisher.qos() && of_publisher.policy<Partition>() == Partition("p"));
    dds::sub::qos::SubscriberQos of_subscriber;
    subscriber << (dds::sub::qos::SubscriberQos() << Partition("s"));
    subscriber >> of_subscriber;
    CHECK(of_subscriber == subscriber.qos() && of_subscriber.policy<Partition>() == Partition("s"));
    dds::pub::qos::DataWriterQos of_writer;
    writer << (dds::pub::qos::DataWriterQos() << LatencyBudget(Duration(1))) << order(1);
    writer >> of_writer;
    CHECK(of_writer == writer.qos() && of_writer.policy<LatencyBudget>().duration() == Duration(1));
    dds::sub::qos::DataReaderQos of_reader;
    reader << (dds::sub::qos::DataReaderQos() << TimeBasedFilter(Duration(0, 1)));
    reader >> of_reader;
    CHECK(of_reader == reader.qos() && of_reader.policy<TimeBasedFilter>().minimum_separation() == Duration(0, 1));
}

static void bytes(const dds::domain::DomainParticipant &participant)
{
    dds::topic::Topic<tickwire::Bytes> topic(participant, "Bytes", tickwire::BytesType{"Raw", "data"});
    dds::pub::DataWriter<tickwire::Bytes> writer(dds::pub::Publisher(participant), topic, Pair::all());
    dds::sub::DataReader<tickwire::Bytes> reader(dds::sub::Subscriber(participant), topic, Pair::all());
    writer.wait_for_matched(1, PATIENCE);
    writer << tickwire::Bytes("hello", 5);
    writer.wait_for_acknowledgments(PATIENCE);
    const auto samples = reader.take();
    CHECK(samples.length() == 1 && samples[0].data() == tickwire::Bytes("hello", 5));
    dds::topic::ContentFilteredTopic<Order> filtered(dds::topic::Topic<Order>(participant, "Filtered"), "some",
                                                     dds::topic::Filter("id = %0", {"1"}));
    filtered.filter_parameters({"2"});
    CHECK(filtered.filter_parameters()[0] == "2" && filtered.topic().name() == "Filtered");
}

static void sets(const dds::domain::DomainParticipant &participant)
{
    dds::pub::qos::PublisherQos coherent;
    coherent << Presentation::TopicAccessScope(true, true);
    dds::pub::Publisher publisher(participant, coherent);
    dds::sub::qos::SubscriberQos asks;
    asks << Presentation::TopicAccessScope(true, true);
    dds::sub::Subscriber subscriber(participant, asks);
    dds::topic::Topic<Order> topic(participant, "Sets");
    dds::pub::DataWriter<Order> writer(publisher, topic, Pair::all());
    dds::sub::DataReader<Order> reader(subscriber, topic, Pair::all());
    writer.wait_for_matched(1, PATIENCE);
    dds::pub::CoherentSet set(publisher);
    writer << order(1) << order(2);
    writer.wait_for_acknowledgments(PATIENCE);
    CHECK(reader.take().empty());
    set.end();
    writer.wait_for_acknowledgments(PATIENCE);
    {
        const dds::sub::CoherentAccess access(subscriber);
        CHECK(reader.take().length() == 2);
    }
    {
        const dds::pub::SuspendedPublication together(publisher);
        writer << order(3) << order(4);
    }
    publisher.flush();
}

int main(int argc, char **argv)
{
    try {
        values();
        qos();
        dds::domain::DomainParticipant participant(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 125);
        defaults(participant);
        references(participant);
        entities(participant);
        writing(participant);
        ported(participant);
        instances(participant);
        conditions(participant);
        listeners(participant);
        samples_that_are_handed_out(participant);
        mismatch(participant);
        qos_of_entities(participant);
        bytes(participant);
        sets(participant);
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "psm.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
