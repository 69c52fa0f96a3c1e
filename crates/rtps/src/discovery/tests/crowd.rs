//! What it costs when many come at once.

use super::*;

/// A network of participants each of which takes its time for a datagram or a timer.
struct Crowd {
    net: Net,
    effort: Duration,
    /// When each has time again, and what waits for it since when.
    free_at: Vec<Instant>,
    waiting: Vec<VecDeque<(Instant, Vec<u8>)>>,
}

impl Crowd {
    /// Has `count` participants come at once, each with a writer and a reader of five topics.
    fn new(count: u8, effort: Duration) -> Self {
        let mut net = Net::new((1..=count).map(config));
        for (index, id) in (1..=count).enumerate() {
            for key in 1..=TOPICS {
                let (mut writer, mut reader) = (writer(id, ""), reader(id, ""));
                writer.guid.entity = EntityId::user_writer(key, true);
                reader.guid.entity = EntityId::user_reader(key, true);
                for mut data in [writer, reader] {
                    data.topic_name = key.to_string();
                    net.add(index, data);
                }
            }
        }
        Self {
            effort,
            free_at: vec![net.now; count.into()],
            waiting: vec![VecDeque::new(); count.into()],
            net,
        }
    }

    /// When a participant does something next.
    fn next_at(&self, index: usize) -> Option<Instant> {
        let datagram = self.waiting[index].front().map(|&(at, _)| at);
        let timer = self.net.nodes[index].discovery.poll_timeout();
        let next = datagram.into_iter().chain(timer).min()?;
        Some(next.max(self.free_at[index]))
    }

    /// Whether all have matched all, and have sent so many datagrams to each at most.
    fn check(&mut self, at_most: usize) {
        let count = self.net.nodes.len();
        let mean = self.net.sent / count;
        let matches = (0..count).map(|index| self.net.count(index, is_match));
        let matches: Vec<_> = matches.collect();
        let effort = self.effort;
        assert_eq!(
            matches,
            vec![2 * TOPICS as usize * count; count],
            "{effort:?} {mean}"
        );
        assert!(
            mean <= at_most * count,
            "{mean} datagrams of each at {effort:?}"
        );
    }

    fn run(&mut self, duration: Duration) {
        let end = self.net.now + duration;
        let all = 0..self.free_at.len();
        while let Some((at, index)) = all
            .clone()
            .filter_map(|index| Some((self.next_at(index)?, index)))
            .min()
            && at <= end
        {
            self.net.now = at;
            let waiting = &mut self.waiting[index];
            let has_come = waiting.front().is_some_and(|&(sent, _)| sent <= at);
            match has_come.then(|| waiting.pop_front()).flatten() {
                Some((_, datagram)) => self.net.receive(index, &datagram),
                None => self.net.call_one(index, Discovery::handle_timeout),
            }
            self.free_at[index] = at + self.effort;
            for (to, datagram) in self.net.queue.drain(..) {
                self.waiting[to].push_back((at, datagram));
            }
        }
    }
}

/// However slow they are, everybody says what it has to say to everybody else, and little more: about
/// three datagrams to each where all are fast.
#[test]
fn many_who_come_at_once_say_little() {
    for (effort_us, at_most) in [(1, 4), (100, 4), (1000, 5)] {
        let mut crowd = Crowd::new(COUNT, Duration::from_micros(effort_us));
        crowd.run(Duration::from_secs(2));
        crowd.check(at_most);
    }
}

/// What is lost costs what it takes to say it again.
#[test]
fn many_who_lose_some_say_little_more() {
    let mut crowd = Crowd::new(COUNT, Duration::from_micros(100));
    crowd.net.loss_percent = 5;
    crowd.run(Duration::from_secs(5));
    crowd.check(6);
}

#[test]
fn a_hundred_who_come_at_once_say_no_more_to_each() {
    let mut crowd = Crowd::new(100, Duration::from_micros(100));
    crowd.run(Duration::from_secs(5));
    crowd.check(4);
}

/// How long a newcomer takes to match over a bad link, beside so many that fell silent at their first
/// words a while ago, every second of them before it could name anybody.
fn time_to_match(seed: u64, silent: u8) -> Duration {
    let mut net = Net::new([config(1)]);
    net.add(0, writer(1, "Quote"));
    net.run(MOMENT);
    for id in 10..10 + silent {
        let mut config = config(id);
        config.participant.lease_duration = LEASE * 10;
        net.join(config);
        net.call_one(1, Discovery::handle_timeout);
        let is_done = |net: &Net| {
            let found = net.nodes[0].discovery.participants.get(prefix(id));
            found.is_some_and(|found| found.knows_us() || id % 2 == 0)
        };
        while !is_done(&net)
            && let Some((index, datagram)) = net.queue.pop_front()
        {
            net.receive(index, &datagram);
        }
        assert!(is_done(&net));
        net.nodes.truncate(1);
        net.queue.clear();
    }
    net.run(Duration::from_secs(11));
    assert_eq!(net.nodes[0].discovery.participants().count(), silent.into());
    (net.random, net.loss_percent) = (seed, 40);
    let begin = net.now;
    net.join(config(2));
    net.add(1, reader(2, "Quote"));
    while net.count(0, is_match) == 0 {
        assert!(net.now.since(begin) < LEASE);
        net.run(Duration::from_millis(10));
    }
    net.now.since(begin)
}

#[test]
fn silent_peers_do_not_slow_the_discovery_of_a_newcomer() {
    let mean = |silent| {
        (1..=50)
            .map(|seed| time_to_match(seed, silent))
            .sum::<Duration>()
            / 50
    };
    let (alone, beside) = (mean(0), mean(200));
    assert!(beside < alone * 2, "{alone:?} alone, else {beside:?}");
}

const COUNT: u8 = 40;
const TOPICS: u32 = 5;
