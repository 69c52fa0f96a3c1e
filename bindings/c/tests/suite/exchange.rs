//! Programs in C that send to exchanges and receive from queues, in two processes each.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dds::rendezvous::{Rendezvous, RendezvousOptions};

use crate::common::{build, build_with, installed, program, source, succeed, temporary};

/// Runs a rendezvous as long as `run`, which is told where it is.
fn with_rendezvous(run: impl FnOnce(&str)) {
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut rendezvous = Rendezvous::bind(&RendezvousOptions::new(any)).expect("a socket");
    let address = rendezvous.addresses()[0].to_string();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let turn = rendezvous.turn(Duration::from_millis(10));
                turn.expect("it can receive");
            }
        });
        let _done = Done(&is_done);
        run(&address);
    });
}

/// An example, which is built once.
fn example(name: &'static str) -> Command {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().expect("all are built");
    let path = built.entry(name);
    program(path.or_insert_with(|| build(&source(&format!("examples/{name}.c")), name)))
}

/// Runs two programs at once; what the first one prints.
fn run_both(mut first: Command, mut second: Command) -> String {
    let second = second.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let second = second.expect("it was built");
    let first = succeed(&mut first);
    let second = second.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.success(), "{error}");
    String::from_utf8(first.stdout).expect("it prints text")
}

/// What was printed, with N in place of what was measured.
fn shape(printed: &str) -> String {
    let lines = printed.lines().map(|line| match line.split_once(" is ") {
        Some((what, figure)) => {
            let (number, unit) = figure.split_once(' ').expect("a unit");
            let number: f64 = number.parse().expect("a number");
            assert!(number > 0.0, "{line}");
            format!("{what} is N {unit}\n")
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn latencies(host: &str, adjust: impl Fn(&mut Command)) {
    let (mut local, mut remote) = (example("local_lat"), example("remote_lat"));
    local.args([host, "100", "20"]);
    remote.args([host, "-", "-", "100", "20"]);
    adjust(&mut local);
    adjust(&mut remote);
    let printed = run_both(local, remote);
    let expected = "message size: 100 [B]\nroundtrip count: 20\nYour average latency is N [us]\n";
    assert_eq!(shape(&printed), expected);
}

fn throughput(host: &str, adjust: impl Fn(&mut Command)) {
    let (mut local, mut remote) = (example("local_thr"), example("remote_thr"));
    local.args([host, "127.0.0.1:5555", "5000", "300"]);
    remote.args([host, "5000", "300"]);
    adjust(&mut local);
    adjust(&mut remote);
    let printed = run_both(local, remote);
    let expected = "message size: 5000 [B]\nmessage count: 300\n\
                    Your average throughput is N [msg/s]\nYour average throughput is N [Mb/s]\n";
    assert_eq!(shape(&printed), expected);
}

#[test]
fn programs_find_each_other_by_the_rendezvous() {
    with_rendezvous(|address| {
        latencies(address, |_| {});
        throughput(address, |_| {});
    });
}

#[test]
fn programs_find_each_other_by_multicast_or_peers() {
    for (how, profile) in [
        ("multicast", ""),
        ("peers", "multicast = false\npeers = ['127.0.0.1']\n"),
    ] {
        let tag = format!("mq-{how}-{}", std::process::id());
        let profile =
            format!("[profiles.near.participant]\ndomain = 121\ndomain_tag = '{tag}'\n{profile}");
        let file = temporary(&format!("mq-{how}.toml"));
        fs::write(&file, profile).expect("there is room");
        let by_file = |command: &mut Command| {
            command.env("TICKWIRE_QOS_FILE", &file);
        };
        latencies("-", by_file);
        throughput("-", by_file);
    }
}

#[test]
fn buffers_are_handed_over_both_ways() {
    let printed = succeed(&mut example("buffers")).stdout;
    assert_eq!(
        String::from_utf8_lossy(&printed),
        "10 sent and freed, 10 received and freed\n"
    );
}

#[test]
fn programs_of_2008_are_compiled_again() {
    // They include "czmq.h".
    let include = installed().join("include/tickwire");
    let czmq = build_with(&[&source("tests/programs/czmq.c")], "czmq", &include);
    with_rendezvous(|address| {
        succeed(program(&czmq).arg(address));
    });
}
