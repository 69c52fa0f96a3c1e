/* What ends when, and what several threads do at once; ends with 1 at the first that is not as it should be. */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include <dds/dds.hpp>

#include "psm.hpp"

using namespace dds::core::policy;
using dds::core::Duration;
using dds::core::status::StatusMask;
using test::Order;
using Reader = dds::sub::DataReader<Order>;
using Writer = dds::pub::DataWriter<Order>;

#define CHECK(CONDITION) check(__LINE__, (CONDITION), #CONDITION)
static void check(int line, bool is_so, const char *what)
{
    if (!is_so) {
        std::fprintf(stderr, "lifetimes.cpp:%d: not so: %s\n", line, what);
        std::exit(1);
    }
}

static const Duration PATIENCE(60);
static std::uint32_t domain = 0;

static Order order(int id, const std::string &text = "")
{
    return Order(7, id, test::Side::SELL, text, std::nullopt, {});
}

static dds::topic::qos::TopicQos all()
{
    dds::topic::qos::TopicQos qos;
    qos << Reliability::Reliable(PATIENCE) << History::KeepAll();
    return qos;
}

/* A reader that is told of a sample, and who writes that. */
struct Scene {
    explicit Scene(dds::sub::DataReaderListener<Order> &listener)
        : writers(domain), participant(domain), subscriber(participant), topic(participant, "Lifetimes"),
          writer(dds::pub::Publisher(writers), dds::topic::Topic<Order>(writers, "Lifetimes"), all()),
          reader(subscriber, topic, all(), &listener, StatusMask::data_available())
    {
        writer.wait_for_matched(1, PATIENCE);
    }

    dds::domain::DomainParticipant writers, participant;
    dds::sub::Subscriber subscriber;
    dds::topic::Topic<Order> topic;
    Writer writer;
    Reader reader;
};

/* Stays in its first call for a while, in which whoever ends it has to wait. */
class Slow : public dds::sub::NoOpDataReaderListener<Order> {
public:
    void on_data_available(Reader &reader) override
    {
        reader.take();
        std::unique_lock<std::mutex> guard(lock);
        is_in = true;
        changed.notify_all();
        CHECK(!changed.wait_for(guard, std::chrono::milliseconds(100), [&] { return has_ended; }));
        is_in = false;
    }

    std::mutex lock;
    std::condition_variable changed;
    bool is_in = false, has_ended = false;
};

static void whoever_ends_a_listener_waits_for_it()
{
    dds::sub::NoOpDataReaderListener<Order> other;
    const std::function<void(Scene &)> ways[] = {
        [](Scene &scene) { scene.reader.close(); },
        [](Scene &scene) { scene.subscriber.close(); },
        [](Scene &scene) { scene.participant.close(); },
        [](Scene &scene) { scene.reader = dds::core::null; },
        [](Scene &scene) { scene.reader.listener(nullptr, StatusMask::none()); },
        [&](Scene &scene) { scene.reader.listener(&other, StatusMask::data_available()); },
    };
    for (const auto &end : ways) {
        Slow slow;
        Scene scene(slow);
        scene.writer << order(1);
        {
            std::unique_lock<std::mutex> guard(slow.lock);
            CHECK(slow.changed.wait_for(guard, std::chrono::seconds(60), [&] { return slow.is_in; }));
        }
        end(scene);
        const std::lock_guard<std::mutex> guard(slow.lock);
        CHECK(!slow.is_in);
        slow.has_ended = true;
    }
}

static void whoever_ends_what_takes_samples_waits_for_it()
{
    const std::function<void(Scene &)> ways[] = {
        [](Scene &scene) { scene.reader.close(); },
        [](Scene &scene) { scene.participant.close(); },
        [](Scene &scene) { scene.reader = dds::core::null; },
        [](Scene &scene) { scene.reader.stop_taking(); },
    };
    for (const auto &end : ways) {
        Slow slow;
        dds::sub::NoOpDataReaderListener<Order> none;
        Scene scene(none);
        scene.reader.take_each([&slow](const dds::sub::Sample<Order> &sample) {
            if (!sample.info().valid())
                return;
            std::unique_lock<std::mutex> guard(slow.lock);
            slow.is_in = true;
            slow.changed.notify_all();
            CHECK(!slow.changed.wait_for(guard, std::chrono::milliseconds(100), [&] { return slow.has_ended; }));
            slow.is_in = false;
        });
        scene.writer << order(1);
        {
            std::unique_lock<std::mutex> guard(slow.lock);
            CHECK(slow.changed.wait_for(guard, std::chrono::seconds(60), [&] { return slow.is_in; }));
        }
        end(scene);
        const std::lock_guard<std::mutex> guard(slow.lock);
        CHECK(!slow.is_in);
        slow.has_ended = true;
    }
}

