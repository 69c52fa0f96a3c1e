//! `tickwire node ls`: the participants.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::failure::Result;
use crate::output::{ListFormat, note, stdout, write_list};
use crate::survey::{Process, SurveyOptions, kind, vendor};

/// List the participants
#[derive(Args)]
#[command(
    long_about = "\
Listens to discovery for a while and lists each participant: its name, whether it is a rendezvous \
(which has no endpoints, but lets the others find each other), whose DDS it runs on, the host and \
process where it tells them, how many endpoints it has, how long it counts as present after its last \
sign, and how long its process runs, where that is on this machine.

It changes nothing; any DDS on the network is seen.",
    after_help = "\
Examples:
  tickwire node ls
  tickwire node ls -o json | jq '.[] | select(.vendor != \"Tickwire\")'
  tickwire node ls -o json | jq '.[] | select(.kind == \"rendezvous\")'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the list
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ListFormat,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let (_participant, survey) = self.survey.look("tickwire node ls")?;
        if survey.participants.is_empty() {
            let network = &self.survey.network;
            let (domain, interface) = (network.domain, &network.interface);
            note(format_args!(
                "nobody else is in domain {domain} on {interface}"
            ));
            self.survey.hint_at_other_transports();
        }
        let columns = [
            "participant",
            "name",
            "kind",
            "vendor",
            "host",
            "pid",
            "writers",
            "readers",
            "lease s",
            "age s",
        ];
        let rows = survey.participants.values().map(|participant| {
            let process = Process::of(participant);
            let endpoints = || survey.endpoints_of(participant.guid_prefix);
            let writers = endpoints().filter(|data| data.guid.entity.is_writer());
            let writers = writers.count();
            vec![
                json!(format!("{:?}", participant.guid_prefix)),
                json!(participant.entity_name),
                json!(kind(participant)),
                json!(vendor(participant)),
                json!(process.host),
                json!(process.pid),
                json!(writers),
                json!(endpoints().count() - writers),
                json!(seconds(participant.lease_duration)),
                json!(process.age().map(|age| age.as_secs())),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let mut out = stdout();
        write_list(&mut out, self.output, &columns, &rows)?;
        Ok(out.flush()?)
    }
}

/// A lease in seconds; the infinite one has none.
fn seconds(lease: Duration) -> Option<f64> {
    (lease != Duration::MAX).then_some(lease.as_secs_f64())
}
