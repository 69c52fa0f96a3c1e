//! The programs, two at a time, by a rendezvous.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tickwire::rendezvous::{Rendezvous, RendezvousOptions};

/// Where a rendezvous is that runs until the tests end.
fn rendezvous() -> String {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut rendezvous = Rendezvous::bind(&RendezvousOptions::new(any)).expect("a socket");
    let address = rendezvous.addresses()[0].to_string();
    thread::spawn(move || while rendezvous.turn(Duration::from_secs(1)).is_ok() {});
    address
}

/// Runs two programs at once; what the first one prints last.
fn last_line(first: &str, first_args: &[&str], second: &str, second_args: &[&str]) -> String {
    let host = rendezvous();
    let mut second = Command::new(second);
    let second = second.arg(&host).args(second_args).stdout(Stdio::null());
    let mut second = second.spawn().expect("it was built");
    let first = Command::new(first).arg(&host).args(first_args).output();
    let first = first.expect("it was built");
    let error = String::from_utf8_lossy(&first.stderr);
    assert!(first.status.success(), "{error}");
    assert!(second.wait().expect("it ends").success());
    let printed = String::from_utf8_lossy(&first.stdout).into_owned();
    printed.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn round_trips_are_timed() {
    let (local, remote) = (
        env!("CARGO_BIN_EXE_local_lat"),
        env!("CARGO_BIN_EXE_remote_lat"),
    );
    let printed = last_line(local, &["100", "20"], remote, &["-", "-", "100", "20"]);
    assert!(printed.starts_with("Your average latency is "), "{printed}");
}

#[test]
fn messages_are_counted() {
    let (local, remote) = (
        env!("CARGO_BIN_EXE_local_thr"),
        env!("CARGO_BIN_EXE_remote_thr"),
    );
    let printed = last_line(local, &["-", "5000", "300"], remote, &["5000", "300"]);
    assert!(printed.ends_with("[Mb/s]"), "{printed}");
}
