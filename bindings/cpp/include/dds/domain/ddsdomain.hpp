/* The PSM's name of this header. */
#ifndef TICKWIRE_DDS_DOMAIN_DDSDOMAIN_HPP
#define TICKWIRE_DDS_DOMAIN_DDSDOMAIN_HPP

#include <dds/dds.hpp>

#endif
