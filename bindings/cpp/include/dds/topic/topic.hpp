/* Topics, whole or filtered by their content. */
#ifndef TICKWIRE_DDS_TOPIC_TOPIC_HPP
#define TICKWIRE_DDS_TOPIC_TOPIC_HPP

#include <dds/domain/domain.hpp>
#include <tickwire/type_support.hpp>

namespace tickwire {
namespace detail {

class TopicState : public EntityState {
public:
    TopicState(void *handle, dds::domain::DomainParticipant participant, std::shared_ptr<EntityState> of,
               std::string name, std::string type_name, dds::topic::qos::TopicQos qos)
        : EntityState(handle, std::move(of)), participant(std::move(participant)), name(std::move(name)),
          type_name(std::move(type_name)), qos(std::move(qos))
    {
    }
    ~TopicState() override { close(); }

    const dds::domain::DomainParticipant participant;
    const std::string name, type_name;
    Guarded<dds::topic::qos::TopicQos> qos;
};

inline std::shared_ptr<TopicState> make_topic(const dds::domain::DomainParticipant &participant,
                                              const std::string &name, const std::unique_ptr<Object> &type,
                                              const dds::topic::qos::TopicQos &qos)
{
    const auto *of = static_cast<const tw_type *>(type->handle());
    tw_topic *made;
    check(tw_topic_create(static_cast<tw_participant *>(participant.handle()), name.c_str(), of, &made));
    const std::string type_name = text([&](char *buffer, std::size_t capacity, std::size_t *length) {
        return tw_type_name(of, buffer, capacity, length);
    });
    return std::make_shared<TopicState>(made, participant, participant.state(), name, type_name, qos);
}

/* What the library makes a writer or reader of a topic with: they announce what the topic's QoS says of TOPIC_DATA. */
template <class Qos>
QosHandle make_with_topic(const Qos &qos, const TopicState &topic)
{
    // Its other policies are no settings of topics: they are there to be taken over.
    using Described = EntityQos<OfTopic, dds::core::policy::TopicData>;
    QosHandle made = qos.make();
    const std::string data = Described(topic.qos.get()).setting_for("topic_data", topic.name);
    if (data != Described().setting("topic_data"))
        check(tw_qos_set(static_cast<tw_qos *>(made->handle()), "topic.topic_data", data.c_str()));
    return made;
}

/* Texts as the library takes them. */
class Texts {
public:
    explicit Texts(const dds::core::StringSeq &of)
    {
        for (const std::string &text : of)
            pointers_.push_back(text.c_str());
    }
    const char *const *data() const { return pointers_.data(); }
    std::size_t size() const { return pointers_.size(); }

private:
    std::vector<const char *> pointers_;
};

} // namespace detail
} // namespace tickwire

namespace dds {
namespace topic {

/* Whether topics can have this type, and its name. */
template <class T>
using is_topic_type = tickwire::is_topic_type<T>;
template <class T>
struct topic_type_name {
    static std::string value() { return tickwire::cdr::Codec<T>::name; }
};

/* What readers can be made of: a topic, or a filtered one. */
template <class T>
class TopicDescription : public core::EntityOf<tickwire::detail::TopicState> {
public:
    using EntityOf::EntityOf;

    const std::string &name() const { return get().name; }
    const std::string &type_name() const { return get().type_name; }
    const domain::DomainParticipant &domain_participant() const { return get().participant; }
};

/* A topic of a type of IDL, or of bytes. */
template <class T>
class Topic : public TopicDescription<T> {
public:
    using DataType = T;
    using TopicDescription<T>::TopicDescription;

    Topic(const domain::DomainParticipant &participant, const std::string &name)
        : Topic(participant, name, participant.default_topic_qos())
    {
    }
    Topic(const domain::DomainParticipant &participant, const std::string &name, const qos::TopicQos &qos)
        : TopicDescription<T>(
              tickwire::detail::make_topic(participant, name, tickwire::detail::TypeSupport<T>::type(), qos))
    {
    }
    /* Of bytes, whose type is known by name. */
    Topic(const domain::DomainParticipant &participant, const std::string &name, const tickwire::BytesType &type)
        : Topic(participant, name, type, participant.default_topic_qos())
    {
    }
    Topic(const domain::DomainParticipant &participant, const std::string &name, const tickwire::BytesType &type,
          const qos::TopicQos &qos)
        : TopicDescription<T>(tickwire::detail::make_topic(participant, name, of(type), qos))
    {
        static_assert(tickwire::detail::is_bytes<T>,
                      "topics of bytes are Topic<tickwire::Bytes> and Topic<tickwire::BytesInPlace>");
    }

