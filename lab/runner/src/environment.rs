//! The machine and what is installed on it, so that a reader can judge the figures.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Names and values, in the order in which the report prints them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Environment {
    /// What the results of this machine are filed under.
    pub(crate) machine: String,
    /// When the run began, UTC.
    pub(crate) begun: String,
    /// How many there are; 0 in results that do not say.
    #[serde(default)]
    pub(crate) cores: usize,
    /// How long it took, in seconds.
    pub(crate) took_s: u64,
    pub(crate) facts: Vec<(String, String)>,
    /// Load averages before and after.
    pub(crate) load: (String, String),
    /// Of the time in which cores had work, what the host of a virtual machine gave to others, in percent;
    /// `None` in results that do not say.
    #[serde(default)]
    pub(crate) stolen_percent: Option<f64>,
    #[serde(skip)]
    pub(crate) before: CpuTime,
}

/// What all cores have done since the machine was started, in ticks of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    busy: u64,
    stolen: u64,
}

impl CpuTime {
    fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self::parse(&stat).unwrap_or_default()
    }

    /// Of the first line: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)).
    fn parse(stat: &str) -> Option<Self> {
        let numbers = stat.lines().next()?.strip_prefix("cpu ")?;
        let numbers = numbers.split_whitespace().map(str::parse);
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
        let [user, nice, system, _, _, irq, softirq, stolen, ..] = *numbers.as_slice() else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, stolen })
    }

    #[expect(clippy::cast_precision_loss, reason = "few ticks")]
    fn stolen_percent_since(self, before: Self) -> Option<f64> {
        let stolen = self.stolen.checked_sub(before.stolen)? as f64;
        let busy = self.busy.checked_sub(before.busy)? as f64;
        (busy > 0.0).then(|| 100.0 * stolen / (busy + stolen))
    }
}

impl Environment {
    /// What is so before the run. `versions` are lines that the preparation has written.
    pub(crate) fn capture(machine: String, versions: &[(String, String)]) -> Self {
        let mut facts = Vec::new();
        let mut fact = |name: &str, value: Option<String>| {
            let value = value.unwrap_or_else(|| "unknown".to_owned());
            facts.push((name.to_owned(), value));
        };
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        fact("processor", value_of("model name", &cpuinfo));
        fact("family and stepping", family(&cpuinfo));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        fact("cores", Some(cores.to_string()));
        let is_virtual = cpuinfo.contains(" hypervisor ");
        let kind = if is_virtual { "virtual" } else { "physical" };
        fact("machine", Some(kind.to_owned()));
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        fact("memory", value_of("MemTotal", &memory));
        fact("kernel", read("/proc/sys/kernel/osrelease"));
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let name = release.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="));
        fact("system", name.map(|name| name.trim_matches('"').to_owned()));
        for (name, path) in FILES {
            fact(name, read(path).or_else(|| Some("not there".to_owned())));
        }
        fact("niceness", niceness());
        let group = read("/proc/self/autogroup").unwrap_or_else(|| "not there".to_owned());
        fact("niceness of the session", Some(group));
        for (name, command) in COMMANDS {
            fact(name, first_line(Path::new("."), command));
        }
        for (name, value) in versions {
            fact(name, Some(value.clone()));
        }
        Self {
            machine,
            begun: timestamp(seconds_now()),
            cores,
            took_s: 0,
            facts,
            load: (load(), String::new()),
            stolen_percent: None,
            before: CpuTime::now(),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, took_s: u64) {
        self.took_s = took_s;
        self.load.1 = load();
        self.stolen_percent = CpuTime::now().stolen_percent_since(self.before);
    }
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    read("/proc/sys/kernel/hostname").unwrap_or_else(|| "localhost".to_owned())
}

/// Seconds since 1970.
pub(crate) fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// `2025-01-31T23.59.59Z`, which a folder may be called as well.
pub(crate) fn timestamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    // Eras of 400 years that begin on 1 March, so that the day that comes every four years is the last.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}T{hour:02}.{minute:02}.{second:02}Z")
}

/// The first line that a shell command prints in a folder.
pub(crate) fn first_line(folder: &Path, command: &str) -> Option<String> {
    let mut shell = Command::new("sh");
    let output = shell
        .args(["-c", command])
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}

