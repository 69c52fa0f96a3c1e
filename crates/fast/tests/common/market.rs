//! Structs for the golden file's templates.

use tickwire_fast::{Decimal, FastMessage};

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
pub(crate) struct MarketData {
    #[fast(rename = "ApplVerID")]
    pub(crate) application_version: String,
    pub(crate) message_type: String,
    pub(crate) sender_comp_id: String,
    pub(crate) msg_seq_num: u32,
    pub(crate) sending_time: u64,
    pub(crate) trade_date: u32,
    #[fast(rename = "MDEntries")]
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug, Default, PartialEq, FastMessage)]
pub(crate) struct Entry {
    pub(crate) md_update_action: u32,
    pub(crate) md_price_level: Option<u32>,
    pub(crate) md_entry_type: String,
    pub(crate) open_close_settle_flag: Option<u32>,
    pub(crate) security_id_source: u32,
    pub(crate) security_id: u32,
    pub(crate) rpt_seq: u32,
    pub(crate) md_entry_px: Decimal,
    pub(crate) md_entry_time: u32,
    pub(crate) md_entry_size: Option<i32>,
    pub(crate) number_of_orders: Option<u32>,
    pub(crate) trading_session_id: Option<String>,
    pub(crate) net_chg_prev_day: Option<Decimal>,
    pub(crate) trade_volume: Option<u32>,
    pub(crate) trade_condition: Option<String>,
    pub(crate) tick_direction: Option<String>,
    pub(crate) quote_condition: Option<String>,
    pub(crate) aggressor_side: Option<u32>,
    pub(crate) match_event_indicator: Option<String>,
}