static void what_takes_samples_may_end_its_own_reader()
{
    for (const bool closes : {true, false}) {
        dds::sub::NoOpDataReaderListener<Order> none;
        Scene scene(none);
        auto kept = std::make_shared<int>(1);
        const std::weak_ptr<int> left = kept;
        std::mutex lock;
        std::condition_variable changed;
        bool has_ended = false;
        // They come together, and the first ends it.
        scene.writer << order(1) << order(2) << order(3);
        scene.writer.wait_for_acknowledgments(PATIENCE);
        std::unique_lock<std::mutex> guard(lock);
        scene.reader.take_each([&, kept = std::move(kept)](const dds::sub::Sample<Order> &sample) {
            const std::lock_guard<std::mutex> guard(lock);
            CHECK(*kept == 1 && sample.data().id() == 1);
            if (closes)
                scene.reader.close();
            else
                scene.reader = dds::core::null;
            has_ended = true;
            changed.notify_all();
        });
        CHECK(changed.wait_for(guard, std::chrono::seconds(60), [&] { return has_ended; }));
        guard.unlock();
        // Freed once the call has returned.
        const auto since = std::chrono::steady_clock::now();
        while (!left.expired()) {
            CHECK(std::chrono::steady_clock::now() - since < std::chrono::seconds(60));
            std::this_thread::yield();
        }
    }
}

/* What takes samples has the last reference to a writer, which ends with it. */
static void what_takes_samples_may_end_others_when_it_is_replaced()
{
    dds::sub::NoOpDataReaderListener<Order> none;
    Scene scene(none);
    auto writer = std::make_shared<Writer>(dds::pub::Publisher(scene.participant), scene.topic, all());
    scene.reader.take_each([writer](const dds::sub::Sample<Order> &) {});
    const std::weak_ptr<Writer> left = writer;
    writer.reset();
    scene.reader.take_each([](const dds::sub::Sample<Order> &) {});
    CHECK(left.expired());
}

/* Ends its own reader. */
class Closing : public dds::sub::NoOpDataReaderListener<Order> {
public:
    void on_data_available(Reader &reader) override
    {
        reader.take();
        const std::lock_guard<std::mutex> guard(lock);
        end(reader);
        has_ended = true;
        changed.notify_all();
    }

    std::function<void(Reader &)> end;
    std::mutex lock;
    std::condition_variable changed;
    bool has_ended = false;
};

static void a_listener_may_end_its_own_reader()
{
    for (const bool closes : {true, false}) {
        Closing closing;
        Scene scene(closing);
        closing.end = [&](Reader &reader) { closes ? reader.close() : void(scene.reader = dds::core::null); };
        scene.writer << order(1);
        std::unique_lock<std::mutex> guard(closing.lock);
        CHECK(closing.changed.wait_for(guard, std::chrono::seconds(60), [&] { return closing.has_ended; }));
        guard.unlock();
        scene.participant.close();
    }
}

/* Stays in its first call until another one is in its own, and then ends what they have in common. */
class Meeting : public dds::sub::NoOpDataReaderListener<Order> {
public:
    void on_data_available(Reader &) override { meet(); }
    void on_subscription_matched(Reader &, const dds::core::status::SubscriptionMatchedStatus &) override { meet(); }
    void meet()
    {
        if (has_met)
            return;
        has_met = true;
        std::unique_lock<std::mutex> guard(lock);
        met++;
        changed.notify_all();
        CHECK(changed.wait_for(guard, std::chrono::seconds(60), [] { return met == 2; }));
        guard.unlock();
        end();
        guard.lock();
        ended++;
        changed.notify_all();
    }

    std::function<void()> end;
    bool has_met = false;
    static std::mutex lock;
    static std::condition_variable changed;
    static int met, ended;
};
std::mutex Meeting::lock;
std::condition_variable Meeting::changed;
int Meeting::met = 0, Meeting::ended = 0;

