//! The answer of a program, one line of JSON.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a process has seen, of the measured part alone.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The system.
    pub system: String,
    /// Its version.
    pub version: String,
    /// What the process did.
    pub job: String,
    /// Which one of its kind it is.
    pub index: u8,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Messages that did not come.
    pub lost: u64,
    /// Messages that came after later ones.
    pub out_of_order: u64,
    /// Messages that came twice, or were not what had been sent.
    pub wrong: u64,
    /// What went wrong first.
    pub error: Option<String>,
    /// From the first measured message to the last.
    pub elapsed_ns: u64,
    /// Messages received since the publishers began, those of the warm-up that were late among them.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken: u64,
    /// From when the publishers began to the last message received.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken_ns: u64,
    /// Length of a payload.
    pub payload_bytes: u64,
    /// Mean length of what was handed to the transport.
    pub encoded_bytes: Option<u64>,
    /// What the process cost meanwhile.
    #[serde(flatten)]
    pub cost: crate::meter::Cost,
    /// The file with the measured times.
    pub samples: Option<String>,
    /// The file with the times of decoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples_decode: Option<String>,
    /// Files with the times of further stages, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, String>,
    /// Options of the system that the program sets.
    pub settings: BTreeMap<String, String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Answer {
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers")
    }
}
