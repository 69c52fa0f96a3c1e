//! Joins worlds: the feed handler (FAST to DDS).
