//! Where this side connects to, and when it tries again. Opens nothing.

use std::time::Duration;

use tickwire_base::{Channel, Instant};

use super::{Owner, TcpOptions};

/// Somewhere to connect to.
#[derive(Debug)]
pub(super) struct Target {
    /// Who is there, as far as is known.
    pub(super) owner: Option<Owner>,
    /// Whether it is connected to for ever.
    pub(super) is_kept: bool,
    /// This side has found itself.
    pub(super) is_self: bool,
    pub(super) wanted_at: Instant,
    dials: [Dial; 2],
}

#[derive(Clone, Copy, Debug)]
struct Dial {
    /// The connection that is being made.
    under_way: Option<u64>,
    retry_at: Instant,
    pause: Duration,
}

impl Target {
    pub(super) fn new(now: Instant, owner: Option<Owner>, options: &TcpOptions) -> Self {
        let dial = Dial {
            under_way: None,
            retry_at: now,
            pause: options.min_pause,
        };
        Self {
            owner,
            is_kept: false,
            is_self: false,
            wanted_at: now,
            dials: [dial; 2],
        }
    }

    /// When to try again to make a connection that there is not; `None` while one is being made.
    pub(super) fn retry_at(&self, channel: Channel) -> Option<Instant> {
        let dial = self.dials.get(channel.index())?;
        match dial.under_way {
            _ if self.is_self => None,
            Some(_) => None,
            None => Some(dial.retry_at),
        }
    }

    pub(super) fn begin(&mut self, channel: Channel, id: u64) {
        if let Some(dial) = self.dials.get_mut(channel.index()) {
            dial.under_way = Some(id);
        }
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.dials.iter().any(|dial| dial.under_way.is_some())
    }

    /// It is not there, or does not answer.
    pub(super) fn fail(
        &mut self,
        now: Instant,
        channel: Channel,
        jitter: &mut Jitter,
        options: &TcpOptions,
    ) {
        let longest = match self.is_kept || self.owner.is_some() {
            true => options.max_pause,
            false => options.max_guess_pause,
        };
        if let Some(dial) = self.dials.get_mut(channel.index()) {
            dial.under_way = None;
            dial.retry_at = now + jitter.spread(dial.pause);
            dial.pause = (dial.pause * 2).min(longest);
        }
    }

    /// There is a connection to `owner`.
    pub(super) fn succeed(&mut self, channel: Channel, owner: Owner, options: &TcpOptions) {
        self.owner = Some(owner);
        if let Some(dial) = self.dials.get_mut(channel.index()) {
            dial.under_way = None;
            dial.pause = options.min_pause;
        }
    }

    /// A connection to it has ended.
    pub(super) fn lose(
        &mut self,
        now: Instant,
        channel: Channel,
        jitter: &mut Jitter,
        options: &TcpOptions,
    ) {
        self.wanted_at = now;
        if let Some(dial) = self.dials.get_mut(channel.index()) {
            dial.retry_at = now + jitter.spread(options.min_pause);
        }
    }
}

/// Random numbers that need not be good: they keep many from trying at once (xorshift, Marsaglia 2003).
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// From half of `pause` to all of it.
    fn spread(&mut self, pause: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let half = pause / 2;
        let share = u32::try_from(self.0 & 0xffff).unwrap_or(0);
        half + half * share / 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_are_spread_by_half() {
        let options = TcpOptions::new([1; 12], [0; 16], 7);
        let mut jitter = Jitter::new(options.seed);
        let mut target = Target::new(Instant::ZERO, Some([2; 12]), &options);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            target.begin(Channel::Control, 1);
            assert_eq!(target.retry_at(Channel::Control), None);
            target.fail(Instant::ZERO, Channel::Control, &mut jitter, &options);
            let at = target
                .retry_at(Channel::Control)
                .expect("it is tried again");
            pauses.push(at.since(Instant::ZERO));
        }
        for (pause, most) in pauses
            .iter()
            .zip([100, 200, 400, 800, 1600, 3200, 5000, 5000])
        {
            let most = Duration::from_millis(most);
            assert!(
                *pause >= most / 2 && *pause <= most,
                "{pause:?} of {most:?}"
            );
        }
        target.succeed(Channel::Control, [2; 12], &options);
        target.lose(Instant::ZERO, Channel::Control, &mut jitter, &options);
        let at = target
            .retry_at(Channel::Control)
            .expect("it is tried again");
        assert!(at.since(Instant::ZERO) <= options.min_pause);
    }
}
