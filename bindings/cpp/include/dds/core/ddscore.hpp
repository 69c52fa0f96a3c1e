/* The PSM's name of this header. */
#ifndef TICKWIRE_DDS_CORE_DDSCORE_HPP
#define TICKWIRE_DDS_CORE_DDSCORE_HPP

#include <dds/dds.hpp>

#endif
