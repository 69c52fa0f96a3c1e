//! When publishers begin, once they are warm.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::clock::now;
use crate::options::{Options, PATIENCE};

/// Tells the run when this publisher begins, which is now; several of them wait until all are warm, and begin
/// together.
pub(crate) fn begin(options: &Options) -> Result<(), String> {
    let is_alone = options.publishers == 1;
    let told = |error: std::io::Error| format!("the start cannot be told: {error}");
    let own = if is_alone { now() } else { now() + LEAD };
    let file = file(&options.dir, options.index);
    let new = file.with_extension(format!("{}.new", options.index));
    fs::write(&new, own.to_string()).map_err(told)?;
    fs::rename(&new, file).map_err(told)?;
    if is_alone {
        return Ok(());
    }
    let deadline = own + u64::try_from(PATIENCE.as_nanos()).unwrap_or(u64::MAX);
    loop {
        let left = match agreed(options) {
            Some(start) => start.saturating_sub(now()),
            None if now() > deadline => return Err("not all publishers came to the start".into()),
            None => LOOK,
        };
        if left == 0 {
            return Ok(());
        }
        #[expect(clippy::disallowed_methods, reason = "the others are other processes")]
        thread::sleep(Duration::from_nanos(left));
    }
}

/// When the publishers of this run begin, if all have told: the latest of their times, CLOCK_MONOTONIC in
/// nanoseconds.
pub(crate) fn agreed(options: &Options) -> Option<u64> {
    let told = |index| {
        let text = fs::read_to_string(file(&options.dir, index)).ok()?;
        text.parse::<u64>().ok()
    };
    let times: Option<Vec<u64>> = (0..options.publishers).map(told).collect();
    times?.into_iter().max()
}

fn file(dir: &Path, index: u8) -> PathBuf {
    dir.join(format!("start.{index}"))
}

/// How far ahead the start is of who comes last, so that all others see it before.
const LEAD: u64 = 20_000_000;
/// How long nobody looks whether all are there.
const LOOK: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::Arguments;

    #[derive(clap::Args)]
    struct None {}

    #[test]
    fn publishers_begin_when_the_last_of_them_does() {
        let dir = std::env::temp_dir().join(format!("lab-start-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a folder");
        let given = ["program", "--system", "x", "--job", "send", "--dir"];
        let dir_text = dir.to_string_lossy().into_owned();
        let with = |more: &[&str]| {
            let all = given.iter().copied().chain([dir_text.as_str()]);
            let all = all.chain(more.iter().copied());
            let arguments = Arguments::<None>::try_parse_from(all).expect("options that exist");
            arguments.common
        };
        let alone = with(&[]);
        assert_eq!(agreed(&alone), None);
        let before = now();
        begin(&alone).expect("a file");
        let first = agreed(&alone).expect("it has told");
        assert!((before..=now()).contains(&first));

        let both = with(&["--publishers", "2", "--index", "1"]);
        assert_eq!(agreed(&both), None, "one is missing");
        begin(&both).expect("both are there");
        let second = agreed(&both).expect("both have told");
        assert!(second > first && now() >= second, "the later time counts");
        fs::remove_dir_all(&dir).expect("our own folder");
    }
}
