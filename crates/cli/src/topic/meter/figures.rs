//! What is computed from samples: rates, sizes, delays. Knows no network and no clock.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};
use tickwire::{Guid, LatencyHistogram, SampleInfo, Timestamp};

/// A sum over samples.
pub(super) trait Figures: Default {
    /// Forgets the samples of the period that has ended.
    fn begin_period(&mut self) {
        *self = Self::default();
    }
    /// One more sample, of so many bytes.
    fn add(&mut self, info: &SampleInfo, bytes: usize);
    /// What came out, by name, after so long. Figures that no sample gives are null.
    fn row(&self, elapsed: Duration) -> Vec<(&'static str, Value)>;
    /// What to know about the figures.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Time between samples.
#[derive(Default)]
pub(super) struct Rate {
    samples: u64,
    received: Intervals,
    /// What there is where all samples have come at one time, in one batch.
    written: Intervals,
    /// Whose the last sample was, in this period or before.
    writer: Option<Guid>,
    /// Whether samples have followed those of other writers, whose clocks may differ.
    is_of_several: bool,
}

/// Times between one sample and the next.
#[derive(Default)]
struct Intervals {
    /// When the last one was, in this period or before.
    last: Option<Timestamp>,
    spread: Spread,
}

/// Size of samples.
#[derive(Default)]
pub(super) struct Bandwidth {
    bytes: Spread,
}

/// Time from writing to arrival.
pub(super) struct Delay {
    samples: u64,
    delays_ns: Histogram<u64>,
    /// Samples that arrived before they were written.
    early: u64,
    earliest_ns: u64,
    /// Samples whose writer did not say when they were written.
    undated: u64,
}

/// Of numbers: least, greatest, mean and standard deviation.
#[derive(Default)]
struct Spread {
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    /// Sum of the squared distances from the mean (Welford).
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.count += 1;
        if self.count == 1 {
            (self.min, self.max) = (value, value);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
    }

    /// A figure, unless there is nothing to compute it from.
    fn figure(&self, figure: impl Fn(&Self) -> f64) -> Value {
        match self.count {
            0 => Value::Null,
            _ => json!(figure(self)),
        }
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }
}

impl Intervals {
    /// One more sample. What has no time is in no interval.
    fn add(&mut self, at: Option<Timestamp>) {
        let last = std::mem::replace(&mut self.last, at);
        if let (Some(last), Some(at)) = (last, at) {
            let ns = at.as_nanos().saturating_sub(last.as_nanos());
            self.spread.add(ns as f64 / 1e6);
        }
    }

    /// In a period that begins.
    fn begin(&self) -> Self {
        Self {
            last: self.last,
            ..Self::default()
        }
    }
}

fn per_second(count: f64, elapsed: Duration) -> Value {
    match elapsed.as_secs_f64() {
        0.0 => Value::Null,
        seconds => json!(count / seconds),
    }
}

impl Rate {
    /// Whether samples have followed others, and all came at the same time as these.
    fn is_one_batch(&self) -> bool {
        let Spread {
            count, min, max, ..
        } = self.received.spread;
        // Where the clock was set back there are intervals below 0.
        count > 0 && min == 0.0 && max == 0.0
    }

    /// Whether the times of writing order all that came in one batch, by one clock.
    fn is_of_writing(&self) -> bool {
        let Spread {
            count, min, max, ..
        } = self.written.spread;
        let is_whole = count == self.received.spread.count;
        self.is_one_batch() && is_whole && min >= 0.0 && max > 0.0
    }

    /// What the figures are of, and by which clock.
    fn spread(&self) -> (&Spread, &'static str) {
        match self.is_of_writing() {
            true => (&self.written.spread, "source"),
            false => (&self.received.spread, "reception"),
        }
    }
}

impl Figures for Rate {
    fn begin_period(&mut self) {
        *self = Self {
            received: self.received.begin(),
            written: self.written.begin(),
            writer: self.writer,
            ..Self::default()
        };
    }

    fn add(&mut self, info: &SampleInfo, _: usize) {
        self.samples += 1;
        self.received.add(Some(info.reception_timestamp));
        let before = self.writer.replace(info.writer);
        if before.is_some_and(|before| before != info.writer) {
            self.is_of_several = true;
            self.written.last = None;
        }
        self.written.add(info.source_timestamp);
    }

    fn row(&self, _: Duration) -> Vec<(&'static str, Value)> {
        let (spread, clock) = self.spread();
        let rate_hz = match spread.mean {
            mean_ms if mean_ms > 0.0 => json!(1e3 / mean_ms),
            _ => Value::Null,
        };
        let clock = match spread.count {
            0 => Value::Null,
            _ => json!(clock),
        };
        vec![
            ("samples", json!(self.samples)),
            ("rate_hz", rate_hz),
            ("min_ms", spread.figure(|spread| spread.min)),
            ("mean_ms", spread.figure(|spread| spread.mean)),
            ("max_ms", spread.figure(|spread| spread.max)),
            ("stddev_ms", spread.figure(Spread::deviation)),
            ("clock", clock),
        ]
    }

    fn remark(&self) -> Option<String> {
        let samples = self.samples;
        if samples == 1 {
            return Some("there is no rate of one sample: it takes two".to_owned());
        }
        let received = &self.received.spread;
        if !self.is_one_batch() {
            let is_backwards = received.count > 0 && received.mean <= 0.0;
            return is_backwards.then(|| {
                format!(
                    "of {samples} samples the last did not come after the first, by this machine's \
                     clock: there is no rate"
                )
            });
        }
        let rest = if self.is_of_writing() {
            ": the figures are of the times at which they were written"
        } else if self.is_of_several {
            ", from several writers, whose clocks may differ: there is no rate"
        } else {
            ", and no times of writing tell them apart: there is no rate"
        };
        Some(format!(
            "all {samples} samples came at one time, in one batch{rest}"
        ))
    }
}

impl Figures for Bandwidth {
    fn add(&mut self, _: &SampleInfo, bytes: usize) {
        self.bytes.add(bytes as f64);
    }

    fn row(&self, elapsed: Duration) -> Vec<(&'static str, Value)> {
        let bytes = &self.bytes;
        let megabytes = bytes.mean * bytes.count as f64 / 1e6;
        vec![
            ("samples", json!(bytes.count)),
            ("mb_per_s", per_second(megabytes, elapsed)),
            ("rate_hz", per_second(bytes.count as f64, elapsed)),
            ("min_bytes", bytes.figure(|spread| spread.min)),
            ("mean_bytes", bytes.figure(|spread| spread.mean)),
            ("max_bytes", bytes.figure(|spread| spread.max)),
        ]
    }
}

/// The row of one hop.
pub(super) fn row_of(times: &LatencyHistogram) -> Vec<(&'static str, Value)> {
    let figure = |time: Duration| (times.count() > 0).then_some(time);
    delay_row(
        times.count() + times.negative(),
        times.negative(),
        |quantile| figure(times.percentile((quantile * 1e6) as u32)),
        [figure(times.percentile(0)), figure(times.max())],
    )
}

fn delay_row(
    samples: u64,
    early: u64,
    percentile: impl Fn(f64) -> Option<Duration>,
    [min, max]: [Option<Duration>; 2],
) -> Vec<(&'static str, Value)> {
    let us =
        |time: Option<Duration>| time.map_or(Value::Null, |time| json!(time.as_secs_f64() * 1e6));
    vec![
        ("samples", json!(samples)),
        ("min_us", us(min)),
        ("p50_us", us(percentile(0.5))),
        ("p90_us", us(percentile(0.9))),
        ("p99_us", us(percentile(0.99))),
        ("p999_us", us(percentile(0.999))),
        ("max_us", us(max)),
        ("early", json!(early)),
    ]
}

impl Default for Delay {
    fn default() -> Self {
        let histogram = Histogram::new_with_max(LONGEST_NS, 3);
        Self {
            samples: 0,
            // The bounds are constants that it takes.
            delays_ns: histogram.expect("valid bounds"),
            early: 0,
            earliest_ns: 0,
            undated: 0,
        }
    }
}

impl Figures for Delay {
    fn add(&mut self, info: &SampleInfo, _: usize) {
        self.samples += 1;
        let Some(sent) = info.source_timestamp else {
            self.undated += 1;
            return;
        };
        let arrived_ns = info.reception_timestamp.as_nanos();
        let delay_ns = arrived_ns.saturating_sub(sent.as_nanos());
        match u64::try_from(delay_ns) {
            Ok(delay_ns) => self.delays_ns.saturating_record(delay_ns),
            Err(_) => {
                self.early += 1;
                self.earliest_ns = self.earliest_ns.max(delay_ns.unsigned_abs());
            }
        }
    }

    fn row(&self, _: Duration) -> Vec<(&'static str, Value)> {
        let times = &self.delays_ns;
        let figure = |ns: u64| (!times.is_empty()).then(|| Duration::from_nanos(ns));
        delay_row(
            self.samples,
            self.early,
            |quantile| figure(times.value_at_quantile(quantile)),
            [figure(times.min()), figure(times.max())],
        )
    }

    fn remark(&self) -> Option<String> {
        let (samples, early) = (self.samples, self.early);
        if early > 0 {
            let ahead = Duration::from_nanos(self.earliest_ns);
            return Some(format!(
                "the clocks differ: {early} of {samples} samples arrived before they were written, \
                 by up to {ahead:?}; synchronize the machines (chrony, PTP) before trusting a delay"
            ));
        }
        if !self.delays_ns.is_empty() && self.delays_ns.min() > SUSPICIOUS_NS {
            let least = Duration::from_nanos(self.delays_ns.min());
            return Some(format!(
                "even the fastest sample took {least:?}: probably the clocks differ"
            ));
        }
        let undated = self.undated;
        (undated > 0).then(|| format!("{undated} of {samples} samples have no source timestamp"))
    }
}

/// An hour; what takes longer counts as that.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// No network takes so long for its fastest datagram.
const SUSPICIOUS_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use tickwire::{InstanceHandle, InstanceState, SampleState, SequenceNumber, ViewState};

    fn info(sent_ns: Option<i64>, arrived_ns: i64) -> SampleInfo {
        SampleInfo {
            sample_state: SampleState::NotRead,
            view_state: ViewState::New,
            instance_state: InstanceState::Alive,
            kernel_timestamp: None,
            source_timestamp: sent_ns.map(Timestamp::from_nanos),
            reception_timestamp: Timestamp::from_nanos(arrived_ns),
            instance: InstanceHandle::KEYLESS,
            writer: Guid::UNKNOWN,
            sequence_number: SequenceNumber::UNKNOWN,
            related: None,
            disposed_generation_count: 0,
            no_writers_generation_count: 0,
            sample_rank: 0,
            generation_rank: 0,
            absolute_generation_rank: 0,
            valid_data: true,
        }
    }

    fn row(figures: &impl Figures) -> serde_json::Map<String, Value> {
        let row = figures.row(Duration::from_secs(2)).into_iter();
        row.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn rates_are_of_intervals() {
        let mut rate = Rate::default();
        for at_ms in [0, 10, 40] {
            rate.add(&info(None, at_ms * 1_000_000), 1);
        }
        let row = row(&rate);
        assert_eq!(
            (&row["samples"], &row["rate_hz"]),
            (&json!(3), &json!(50.0)),
            "one divided by the mean"
        );
        assert_eq!(
            (&row["min_ms"], &row["mean_ms"]),
            (&json!(10.0), &json!(20.0))
        );
        assert_eq!(
            (&row["max_ms"], &row["stddev_ms"]),
            (&json!(30.0), &json!(10.0))
        );
    }

    #[test]
    fn an_interval_counts_in_the_period_in_which_it_ends() {
        let mut rate = Rate::default();
        rate.add(&info(None, 0), 1);
        assert_eq!(row(&rate)["rate_hz"], Value::Null);
        rate.begin_period();
        rate.add(&info(None, 250_000_000), 1);
        let period = row(&rate);
        assert_eq!(
            (&period["samples"], &period["rate_hz"], &period["mean_ms"]),
            (&json!(1), &json!(4.0), &json!(250.0))
        );
        rate.begin_period();
        let silent = row(&rate);
        assert_eq!(
            (&silent["mean_ms"], &silent["clock"]),
            (&Value::Null, &Value::Null)
        );
    }

    fn rate_of(samples: &[(Option<i64>, i64)]) -> Rate {
        let mut rate = Rate::default();
        for &(sent_ns, arrived_ns) in samples {
            rate.add(&info(sent_ns, arrived_ns), 1);
        }
        rate
    }

    #[test]
    fn what_came_at_one_time_has_the_rate_at_which_it_was_written() {
        let one_batch = rate_of(&[
            (Some(0), 900),
            (Some(2_000_000), 900),
            (Some(4_000_000), 900),
        ]);
        let figures = row(&one_batch);
        assert_eq!(
            (&figures["rate_hz"], &figures["max_ms"]),
            (&json!(500.0), &json!(2.0))
        );
        assert_eq!(figures["clock"], json!("source"));
        assert_eq!(
            one_batch.remark().as_deref(),
            Some(
                "all 3 samples came at one time, in one batch: the figures are of the times at which they were written"
            )
        );
        // Where some came later, all is of the times at which they came: both kinds would count some time twice.
        let two_batches = rate_of(&[
            (Some(0), 0),
            (Some(2_000_000), 0),
            (Some(4_000_000), 4_000_000),
        ]);
        assert_eq!(row(&two_batches)["rate_hz"], json!(500.0));
        assert_eq!(row(&two_batches)["min_ms"], json!(0.0));
        assert_eq!(row(&two_batches)["clock"], json!("reception"));
        assert_eq!(two_batches.remark(), None);
    }

    #[test]
    fn what_came_at_one_time_and_is_not_told_apart_by_when_it_was_written_has_no_rate() {
        for samples in [
            [(None, 9), (None, 9)],
            [(Some(5), 9), (None, 9)],
            [(None, 9), (Some(5), 9)],
            [(Some(5), 9), (Some(5), 9)],
            [(Some(5), 9), (Some(4), 9)],
        ] {
            let rate = rate_of(&samples);
            let figures = row(&rate);
            assert_eq!(
                (&figures["rate_hz"], &figures["clock"]),
                (&Value::Null, &json!("reception"))
            );
            let said = rate.remark().unwrap_or_default();
            assert!(
                said.ends_with("no times of writing tell them apart: there is no rate"),
                "{said}"
            );
        }
        let said = rate_of(&[(Some(5), 9)]).remark();
        assert_eq!(
            said.as_deref(),
            Some("there is no rate of one sample: it takes two")
        );
    }

    #[test]
    fn what_was_written_before_one_without_a_time_is_in_no_interval() {
        let rate = rate_of(&[(Some(1), 9), (None, 9), (Some(3), 9), (Some(4), 9)]);
        assert_eq!(row(&rate)["rate_hz"], Value::Null);
    }

    fn writer(id: u8) -> Guid {
        Guid {
            prefix: tickwire::GuidPrefix([id; 12]),
            ..Guid::UNKNOWN
        }
    }

    #[test]
    fn clocks_of_several_writers_are_not_compared() {
        let mut all = Rate::default();
        let mut period = Rate::default();
        // The clock of the second is 10 s ahead.
        for (id, sent_ns) in [(1, 0), (2, 10_000_000_000)] {
            let sample = SampleInfo {
                writer: writer(id),
                ..info(Some(sent_ns), 9)
            };
            all.add(&sample, 1);
            period.begin_period();
            period.add(&sample, 1);
        }
        for rate in [&all, &period] {
            let figures = row(rate);
            assert_eq!(
                (&figures["rate_hz"], &figures["max_ms"], &figures["clock"]),
                (&Value::Null, &json!(0.0), &json!("reception"))
            );
        }
        assert_eq!(
            all.remark().as_deref(),
            Some(
                "all 2 samples came at one time, in one batch, from several writers, whose clocks may differ: there is no rate"
            )
        );
        // One that goes on alone has the rate of its own times.
        period.begin_period();
        let alone = SampleInfo {
            writer: writer(2),
            ..info(Some(10_002_000_000), 9)
        };
        period.add(&alone, 1);
        let figures = row(&period);
        assert_eq!(
            (&figures["rate_hz"], &figures["clock"]),
            (&json!(500.0), &json!("source"))
        );
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_batch_and_no_rate() {
        let rate = rate_of(&[
            (Some(0), 5_000_000),
            (Some(2_000_000), 0),
            (Some(4_000_000), 0),
        ]);
        let figures = row(&rate);
        assert_eq!(
            (&figures["rate_hz"], &figures["min_ms"], &figures["clock"]),
            (&Value::Null, &json!(-5.0), &json!("reception"))
        );
        assert_eq!(
            rate.remark().as_deref(),
            Some(
                "of 3 samples the last did not come after the first, by this machine's clock: there is no rate"
            )
        );
    }

    #[test]
    fn nothing_gives_no_figures() {
        assert_eq!(row(&Rate::default())["min_ms"], Value::Null);
        assert_eq!(row(&Bandwidth::default())["max_bytes"], Value::Null);
        assert_eq!(row(&Delay::default())["p50_us"], Value::Null);
        assert_eq!(Delay::default().remark(), None);
    }

    #[test]
    fn bytes_are_added_up() {
        let mut bandwidth = Bandwidth::default();
        for bytes in [1_000_000, 3_000_000] {
            bandwidth.add(&info(None, 0), bytes);
        }
        let row = row(&bandwidth);
        assert_eq!(
            (&row["mb_per_s"], &row["mean_bytes"]),
            (&json!(2.0), &json!(2_000_000.0))
        );
    }

    #[test]
    fn clocks_that_differ_are_told_of() {
        let mut delay = Delay::default();
        delay.add(&info(Some(0), 1_000), 0);
        delay.add(&info(None, 0), 0);
        assert_eq!(row(&delay)["p50_us"], json!(1.0));
        assert!(
            delay
                .remark()
                .is_some_and(|said| said.starts_with("1 of 2 samples have no"))
        );
        delay.add(&info(Some(5_000_000), 0), 0);
        let said = delay.remark().unwrap_or_default();
        assert!(
            said.contains("1 of 3 samples arrived before they were written, by up to 5ms"),
            "{said}"
        );
        let mut late = Delay::default();
        late.add(&info(Some(0), 7_200_000_000_000), 0);
        assert!(
            late.remark()
                .is_some_and(|said| said.contains("probably the clocks differ"))
        );
    }
}
