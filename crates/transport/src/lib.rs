//! UDP transport of Tickwire.
