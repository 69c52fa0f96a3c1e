/* Queries, and conditions of readers. */
#ifndef TICKWIRE_DDS_SUB_COND_HPP
#define TICKWIRE_DDS_SUB_COND_HPP

#include <dds/core/cond.hpp>
#include <dds/sub/sample.hpp>
#include <dds/topic/topic.hpp>

namespace dds {
namespace sub {

template <class T>
class DataReader;

/* An expression as of a filtered topic, which may end in ORDER BY, for samples of a reader. */
class Query {
public:
    template <class T>
    Query(const DataReader<T> &reader, const std::string &expression, core::StringSeq parameters = {})
        : reader_(reader.state()), raw_(static_cast<tw_reader *>(reader.handle())),
          filter_(expression, std::move(parameters))
    {
    }
    const std::string &expression() const { return filter_.expression(); }
    const core::StringSeq &parameters() const { return filter_.parameters(); }
    using iterator = topic::Filter::iterator;
    using const_iterator = topic::Filter::const_iterator;
    const_iterator begin() const { return filter_.begin(); }
    const_iterator end() const { return filter_.end(); }
    iterator begin() { return filter_.begin(); }
    iterator end() { return filter_.end(); }
    std::uint32_t parameters_length() const { return filter_.parameters_length(); }
    Query &add_parameter(const std::string &parameter)
    {
        filter_.add_parameter(parameter);
        return *this;
    }
    const std::shared_ptr<void> &reader() const { return reader_; }
    tw_condition *make(const status::DataState &state) const
    {
        const tickwire::detail::Texts texts(parameters());
        tw_condition *made;
        tickwire::detail::check(tw_reader_query_condition(raw_, state.bits(), expression().c_str(), texts.data(),
                                                          texts.size(), &made));
        return made;
    }

private:
    std::shared_ptr<void> reader_;
    tw_reader *raw_;
    topic::Filter filter_;
};

namespace cond {

/* Holds while the reader has samples in these states. */
class ReadCondition : public core::cond::Condition {
public:
    ReadCondition(core::null_type) {}
    template <class T>
    ReadCondition(const DataReader<T> &reader, const status::DataState &state)
        : Condition(make(reader.state(), static_cast<tw_reader *>(reader.handle()), state)), state_filter_(state)
    {
    }
    template <class T, class Function>
    ReadCondition(const DataReader<T> &reader, const status::DataState &state, Function function)
        : ReadCondition(reader, state)
    {
        handler(std::move(function));
    }
    const status::DataState &state_filter() const { return state_filter_; }

protected:
    ReadCondition(std::shared_ptr<tickwire::detail::ConditionState> made, const status::DataState &state)
        : Condition(std::move(made)), state_filter_(state)
    {
    }

private:
    static std::shared_ptr<tickwire::detail::ConditionState> make(std::shared_ptr<void> of, tw_reader *reader,
                                                                  const status::DataState &state)
    {
        tw_condition *made;
        tickwire::detail::check(tw_reader_read_condition(reader, state.bits(), &made));
        return std::make_shared<tickwire::detail::ConditionState>(made, std::move(of));
    }

    status::DataState state_filter_;
};

/* Holds while the reader has samples in these states for which an expression is true. */
class QueryCondition : public ReadCondition {
public:
    QueryCondition(core::null_type of) : ReadCondition(of) {}
    QueryCondition(const Query &query, const status::DataState &state)
        : ReadCondition(std::make_shared<tickwire::detail::ConditionState>(query.make(state), query.reader()), state),
          expression_(query.expression())
    {
    }
    template <class Function>
    QueryCondition(const Query &query, const status::DataState &state, Function function)
        : QueryCondition(query, state)
    {
        handler(std::move(function));
    }
    const std::string &expression() const { return expression_; }
    void parameters(const core::StringSeq &parameters)
    {
        const tickwire::detail::Texts texts(parameters);
        tickwire::detail::check(tw_query_set_parameters(get().handle(), texts.data(), texts.size()));
    }

private:
    std::string expression_;
};

} // namespace cond

} // namespace sub
} // namespace dds

#endif