static void two_listeners_may_end_what_they_have_in_common()
{
    dds::sub::NoOpDataReaderListener<Order> other;
    const std::function<void(Scene &, Reader &)> ways[] = {
        [](Scene &scene, Reader &) { scene.participant.close(); },
        [](Scene &scene, Reader &) { scene.subscriber.close(); },
        [&](Scene &, Reader &of_the_other) { of_the_other.listener(&other, StatusMask::none()); },
        [](Scene &, Reader &of_the_other) { of_the_other.close(); },
        [](Scene &, Reader &of_the_other) { of_the_other = dds::core::null; },
    };
    for (const auto &end : ways) {
        Meeting::met = Meeting::ended = 0;
        // Data come on one thread, and news of writers on another.
        Meeting of_data, of_writers;
        Scene scene(of_data);
        dds::topic::Topic<Order> topic(scene.participant, "Meeting");
        Reader second(scene.subscriber, topic, all(), &of_writers, StatusMask::subscription_matched());
        of_data.end = [&] { end(scene, second); };
        of_writers.end = [&] { end(scene, scene.reader); };
        scene.writer << order(1);
        Writer found(dds::pub::Publisher(scene.writers), dds::topic::Topic<Order>(scene.writers, "Meeting"), all());
        std::unique_lock<std::mutex> guard(Meeting::lock);
        CHECK(Meeting::changed.wait_for(guard, std::chrono::seconds(60), [] { return Meeting::ended == 2; }));
        guard.unlock();
        // The last of them may not have returned yet.
        scene.participant.close();
    }
}

static void what_a_listener_keeps_holds_the_entity_alone()
{
    Closing closing;
    Scene scene(closing);
    Reader kept = dds::core::null;
    closing.end = [&](Reader &reader) { kept = reader; };
    scene.writer << order(1);
    {
        std::unique_lock<std::mutex> guard(closing.lock);
        CHECK(closing.changed.wait_for(guard, std::chrono::seconds(60), [&] { return closing.has_ended; }));
    }
    CHECK(kept == scene.reader && kept.listener() == &closing);
    scene.reader = dds::core::null;
    CHECK(kept.listener() == nullptr);
    scene.writer << order(2);
    scene.writer.wait_for_acknowledgments(PATIENCE);
    CHECK(kept.take().length() == 1);
}

static void what_is_closed_gets_no_listener()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    scene.subscriber.close();
    bool thrown = false;
    try {
        scene.reader.listener(&listener, StatusMask::data_available());
    } catch (const dds::core::AlreadyClosedError &) {
        thrown = true;
    }
    CHECK(thrown);
}

/* Writes longer samples of the same type than those that it hears of. */
class Echo : public dds::sub::NoOpDataReaderListener<Order> {
public:
    void on_data_available(Reader &reader) override
    {
        for (const auto &sample : reader.take()) {
            heard.push_back(sample.data());
            Order longer = order(sample.data().id(), "echo");
            longer.fills().assign(1000 * heard.size(), 5);
            writer << longer;
        }
    }

    Writer writer = dds::core::null;
    std::vector<Order> heard;
};

static void a_listener_may_write_while_a_write_waits()
{
    dds::domain::qos::DomainParticipantQos polled;
    polled.setting("driving", "polled");
    dds::domain::DomainParticipant participant(domain, polled);
    dds::topic::Topic<Order> topic(participant, "Polled"), echoes(participant, "Echoes");
    auto few = all();
    few << ResourceLimits(1);
    Echo echo;
    echo.writer = Writer(dds::pub::Publisher(participant), echoes, all());
    Writer writer(dds::pub::Publisher(participant), topic, few);
    Reader reader(dds::sub::Subscriber(participant), topic, all(), &echo, StatusMask::data_available());
    writer.wait_for_matched(1, PATIENCE);
    std::vector<Order> written;
    for (int id = 1; id <= 20; id++) {
        written.push_back(order(id, "number " + std::to_string(id)));
        writer << written.back();
    }
    writer.wait_for_acknowledgments(PATIENCE);
    while (echo.heard.size() < written.size())
        participant.poll(Duration::from_millisecs(10));
    CHECK(echo.heard == written);
}

static void an_entity_has_one_status_condition()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    dds::core::cond::WaitSet set;
    {
        dds::core::cond::StatusCondition one(scene.reader);
        set += one;
        one.enabled_statuses(StatusMask::sample_lost());
    }
    dds::core::cond::StatusCondition again(scene.reader);
    CHECK(again == set.conditions()[0] && again.enabled_statuses() == StatusMask::sample_lost());
    CHECK(!again.trigger_value());
    // A wait goes on through masks that change, until one holds.
    std::thread changes([&] {
        for (int i = 0; i < 100; i++)
            again.enabled_statuses(i % 2 == 0 ? StatusMask::sample_rejected() : StatusMask::sample_lost());
        again.enabled_statuses(StatusMask::subscription_matched());
    });
    const auto holding = set.wait(PATIENCE);
    CHECK(holding.size() == 1 && holding[0] == again);
    changes.join();
    CHECK(again.trigger_value());
    // The condition keeps the entity.
    scene.reader = dds::core::null;
    CHECK(again.trigger_value());
}

