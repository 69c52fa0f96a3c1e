//! XCDR1 and XCDR2 (OMG XTypes) encoding of typed values, type descriptions and dynamic data.
