//! What this process has used so far, of all its threads.

use std::fs;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// CPU time.
pub(super) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    time.map_or(0.0, |time| Duration::from(time).as_secs_f64())
}

/// The same of this thread alone.
pub(super) fn own_cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0.0, |time| Duration::from(time).as_secs_f64())
}

/// Memory that is backed by pages, in bytes; 0 if the system does not say.
pub(super) fn resident_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(0_u64) * 1024
}

/// Threads, and how often those that live, but for this one, have waited for something and been woken.
pub(super) fn threads() -> (u64, u64) {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
    let own = fs::read_link("/proc/thread-self").unwrap_or_default();
    let (mut count, mut waits) = (0, 0);
    for task in tasks.flatten() {
        count += 1;
        if own.file_name() == Some(&task.file_name()) {
            continue;
        }
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        waits += line
            .and_then(|line| line.trim().parse().ok())
            .unwrap_or(0_u64);
    }
    (count, waits)
}
