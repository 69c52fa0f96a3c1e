// A shape program of the OMG's interoperability suite that speaks through eProsima Fast DDS 2.9.
//
// Command line and lines of output are those of `tickwire_shape_main`. Fast DDS 2.9 has no
// PRESENTATION, no time-based filter and no XCDR2, and its filters want a generated type: such options
// are answered by "not supported".

#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastrtps/utils/md5.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "options.h"

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

static volatile sig_atomic_t all_done = 0;

struct Shape {
    std::string color;
    int32_t x = 0, y = 0, shapesize = 0;
    std::vector<uint8_t> payload;
};

// ---- the type in XCDR1

class ShapeType : public TopicDataType {
public:
    ShapeType() {
        setName("ShapeType");
        m_typeSize = 200;
        m_isGetKeyDefined = true;
        auto_fill_type_object(false);
        auto_fill_type_information(false);
    }

    bool serialize(void* data, SerializedPayload_t* payload) override {
        std::vector<uint8_t> bytes = encode(*static_cast<Shape*>(data));
        payload->reserve(bytes.size());
        payload->length = bytes.size();
        payload->encapsulation = CDR_LE;
        std::memcpy(payload->data, bytes.data(), bytes.size());
        return true;
    }

    bool deserialize(SerializedPayload_t* payload, void* data) override {
        const uint8_t* bytes = payload->data;
        size_t at = 4, end = payload->length;
        auto number = [&](uint32_t& value) {
            at = (at + 3) & ~size_t(3);
            if (end < 4 || at > end - 4) return false;
            std::memcpy(&value, bytes + at, 4);
            at += 4;
            return true;
        };
        auto& shape = *static_cast<Shape*>(data);
        uint32_t length, x, y, size, count;
        if (!number(length) || length == 0 || length > end - at) return false;
        shape.color.assign(reinterpret_cast<const char*>(bytes + at), length - 1);
        at += length;
        if (!number(x) || !number(y) || !number(size) || !number(count) || count > end - at) return false;
        shape.x = x, shape.y = y, shape.shapesize = size;
        shape.payload.assign(bytes + at, bytes + at + count);
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return uint32_t(encode(*static_cast<Shape*>(data)).size()); };
    }

    bool getKey(void* data, eprosima::fastrtps::rtps::InstanceHandle_t* handle, bool) override {
        const std::string& color = static_cast<Shape*>(data)->color;
        uint32_t length = color.size() + 1;
        std::vector<uint8_t> key{uint8_t(length >> 24), uint8_t(length >> 16), uint8_t(length >> 8), uint8_t(length)};
        key.insert(key.end(), color.c_str(), color.c_str() + length);
        MD5 md5;
        md5.init();
        md5.update(key.data(), key.size());
        md5.finalize();
        for (int i = 0; i < 16; ++i) handle->value[i] = md5.digest[i];
        return true;
    }

    void* createData() override { return new Shape; }
    void deleteData(void* data) override { delete static_cast<Shape*>(data); }

private:
    static std::vector<uint8_t> encode(const Shape& shape) {
        std::vector<uint8_t> bytes{0, 1, 0, 0};
        auto number = [&](uint32_t value) {
            bytes.resize((bytes.size() + 3) & ~size_t(3));
            bytes.insert(bytes.end(), reinterpret_cast<uint8_t*>(&value), reinterpret_cast<uint8_t*>(&value) + 4);
        };
        number(shape.color.size() + 1);
        bytes.insert(bytes.end(), shape.color.c_str(), shape.color.c_str() + shape.color.size() + 1);
        number(shape.x), number(shape.y), number(shape.shapesize), number(shape.payload.size());
        bytes.insert(bytes.end(), shape.payload.begin(), shape.payload.end());
        return bytes;
    }
};

// ---- what happens to writers and readers

