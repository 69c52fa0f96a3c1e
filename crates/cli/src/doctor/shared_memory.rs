//! Shared memory: whether Tickwire gets any, which has no name; and of that which other implementations use
//! between processes, its size, and what crashed programs have left there.

use tickwire_transport::shm::LogWriter;

use super::Finding;
use super::system::System;
use crate::output::counted;

/// The size of /dev/shm, and segments that nobody uses.
pub(super) fn check(system: &System) -> Vec<Finding> {
    vec![own(), size(system), stale(system)]
}

/// Whether there is memory for a log of the usual length.
fn own() -> Finding {
    let check = "shared memory";
    match LogWriter::new(USUAL_LOG_BYTES) {
        Ok(_) => Finding::ok(check, "there is memory for logs, and they can be sealed"),
        Err(error) => Finding::warn(
            check,
            format!("{error}; samples between processes go by UDP"),
            "see docs/shared-memory.md, or do without: TICKWIRE_TRANSPORT=udp,multicast",
        ),
    }
}

const USUAL_LOG_BYTES: usize = 4 << 20;

fn size(system: &System) -> Finding {
    let check = "/dev/shm";
    let Some(options) = mount_options(system) else {
        return Finding::warn(
            check,
            "not mounted: programs with shared-memory transports fail or fall back to UDP",
            "mount -t tmpfs tmpfs /dev/shm",
        );
    };
    let size = options
        .split(',')
        .find_map(|option| option.strip_prefix("size="));
    let used = system.size("dev/shm");
    match size.and_then(bytes) {
        Some(size) if size <= SMALL => Finding::warn(
            check,
            format!("{size} bytes, {used} of them used, as in containers by default"),
            "docker run --shm-size=1g; in Kubernetes, an emptyDir of medium Memory on /dev/shm",
        ),
        Some(size) if used > size / 10 * 9 => Finding::warn(
            check,
            format!("{used} of {size} bytes are used"),
            "remove what crashed programs left (see below), or mount -o remount,size=... /dev/shm",
        ),
        Some(size) => Finding::ok(check, format!("{used} of {size} bytes are used")),
        None => Finding::ok(
            check,
            format!("{used} bytes are used of half of the memory"),
        ),
    }
}

/// The last mount on a place is the one that holds.
fn mount_options(system: &System) -> Option<String> {
    let mounts = system.read("proc/self/mounts")?;
    let is_it = |line: &&str| line.split(' ').nth(1) == Some("/dev/shm");
    let line = mounts.lines().rev().find(is_it)?;
    line.split(' ').nth(3).map(str::to_owned)
}

/// A size as mount has it: 65536k.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['k', 'm', 'g']);
    let factor: u64 = match text.get(digits.len()..)? {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

fn stale(system: &System) -> Finding {
    let check = "stale segments";
    let mut segments = system.names("dev/shm");
    segments.retain(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)));
    let all = segments.len();
    if all == 0 {
        return Finding::ok(check, "no segments of Fast DDS, iceoryx or Aeron");
    }
    let mut hidden = 0;
    for pid in system.processes() {
        let Some(maps) = system.read(&format!("proc/{pid}/maps")) else {
            hidden += 1;
            continue;
        };
        let open = system.open_files(pid);
        let open = open.iter().map(String::as_str);
        for path in maps.lines().chain(open).filter_map(in_shared_memory) {
            segments.retain(|name| name != path);
        }
    }
    if segments.is_empty() {
        return Finding::ok(check, format!("{all} segments, all in use"));
    }
    let stale = segments.len();
    let sum: u64 = segments
        .iter()
        .map(|name| system.size(&format!("dev/shm/{name}")))
        .sum();
    let some: Vec<_> = segments.iter().take(SHOWN).map(String::as_str).collect();
    let more = if stale > SHOWN { ", ..." } else { "" };
    let names = format!(
        "{stale} of {all} segments ({sum} bytes): {}{more}",
        some.join(", ")
    );
    match hidden {
        0 => Finding::warn(
            check,
            format!("nobody uses {names}"),
            "`fastdds shm clean`, or rm them: programs that crashed left them",
        ),
        hidden => Finding::warn(
            check,
            format!(
                "nobody seems to use {names}; {} not be looked at",
                counted(hidden, "process could", "processes could")
            ),
            match system.is_root() {
                true => {
                    "see that their process has ended before removing any, or look again with CAP_SYS_PTRACE \
                     (docker run --cap-add SYS_PTRACE), without which root cannot look into all"
                }
                false => {
                    "look again as root before removing any, or see that their process has ended"
                }
            },
        ),
    }
}

