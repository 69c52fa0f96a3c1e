/* The PSM's name of this header. */
#ifndef TICKWIRE_DDS_PUB_DDSPUB_HPP
#define TICKWIRE_DDS_PUB_DDSPUB_HPP

#include <dds/dds.hpp>

#endif