    qos::TopicQos qos() const { return this->get().qos.get(); }
    /* Later readers and writers can be made with it, and announce its TOPIC_DATA. */
    void qos(const qos::TopicQos &qos) { this->get().qos.set(qos); }
    Topic &operator<<(const qos::TopicQos &qos)
    {
        this->qos(qos);
        return *this;
    }
    const Topic &operator>>(qos::TopicQos &qos) const
    {
        qos = this->qos();
        return *this;
    }
    core::status::InconsistentTopicStatus inconsistent_topic_status() const
    {
        return tickwire::detail::ask<core::status::InconsistentTopicStatus>(tw_topic_inconsistent, this->get().handle());
    }

private:
    static std::unique_ptr<tickwire::detail::Object> of(const tickwire::BytesType &type)
    {
        tw_type *made;
        tickwire::detail::check(
            tw_type_bytes(type.name.c_str(), type.member.c_str(), type.bound, type.extensibility, &made));
        return std::make_unique<tickwire::detail::Object>(made);
    }
};

/* An expression in the SQL subset of DDS 1.4 Annex B, and what %0, %1 ... in it stand for, as literals ("'EUR%'"). */
class Filter {
public:
    explicit Filter(std::string expression, core::StringSeq parameters = {})
        : expression_(std::move(expression)), parameters_(std::move(parameters))
    {
    }
    const std::string &expression() const { return expression_; }
    const core::StringSeq &parameters() const { return parameters_; }
    using iterator = core::StringSeq::iterator;
    using const_iterator = core::StringSeq::const_iterator;
    const_iterator begin() const { return parameters_.begin(); }
    const_iterator end() const { return parameters_.end(); }
    iterator begin() { return parameters_.begin(); }
    iterator end() { return parameters_.end(); }
    std::uint32_t parameters_length() const { return static_cast<std::uint32_t>(parameters_.size()); }
    Filter &add_parameter(std::string parameter)
    {
        parameters_.push_back(std::move(parameter));
        return *this;
    }

private:
    std::string expression_;
    core::StringSeq parameters_;
};

/* A topic of which readers get those samples alone for which an expression is true. Writers keep back the others. */
template <class T>
class ContentFilteredTopic : public TopicDescription<T> {
public:
    using TopicDescription<T>::TopicDescription;

    ContentFilteredTopic(const Topic<T> &topic, const std::string &name, const Filter &filter)
        : TopicDescription<T>(make(topic, name, filter)), topic_(topic),
          expression_(filter.expression()),
          parameters_(std::make_shared<tickwire::detail::Guarded<core::StringSeq>>(filter.parameters()))
    {
    }

    const Topic<T> &topic() const { return topic_; }
    const std::string &filter_expression() const { return expression_; }
    core::StringSeq filter_parameters() const { return parameters_->get(); }
    /* For all its readers, and what comes from here on. */
    void filter_parameters(const core::StringSeq &parameters)
    {
        const tickwire::detail::Texts texts(parameters);
        auto *handle = static_cast<tw_topic *>(this->get().handle());
        parameters_->set(parameters, [&] {
            tickwire::detail::check(tw_topic_set_parameters(handle, texts.data(), texts.size()));
        });
    }

private:
    static std::shared_ptr<tickwire::detail::TopicState> make(const Topic<T> &topic, const std::string &name,
                                                              const Filter &filter)
    {
        const tickwire::detail::Texts texts(filter.parameters());
        tw_topic *made;
        tickwire::detail::check(tw_topic_filtered(static_cast<const tw_topic *>(topic.handle()), name.c_str(),
                                                  filter.expression().c_str(), texts.data(), texts.size(), &made));
        return std::make_shared<tickwire::detail::TopicState>(made, topic.domain_participant(), topic.state(), name,
                                                              topic.type_name(), topic.qos());
    }

    Topic<T> topic_;
    std::string expression_;
    std::shared_ptr<tickwire::detail::Guarded<core::StringSeq>> parameters_;
};

} // namespace topic
} // namespace dds

#endif
