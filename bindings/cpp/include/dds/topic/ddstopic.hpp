/* The PSM's name of this header. */
#ifndef TICKWIRE_DDS_TOPIC_DDSTOPIC_HPP
#define TICKWIRE_DDS_TOPIC_DDSTOPIC_HPP

#include <dds/dds.hpp>

#endif
