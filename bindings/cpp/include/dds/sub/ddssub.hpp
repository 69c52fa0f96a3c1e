/* The PSM's name of this header. */
#ifndef TICKWIRE_DDS_SUB_DDSSUB_HPP
#define TICKWIRE_DDS_SUB_DDSSUB_HPP

#include <dds/dds.hpp>

#endif
