//! What the kernel reads the time from. Each sample has a timestamp, so a slow clock costs latency.

use super::Finding;
use super::system::System;

/// The clock source.
pub(super) fn check(system: &System) -> Finding {
    let check = "clock source";
    let folder = "sys/devices/system/clocksource/clocksource0";
    let Some(source) = system.read(&format!("{folder}/current_clocksource")) else {
        return Finding::ok(check, "the kernel does not tell it");
    };
    if FAST.contains(&source.as_str()) {
        return Finding::ok(check, format!("{source}, read without a system call"));
    }
    let available = system.read(&format!("{folder}/available_clocksource"));
    let available = available.unwrap_or_default();
    let better = available
        .split_whitespace()
        .find(|name| FAST.contains(name));
    let mend = match better {
        Some(better) => format!("echo {better} > /{folder}/current_clocksource"),
        None => "see `dmesg | grep -i clocksource` for why no faster one is offered".to_owned(),
    };
    let found = format!("{source}: each reading is a system call, about a microsecond");
    Finding::warn(check, found, mend)
}

/// Those that the vDSO reads.
const FAST: [&str; 5] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
];

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::super::system::Fake;
    use super::*;

    #[test]
    fn slow_clocks_are_told() {
        let path = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        let fake = Fake::new("clock");
        assert_eq!(check(&fake.system).status, Status::Ok);
        let fake = fake.with(path, "tsc\n");
        assert_eq!(check(&fake.system).status, Status::Ok);
        let fake = fake.with(path, "hpet\n");
        let finding = check(&fake.system);
        assert_eq!(finding.status, Status::Warn);
        assert!(
            finding
                .mend
                .is_some_and(|mend| mend.starts_with("see `dmesg"))
        );
        let available = path.replace("current", "available");
        let fake = fake.with(&available, "hpet acpi_pm tsc\n");
        let mend = check(&fake.system).mend.unwrap_or_default();
        assert!(mend.starts_with("echo tsc > /sys/devices"), "{mend}");
    }
}