static void a_status_condition_has_its_statuses_when_nobody_has_it()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    dds::core::cond::StatusCondition(scene.reader).enabled_statuses(StatusMask::sample_lost());
    CHECK(dds::core::cond::StatusCondition(scene.reader).enabled_statuses() == StatusMask::sample_lost());
    CHECK(!dds::core::cond::StatusCondition(scene.reader).trigger_value());
}

static void what_a_handler_keeps_ends_with_its_condition()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    std::weak_ptr<void> reader = scene.reader.state();
    int called = 0;
    {
        dds::core::cond::WaitSet set;
        set += dds::core::cond::StatusCondition(scene.reader, [&called, kept = scene.reader] {
            called += kept.subscription_matched_status().current_count();
        });
        set += dds::sub::cond::ReadCondition(scene.reader, dds::sub::status::DataState::any(),
                                             [kept = scene.reader] { kept.select(); });
        scene.reader = dds::core::null;
        set.dispatch(PATIENCE);
        CHECK(called == 1 && !reader.expired());
    }
    CHECK(reader.expired());
}

static void a_condition_of_what_is_closed_can_be_detached()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    dds::core::cond::WaitSet set;
    const dds::core::cond::StatusCondition statuses(scene.reader);
    const dds::sub::cond::ReadCondition states(scene.reader, dds::sub::status::DataState::any());
    set += statuses;
    set += states;
    scene.reader.close();
    CHECK(set.detach_condition(statuses) && set.detach_condition(states));
    CHECK(set.conditions().empty() && !set.detach_condition(states));
}

static void several_threads_set_and_read()
{
    dds::sub::NoOpDataReaderListener<Order> listener;
    Scene scene(listener);
    dds::pub::Publisher publisher(scene.participant);
    dds::topic::ContentFilteredTopic<Order> filtered(scene.topic, "some", dds::topic::Filter("id = %0", {"1"}));
    dds::core::cond::GuardCondition guard;
    std::atomic<int> called{0};
    const auto work = [&](const std::string &name) {
        for (int i = 0; i < 200; i++) {
            auto qos = publisher.default_datawriter_qos();
            qos << UserData(dds::core::ByteSeq(100, static_cast<std::uint8_t>(i)));
            publisher.default_datawriter_qos(qos.setting("max_loan", "64KiB"));
            auto own = scene.writer.qos();
            own << LatencyBudget(Duration(i));
            scene.writer.qos(own);
            auto topic = scene.topic.qos();
            scene.topic.qos(topic << TopicData(dds::core::ByteSeq(100, 1)));
            scene.reader.default_filter_state(scene.reader.default_filter_state());
            filtered.filter_parameters({std::to_string(i) + std::string(i % 2 == 0 ? 0 : 10, '0')});
            CHECK(filtered.filter_parameters().size() == 1);
            guard.handler([&called, name] { called += name.empty() ? 0 : 1; });
            guard.dispatch();
        }
    };
    std::thread other(work, "a name that is longer than fits into a string itself");
    work("another name that is longer than fits into a string itself");
    other.join();
    CHECK(called == 400);
    guard.reset_handler();
    guard.dispatch();
    CHECK(called == 400);
}

int main(int argc, char **argv)
{
    domain = argc > 1 ? static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 127;
    try {
        whoever_ends_a_listener_waits_for_it();
        whoever_ends_what_takes_samples_waits_for_it();
        what_takes_samples_may_end_its_own_reader();
        what_takes_samples_may_end_others_when_it_is_replaced();
        a_listener_may_end_its_own_reader();
        two_listeners_may_end_what_they_have_in_common();
        what_a_listener_keeps_holds_the_entity_alone();
        what_is_closed_gets_no_listener();
        a_listener_may_write_while_a_write_waits();
        an_entity_has_one_status_condition();
        a_status_condition_has_its_statuses_when_nobody_has_it();
        what_a_handler_keeps_ends_with_its_condition();
        a_condition_of_what_is_closed_can_be_detached();
        several_threads_set_and_read();
    } catch (const dds::core::Exception &e) {
        std::fprintf(stderr, "lifetimes.cpp: %s\n", e.what());
        return 1;
    }
    return 0;
}