/// The name of the segment, or of the folder that it is in, at the end of a line.
fn in_shared_memory(line: &str) -> Option<&str> {
    let (_, path) = line.split_once("/dev/shm/")?;
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.split('/').next()
}

/// Of Fast DDS (segments, ports and their locks), iceoryx 1 and 2, and Aeron.
const PREFIXES: [&str; 8] = [
    "fastrtps_",
    "sem.fastrtps_",
    "fastdds_",
    "sem.fastdds_",
    "iceoryx",
    "iox1_",
    "iox2_",
    "aeron-",
];
/// What containers have by default.
const SMALL: u64 = 64 << 20;
/// So many names are said.
const SHOWN: usize = 4;

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::system::Fake;
    use super::*;

    fn mounted(name: &str, options: &str) -> Fake {
        let mounts = format!("proc /proc proc rw 0 0\nshm /dev/shm tmpfs rw,nosuid{options} 0 0\n");
        Fake::new(name).with("proc/self/mounts", &mounts)
    }

    #[test]
    fn the_size_is_that_of_the_mount() {
        let fake = mounted("shm-large", ",size=8388608k").with("dev/shm/other", "12345");
        assert_eq!(size(&fake.system).status, Status::Ok);
        assert!(size(&fake.system).found.starts_with("5 of 8589934592"));
        let half = mounted("shm-half", "");
        assert_eq!(size(&half.system).status, Status::Ok);
    }

    #[test]
    fn small_full_and_absent_memory_is_told() {
        let fake = mounted("shm-small", ",size=65536k");
        assert_eq!(size(&fake.system).status, Status::Warn);
        let text = "x".repeat(950);
        let fake = Fake::new("shm-full").with("dev/shm/a", &text);
        let fake = fake.with("proc/self/mounts", "shm /dev/shm tmpfs rw,size=1000 0 0\n");
        assert_eq!(size(&fake.system).status, Status::Warn);
        let fake = Fake::new("shm-none").with("proc/self/mounts", "proc /proc proc rw 0 0\n");
        let finding = size(&fake.system);
        assert_eq!(finding.status, Status::Warn);
        assert!(finding.found.starts_with("not mounted"));
    }

    #[test]
    fn segments_that_a_process_has_are_in_use() {
        let fake = mounted("shm-used", "")
            .with("dev/shm/fastrtps_17", "x")
            .with("dev/shm/sem.fastrtps_port7411_mutex", "x")
            .with("dev/shm/aeron-me/cnc.dat", "x")
            .with("dev/shm/pulse-1", "nobody's business")
            .with(
                "proc/77/maps",
                "7f00-7f01 rw-s 00000000 00:1a 5    /dev/shm/fastrtps_17\n\
                 7f02-7f03 rw-s 00000000 00:1a 6    /dev/shm/aeron-me/cnc.dat\n",
            )
            .with_link("proc/77/fd/3", "/dev/shm/sem.fastrtps_port7411_mutex");
        assert_eq!(
            stale(&fake.system),
            Finding::ok("stale segments", "3 segments, all in use")
        );
    }

    #[test]
    fn segments_that_nobody_has_are_stale() {
        let fake = mounted("shm-stale", "")
            .with("dev/shm/fastrtps_17", "abc")
            .with("dev/shm/fastrtps_171", "abc")
            .with(
                "proc/77/maps",
                "7f00-7f01 rw-s 0 0 5 /dev/shm/fastrtps_171\n",
            );
        let finding = stale(&fake.system);
        assert_eq!(finding.status, Status::Warn);
        assert_eq!(
            finding.found,
            "nobody uses 1 of 2 segments (3 bytes): fastrtps_17"
        );
        // A process whose maps cannot be read may use it.
        let fake = fake.with("proc/78/comm", "secret\n");
        let finding = stale(&fake.system);
        assert!(
            finding.found.ends_with("1 process could not be looked at"),
            "{finding:?}"
        );
        assert_eq!(
            finding.mend.as_deref(),
            Some("look again as root before removing any, or see that their process has ended")
        );
        let fake = fake.with("proc/self/status", "Name:\tdoctor\nUid:\t1000\t0\t0\t0\n");
        let mend = stale(&fake.system).mend.unwrap_or_default();
        assert!(mend.contains("with CAP_SYS_PTRACE"), "{mend}");
    }

    #[test]
    fn no_segments_are_fine() {
        let fake = mounted("shm-empty", "").with("dev/shm/other", "x");
        assert_eq!(stale(&fake.system).status, Status::Ok);
    }
}
