//! `tickwire topic ls`: the topics of a domain.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use tickwire::EndpointData;

use super::Look;
use crate::failure::Result;
use crate::output::{ListFormat, stdout, write_list};

/// List the topics of a domain
#[derive(Args)]
#[command(
    long_about = "\
Joins a domain, waits for what discovery finds, and lists every topic that somebody writes or reads, \
with its type and the QoS that its writers offer. Any DDS implementation on the network is heard.",
    after_help = "\
Examples:
  tickwire topic ls
  tickwire topic ls --domain 7 -o json | jq '.[].topic'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    look: Look,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

/// What is known of a topic.
#[derive(Default)]
struct Row {
    writers: u32,
    readers: u32,
    /// Of the first writer, or else of the first reader.
    qos: Option<Arc<EndpointData>>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let participant = self.look.participant()?;
        let discovery = participant.discovery();
        // All that answer within the time are wanted: it always passes in full.
        let _time_is_up = discovery.wait_for(self.look.wait, || None::<()>);
        let mut topics: BTreeMap<(String, String), Row> = BTreeMap::new();
        for writer in discovery.publications() {
            let row = topics.entry(key(&writer)).or_default();
            row.writers += 1;
            row.qos.get_or_insert(writer);
        }
        for reader in discovery.subscriptions() {
            let row = topics.entry(key(&reader)).or_default();
            row.readers += 1;
            row.qos.get_or_insert(reader);
        }
        let rows: Vec<_> = topics.into_iter().map(Row::values).collect();
        let mut out = stdout();
        let columns = [
            "topic",
            "type",
            "writers",
            "readers",
            "reliability",
            "durability",
        ];
        write_list(&mut out, self.output, &columns, &rows)?;
        out.flush()?;
        if rows.is_empty() {
            let domain = self.look.domain;
            eprintln!("no topics in domain {domain} within {:?}", self.look.wait);
        }
        Ok(())
    }
}

impl Row {
    fn values(((topic, ty), row): ((String, String), Self)) -> Vec<Value> {
        let text = |of: fn(&EndpointData) -> String| json!(row.qos.as_deref().map(of));
        vec![
            json!(topic),
            json!(ty),
            json!(row.writers),
            json!(row.readers),
            text(|data| data.qos.reliability.kind.to_string()),
            text(|data| data.qos.durability.to_string()),
        ]
    }
}

fn key(endpoint: &EndpointData) -> (String, String) {
    (endpoint.topic_name.clone(), endpoint.type_name.clone())
}
