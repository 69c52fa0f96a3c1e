//! A seeded virtual network and clock for tests.