struct Report : DataWriterListener, DataReaderListener {
    static void say(const char* event, const std::string& topic, int number) {
        printf("%s() topic: '%s'  type: 'ShapeType' : %d\n", event, topic.c_str(), number);
    }
    void on_publication_matched(DataWriter* writer, const PublicationMatchedStatus& status) override {
        say("on_publication_matched", writer->get_topic()->get_name(), status.current_count);
    }
    void on_offered_incompatible_qos(DataWriter* writer, const OfferedIncompatibleQosStatus& status) override {
        say("on_offered_incompatible_qos", writer->get_topic()->get_name(), status.last_policy_id);
    }
    void on_offered_deadline_missed(DataWriter* writer, const OfferedDeadlineMissedStatus& status) override {
        say("on_offered_deadline_missed", writer->get_topic()->get_name(), status.total_count);
    }
    void on_subscription_matched(DataReader* reader, const SubscriptionMatchedStatus& status) override {
        say("on_subscription_matched", reader->get_topicdescription()->get_name(), status.current_count);
    }
    void on_requested_incompatible_qos(DataReader* reader, const RequestedIncompatibleQosStatus& status) override {
        say("on_requested_incompatible_qos", reader->get_topicdescription()->get_name(), status.last_policy_id);
    }
    void on_requested_deadline_missed(DataReader* reader, const RequestedDeadlineMissedStatus& status) override {
        say("on_requested_deadline_missed", reader->get_topicdescription()->get_name(), status.total_count);
    }
};

static Report report;

// ---- QoS

static Duration_t milliseconds(int ms) { return Duration_t(ms / 1000, ms % 1000 * 1000000u); }

template <typename Qos>
static void set_common(const Options& options, Qos& qos) {
    qos.reliability().kind = options.reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    static const std::string kinds = "vltp";
    qos.durability().kind = static_cast<DurabilityQosPolicyKind>(kinds.find(options.durability));
    if (options.depth == 0) qos.history().kind = KEEP_ALL_HISTORY_QOS;
    if (options.depth > 0) qos.history().depth = options.depth;
    if (options.deadline > 0) qos.deadline().period = milliseconds(options.deadline);
    if (options.strength >= 0) qos.ownership().kind = EXCLUSIVE_OWNERSHIP_QOS;
    qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
}

// ---- publisher and subscriber

template <typename Endpoint>
static Endpoint* created(Endpoint* endpoint) {
    if (endpoint) return endpoint;
    printf("such a QoS is not supported\n");
    exit(1);
}

static std::string numbered(const std::string& name, int number) {
    return number ? name + std::to_string(number) : name;
}

static void print(const std::string& topic, const Shape& shape) {
    printf("%-10s %-10s %03d %03d [%d]", topic.c_str(), shape.color.c_str(), shape.x, shape.y, shape.shapesize);
    if (!shape.payload.empty()) printf(" {%u}", shape.payload.back());
    printf("\n");
}

static void publish(const Options& options, DomainParticipant* participant, const std::vector<Topic*>& topics) {
    PublisherQos group;
    if (options.partition) group.partition().push_back(options.partition);
    Publisher* publisher = participant->create_publisher(group);
    DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
    set_common(options, qos);
    qos.ownership_strength().value = std::max(options.strength, 0);
    if (options.lifespan > 0) qos.lifespan().duration = milliseconds(options.lifespan);
    // The program's end is to leave instances without writers, not disposed of.
    qos.writer_data_lifecycle().autodispose_unregistered_instances = false;
    std::vector<DataWriter*> writers;
    for (Topic* topic : topics) {
        printf("Create writer for topic: %s color: %s\n", topic->get_name().c_str(), options.color);
        writers.push_back(created(publisher->create_datawriter(topic, qos, &report)));
    }
    Shape shape;
    shape.shapesize = options.shapesize;
    shape.payload.assign(options.payload, 255);
    for (int n = 0; !all_done && (options.num_iterations == 0 || n < options.num_iterations); ++n) {
        shape.x = n * 3 % 240, shape.y = n * 5 % 270;
        if (options.shapesize == 0)
            shape.shapesize = (options.size_modulo ? shape.shapesize % options.size_modulo : shape.shapesize) + 1;
        for (DataWriter* writer : writers)
            for (int instance = 0; instance < options.num_instances; ++instance) {
                shape.color = numbered(options.color, instance);
                writer->write(&shape);
                if (options.print_written) print(writer->get_topic()->get_name(), shape);
            }
        usleep(options.write_period * 1000);
    }
    for (DataWriter* writer : writers)
        for (int instance = 0; instance < options.num_instances; ++instance) {
            shape.color = numbered(options.color, instance);
            if (options.final_state == 'u') writer->unregister_instance(&shape, HANDLE_NIL);
            if (options.final_state == 'd') writer->dispose(&shape, HANDLE_NIL);
        }
    for (DataWriter* writer : writers) writer->wait_for_acknowledgments(Duration_t(1, 0));
}