/// Whether others had a good part of the machine, by its load averages.
pub(crate) fn is_busy(load: &str, cores: usize) -> bool {
    let last_minute = load.split_whitespace().next();
    let last_minute: f64 = last_minute
        .and_then(|it| it.parse().ok())
        .unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "there are few cores")]
    let cores = cores.max(1) as f64;
    last_minute > MOST_LOAD * cores
}

/// Waits until the machine has calmed down, as from building what is to be measured; not for ever.
#[expect(
    clippy::disallowed_methods,
    reason = "a load average tells nobody when it falls"
)]
pub(crate) fn wait_until_calm(say: impl Fn(&str)) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let begun = Instant::now();
    if is_busy(&load(), cores) {
        say("waiting for the machine to calm down, three minutes at most");
    }
    while is_busy(&load(), cores) && begun.elapsed() < LONGEST_WAIT {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Of each core.
const MOST_LOAD: f64 = 0.5;
const LONGEST_WAIT: Duration = Duration::from_secs(180);

fn load() -> String {
    let load = read("/proc/loadavg").unwrap_or_default();
    load.split_whitespace()
        .take(3)
        .collect::<Vec<_>>()
        .join(" ")
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let words: Vec<_> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Field 19 of /proc/self/stat, behind the name in parentheses.
fn niceness() -> Option<String> {
    let stat = read("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(16).map(str::to_owned)
}

fn value_of(name: &str, text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn family(cpuinfo: &str) -> Option<String> {
    let numbers = ["cpu family", "model\t", "stepping", "microcode"];
    let numbers: Option<Vec<_>> = numbers.iter().map(|it| value_of(it, cpuinfo)).collect();
    numbers.map(|numbers| numbers.join("/"))
}

const FILES: &[(&str, &str)] = &[
    (
        "frequency governor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    (
        "idle driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
    ),
    (
        "idle governor",
        "/sys/devices/system/cpu/cpuidle/current_governor",
    ),
    (
        "clock source",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "mitigations of spectre_v2",
        "/sys/devices/system/cpu/vulnerabilities/spectre_v2",
    ),
    (
        "transparent huge pages",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ),
    ("net.core.rmem_max", "/proc/sys/net/core/rmem_max"),
    ("net.core.rmem_default", "/proc/sys/net/core/rmem_default"),
    ("net.core.wmem_max", "/proc/sys/net/core/wmem_max"),
    ("net.core.wmem_default", "/proc/sys/net/core/wmem_default"),
    ("net.ipv4.tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem"),
    ("net.ipv4.tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem"),
    ("net.core.busy_poll", "/proc/sys/net/core/busy_poll"),
];

const COMMANDS: &[(&str, &str)] = &[
    ("rustc", "rustc --version"),
    ("g++", "g++ --version"),
    ("C library", "ldd --version"),
    ("commit", "git describe --always --dirty --abbrev=12"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00.00.00Z"),
            (951_827_696, "2000-02-29T12.34.56Z"),
            (1_709_164_800, "2024-02-29T00.00.00Z"),
            (1_735_689_599, "2024-12-31T23.59.59Z"),
            (4_107_542_400, "2100-03-01T00.00.00Z"),
        ] {
            assert_eq!(timestamp(seconds), text);
        }
    }

    #[test]
    fn what_the_host_took_is_a_part_of_the_time_with_work() {
        let before = CpuTime::parse("cpu  100 0 50 900 7 0 10 20 0 0\ncpu0 1");
        let after = CpuTime::parse("cpu  160 5 60 990 9 2 13 40 0 0\ncpu0 2");
        let (before, after) = (before.expect("eight numbers"), after.expect("the same"));
        assert_eq!(after.stolen_percent_since(before), Some(20.0));
        assert_eq!(before.stolen_percent_since(after), None);
        assert_eq!(CpuTime::parse("cpu  1 2 3"), None);
        assert_eq!(CpuTime::parse("intr 1"), None);
        assert!(CpuTime::now().busy > 0);
    }

    #[test]
    fn this_machine_has_a_kernel() {
        let environment = Environment::capture("here".into(), &[]);
        let kernel = environment.facts.iter().find(|(name, _)| name == "kernel");
        assert_ne!(kernel.unwrap().1, "unknown");
        assert!(environment.load.0.contains('.'));
    }
}
