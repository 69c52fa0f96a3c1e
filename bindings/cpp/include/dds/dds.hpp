/*
 * Tickwire for C++17: the names of the ISO/IEC C++ DDS PSM over tickwire.h.
 *
 *     dds::domain::DomainParticipant participant(0);
 *     dds::topic::Topic<HelloWorldData::Msg> topic(participant, "HelloWorldData_Msg");
 *     dds::pub::DataWriter<HelloWorldData::Msg> writer(dds::pub::Publisher(participant), topic);
 *     writer.write(HelloWorldData::Msg(1, "Hello"));
 *
 * `tickwire idl gen --lang cpp` makes the header that has HelloWorldData::Msg.
 *
 * References. Objects of participants, topics, writers and so on are references: copies name the same entity, which ends
 * with the last of them, or by close(). An entity keeps those that it is made from. No listener runs any more when close(),
 * or the end of the last reference, has returned, but for one that does this itself.
 *
 * Threads. Any thread may call any function of an entity at any time, in a listener, too; a reference itself, a value and
 * a QoS belong to one thread at a time.
 *
 * Failures are thrown: dds::core::Exception, whose what() says what was wrong and what to do.
 */
#ifndef TICKWIRE_DDS_DDS_HPP
#define TICKWIRE_DDS_DDS_HPP

#include <dds/core/cond.hpp>
#include <dds/core/qos.hpp>
#include <dds/domain/domain.hpp>
#include <dds/pub/pub.hpp>
#include <dds/sub/sub.hpp>
#include <dds/topic/topic.hpp>

/* What programs for Cyclone DDS name besides the PSM. */
namespace org {
namespace eclipse {
namespace cyclonedds {
namespace domain {

inline std::uint32_t default_id()
{
    return 0;
}

} // namespace domain
} // namespace cyclonedds
} // namespace eclipse
} // namespace org

#endif
