//! Who is there, what they write and read, and who matches whom (RTPS 2.5 §8.5).
mod data_error;
#[cfg(test)]
mod data_tests;
mod endpoint_data;
mod participant_data;
mod qos_parameters;
mod values;

pub use data_error::DiscoveryDataError;
pub use endpoint_data::{EndpointData, Role};
pub use participant_data::{BuiltinEndpoints, ParticipantData};
