//! Market-data feed engine without IO: framing, A/B arbitration, sample data.