struct Taken {
    Shape shape;
    SampleInfo info;
};

static std::vector<Taken> take(const Options& options, DataReader* reader) {
    FASTDDS_CONST_SEQUENCE(Shapes, Shape);
    Shapes shapes;
    SampleInfoSeq infos;
    std::vector<Taken> all;
    if ((options.use_read ? reader->read(shapes, infos) : reader->take(shapes, infos)) == ReturnCode_t::RETCODE_OK) {
        for (LoanableCollection::size_type i = 0; i < infos.length(); ++i)
            all.push_back({infos[i].valid_data ? shapes[i] : Shape(), infos[i]});
        reader->return_loan(shapes, infos);
    }
    if (!options.take_read)
        std::stable_sort(all.begin(), all.end(), [](const Taken& a, const Taken& b) {
            return a.info.instance_handle < b.info.instance_handle;
        });
    return all;
}

static void subscribe(const Options& options, DomainParticipant* participant, const std::vector<Topic*>& topics) {
    SubscriberQos group;
    if (options.partition) group.partition().push_back(options.partition);
    Subscriber* subscriber = participant->create_subscriber(group);
    DataReaderQos qos = DATAREADER_QOS_DEFAULT;
    set_common(options, qos);
    std::vector<DataReader*> readers;
    for (Topic* topic : topics) {
        printf("Create reader for topic: %s\n", topic->get_name().c_str());
        readers.push_back(created(subscriber->create_datareader(topic, qos, &report)));
    }
    std::map<InstanceHandle_t, std::string> colors;
    for (int n = 0; !all_done && (options.num_iterations == 0 || n < options.num_iterations); ++n) {
        for (DataReader* reader : readers)
            for (const Taken& taken : take(options, reader)) {
                const std::string& topic = reader->get_topicdescription()->get_name();
                if (taken.info.valid_data) {
                    print(topic, taken.shape);
                    colors[taken.info.instance_handle] = taken.shape.color;
                }
                if (taken.info.instance_state != ALIVE_INSTANCE_STATE)
                    printf("%-10s %-10s NOT_ALIVE_%s_INSTANCE_STATE\n", topic.c_str(),
                           colors[taken.info.instance_handle].c_str(),
                           taken.info.instance_state == NOT_ALIVE_DISPOSED_INSTANCE_STATE ? "DISPOSED" : "NO_WRITERS");
            }
        usleep(options.read_period * 1000);
    }
}

int main(int argc, char** argv) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    struct sigaction action {};
    action.sa_handler = [](int) { all_done = 1; };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    Options options = parse(argc, argv);
    bool filters = options.subscribe && (options.color || options.cft || options.time_filter > 0);
    if (options.presentation || filters || options.representation != 1) {
        printf("PRESENTATION, filters and XCDR2 are not supported\n");
        return 1;
    }
    auto factory = DomainParticipantFactory::get_instance();
    DomainParticipant* participant = factory->create_participant(options.domain, PARTICIPANT_QOS_DEFAULT);
    if (!participant) return 1;
    TypeSupport type(new ShapeType);
    type.register_type(participant);
    std::vector<Topic*> topics;
    for (int number = 0; number < options.num_topics; ++number) {
        std::string name = numbered(options.topic, number);
        printf("Create topic: %s\n", name.c_str());
        topics.push_back(participant->create_topic(name, "ShapeType", TOPIC_QOS_DEFAULT));
    }
    (options.publish ? publish : subscribe)(options, participant, topics);
    participant->delete_contained_entities();
    factory->delete_participant(participant);
    printf("Done.\n");
}
