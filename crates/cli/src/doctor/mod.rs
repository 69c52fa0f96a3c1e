//! `tickwire doctor`: what of this machine, this network and this domain breaks publish/subscribe.
//!
//! Each check reads what the kernel tells in files, or what discovery has found, and gives one
//! finding. Nothing is changed.

mod buffers;
mod clock;
mod network;
mod peers;
mod ports;
mod shared_memory;
mod system;

use std::io::Write;

use clap::Args;
use serde_json::json;
use tickwire::Transport;
use tickwire_transport::InterfaceSelection;

use crate::failure::{Failure, Result};
use crate::output::{counted, stdout};
use crate::survey::{ReportFormat, SurveyOptions};
use system::System;

/// Find out what breaks publish/subscribe on this machine
#[derive(Args)]
#[command(
    long_about = "\
Checks what most often breaks systems of this kind: socket buffers and what the kernel granted, \
datagrams dropped, multicast on the interface, IP fragments, shared memory and what crashed \
programs left there, the clock, the ports of the domain, and participants that are seen but do not \
match. Each line is OK, WARN or FAIL, and says how to mend what is not well. What concerns a transport \
that is not used is left out.

It reads /proc and /sys, joins the domain for a moment, and sends one multicast datagram that does \
not leave the machine. It changes nothing. Run it as root to see other users' processes.

The exit status is 1 if a check fails; warnings alone are no failure.",
    after_help = "\
Examples:
  tickwire doctor
  tickwire doctor --domain 3 --interface eth0
  tickwire doctor --transport tcp
  tickwire doctor -o json | jq '.checks[] | select(.status != \"OK\")'"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    survey: SurveyOptions,

    /// Form of the answer
    #[arg(short, long, value_name = "FORM", value_enum, default_value_t)]
    output: ReportFormat,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    check: &'static str,
    status: Status,
    found: String,
    /// What to do about it.
    mend: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            found: found.into(),
            mend: None,
        }
    }

    fn warn(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            status: Status::Warn,
            mend: Some(mend.into()),
            ..Self::ok(check, found)
        }
    }

    fn fail(check: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            status: Status::Fail,
            ..Self::warn(check, found, mend)
        }
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
        }
    }
}

impl Arguments {
    pub(crate) fn run(self) -> Result<()> {
        let network = &self.survey.network;
        let Ok(selection) = network.interface.parse::<InterfaceSelection>();
        let interfaces = selection.find().map_err(Failure::usage)?;
        let system = System::at("/");
        let transports = network.transports();
        let has_udp = transports.contains(Transport::Udp);
        let mut findings = Vec::new();
        if has_udp {
            findings.extend(buffers::check(&system));
        }
        for interface in &interfaces {
            findings.extend(network::check(&system, interface, transports));
            if transports.contains(Transport::Multicast) {
                findings.push(network::hears_itself(interface));
            }
        }
        findings.extend(shared_memory::check(&system));
        findings.push(clock::check(&system));
        if network.domain <= ports::LAST_DOMAIN {
            findings.extend(ports::check(&system, network.domain));
        }
        match self.survey.look_only("tickwire doctor") {
            Err(failure) => findings.push(Finding::fail(
                "participant",
                failure.to_string(),
                failure.advice().unwrap_or("see the checks above"),
            )),
            Ok((participant, survey)) => {
                if has_udp {
                    let granted = participant.counters().receive_buffer_bytes;
                    findings.push(buffers::granted(granted));
                }
                findings.extend(network::refused(&participant.refused_interfaces()));
                findings.extend(peers::rendezvous(&survey, &network.rendezvous));
                let counters = participant.discovery().counters();
                let found = peers::check(&survey, &counters, &interfaces, network);
                findings.extend(found);
            }
        }
        self.write(&findings)?;
        let fails = findings
            .iter()
            .filter(|finding| finding.status == Status::Fail);
        match fails.count() as u64 {
            0 => Ok(()),
            fails => Err(Failure::new(counted(fails, "check fails", "checks fail"))),
        }
    }

    fn write(&self, findings: &[Finding]) -> Result<()> {
        let mut out = stdout();
        let count = |status| findings.iter().filter(|f| f.status == status).count();
        let [ok, warn, fail] = [Status::Ok, Status::Warn, Status::Fail].map(count);
        if self.output == ReportFormat::Json {
            let checks = findings.iter().map(|finding| {
                json!({
                    "check": finding.check,
                    "status": finding.status.name(),
                    "found": finding.found,
                    "mend": finding.mend,
                })
            });
            let report = json!({
                "domain": self.survey.network.domain,
                "interface": self.survey.network.interface,
                "checks": checks.collect::<Vec<_>>(),
                "ok": ok,
                "warn": warn,
                "fail": fail,
            });
            serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        for finding in findings {
            let status = finding.status.name();
            writeln!(out, "{status:4}  {:22} {}", finding.check, finding.found)?;
            if let Some(mend) = &finding.mend {
                writeln!(out, "      {:22} -> {mend}", "")?;
            }
        }
        writeln!(out, "\n{ok} OK, {warn} WARN, {fail} FAIL")?;
        Ok(out.flush()?)
    }
}
