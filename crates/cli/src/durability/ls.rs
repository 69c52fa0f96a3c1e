//! `tickwire durability ls`: the logs of a store, from outside.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use tickwire::store::{LogSummary, Owner, Store};

use super::{Place, StoreOption};
use crate::failure::{Failure, Result};
use crate::output::{ListFormat, counted, note, stdout, write_list};

/// List the logs of TRANSIENT and PERSISTENT writers
#[derive(Args)]
#[command(
    long_about = "\
Lists the logs in which TRANSIENT and PERSISTENT writers keep their samples beyond their own end: whose \
they are, how much is in them, who has them (a `writer` that runs, a durability `service`, or nobody: \
then the next writer of the topic takes over), and how many bytes are no whole record. Samples that are no \
longer kept count until the log is compacted. A log that the next writer of its topic cannot take over, as \
its type or encoding is another, stays until `tickwire durability rm` removes it, by the name that is listed.

It changes nothing, and takes no log from anybody.",
    after_help = "\
Examples:
  tickwire durability ls
  tickwire durability ls --store /var/lib/tickwire
  tickwire durability ls -o json | jq '.[] | select(.owner == \"nobody\")'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreOption,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let is_table = self.output == ListFormat::Table;
        let mut columns = vec![
            "log",
            "domain",
            "topic",
            "type",
            "partition",
            "slot",
            "kind",
        ];
        columns.extend(["samples", "bytes", "owner", "damaged bytes"]);
        if !is_table {
            columns.extend(["damage", "domain tag", "directory"]);
        }
        let (mut rows, mut unreadable) = (Vec::new(), 0);
        let places = self.store.places()?;
        for place in &places {
            for log in Store::logs(&place.directory).map_err(Failure::new)? {
                match LogSummary::of(&log) {
                    Ok(summary) => rows.push(row(place, &summary, is_table)),
                    Err(error) => {
                        unreadable += 1;
                        note(error);
                    }
                }
            }
        }
        if rows.is_empty() && unreadable == 0 {
            for place in &places {
                let directory = place.directory.display();
                note(match place.directory.exists() {
                    true => format!("no log in {directory}"),
                    false => format!("no log in {directory}, which does not exist"),
                });
            }
        }
        let mut out = stdout();
        write_list(&mut out, self.output, &columns, &rows)?;
        out.flush()?;
        match unreadable {
            0 => Ok(()),
            count => Err(Failure::new(format_args!(
                "{} cannot be read",
                counted(count, "log", "logs")
            ))),
        }
    }
}

fn row(place: &Place, summary: &LogSummary, is_table: bool) -> Vec<Value> {
    let key = &summary.description.key;
    let name = summary.directory.file_name().unwrap_or_default();
    let mut row = vec![
        json!(name.to_string_lossy()),
        json!(key.domain),
        json!(key.topic),
        json!(key.type_name),
        match is_table {
            true => json!(key.partition.join(", ")),
            false => json!(key.partition),
        },
        json!(summary.slot),
        json!(place.kind),
        json!(summary.records),
        json!(summary.bytes),
        json!(match summary.owner {
            Owner::Nobody => "nobody",
            Owner::Writer => "writer",
            Owner::Service => "service",
        }),
        json!(summary.damaged_bytes),
    ];
    if !is_table {
        row.push(json!(summary.damage.map(|damage| damage.to_string())));
        row.push(json!(key.domain_tag));
        row.push(json!(summary.directory.display().to_string()));
    }
    row
}
