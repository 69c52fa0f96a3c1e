//! Making and ending connections: what one thread at a time does, [`TcpNet::turn`](super::TcpNet::turn).

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::epoll::{EpollEvent, EpollFlags};
use socket2::Socket;
use tickwire_base::{Channel, Instant};

use super::connection::{Connection, Flushed, Shared};
use super::dial::{Jitter, Target};
use super::directory::{Directory, Ended};
use super::greeting::{Greeting, Progress};
use super::hello::Hello;
use super::net::{LISTENER, lock};
use super::{TcpOptions, socket};

#[derive(Debug)]
pub(super) struct Book {
    next_id: u64,
    listener: Option<Socket>,
    /// Until when nobody is accepted, as the system has no more to give.
    pause_until: Option<Instant>,
    greetings: BTreeMap<u64, Greeting>,
    pub(super) targets: BTreeMap<SocketAddrV4, Target>,
    /// Connections that end then at the latest.
    leaving: BTreeMap<u64, Instant>,
    jitter: Jitter,
    /// Connections that this side has made since somebody asked.
    pub(super) opened: u32,
}

impl Book {
    pub(super) fn new(listener: Option<Socket>, options: &TcpOptions) -> Self {
        Self {
            next_id: 0,
            listener,
            pause_until: None,
            greetings: BTreeMap::new(),
            targets: BTreeMap::new(),
            leaving: BTreeMap::new(),
            jitter: Jitter::new(options.seed),
            opened: 0,
        }
    }

    /// When something is due next.
    pub(super) fn due(&self, directory: &Directory) -> Option<Instant> {
        let greetings = self.greetings.values().map(|greeting| greeting.until);
        let dials = self.targets.iter().flat_map(|(address, target)| {
            let due = |channel| due(target, *address, channel, directory);
            Channel::ALL.into_iter().filter_map(due)
        });
        let leaving = self.leaving.values().copied();
        let all = greetings
            .chain(dials)
            .chain(leaving)
            .chain(self.pause_until);
        all.min()
    }

    /// Accepts those who wait.
    pub(super) fn accept(&mut self, now: Instant, shared: &Shared, directory: &Mutex<Directory>) {
        for _ in 0..MAX_ACCEPTED {
            let Some(listener) = &self.listener else {
                return;
            };
            match socket::accept(listener, shared.options.loss_timeout) {
                Ok(None) => return,
                Ok(Some((socket, from))) => {
                    let until = now + shared.options.hello_timeout;
                    let greeting = Greeting::new(socket, from, None, until);
                    self.make_room_for_stranger(shared);
                    self.greet(now, greeting, EpollFlags::EPOLLIN, shared, directory);
                }
                Err(_) => {
                    let _ = shared.control.delete(listener);
                    self.pause_until = Some(now + ACCEPT_PAUSE);
                    return shared.counters.refused.add(1);
                }
            }
        }
    }

    /// Connects this side to itself: of each pair, the first socket is written to and the second one read.
    pub(super) fn reach_itself(
        &mut self,
        now: Instant,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) -> io::Result<()> {
        let TcpOptions { owner, key, .. } = shared.options;
        for channel in Channel::ALL {
            for (socket, is_written) in socket::pair()?.into_iter().zip([true, false]) {
                let (id, nowhere) = (self.next_id, SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));
                self.next_id += 1;
                shared
                    .control
                    .add(&socket, EpollEvent::new(EpollFlags::empty(), id))?;
                let (who, from) = ((owner, channel), (nowhere, true));
                let connection = Connection::new(id, socket, who, from, now, shared)?;
                lock(directory).add(&Arc::new(connection), key, is_written);
            }
        }
        Ok(())
    }

    fn make_room_for_stranger(&mut self, shared: &Shared) {
        let strangers = || {
            self.greetings
                .iter()
                .filter(|(_, one)| one.dialled.is_none())
        };
        if strangers().count() < shared.options.max_strangers {
            return;
        }
        let oldest = strangers().next().map(|(id, _)| *id);
        if let Some(oldest) = oldest {
            self.greetings.remove(&oldest);
            shared.counters.refused.add(1);
        }
    }

    /// Waits for who is at the other end to say who he is; the id of the connection if there is room.
    fn greet(
        &mut self,
        now: Instant,
        greeting: Greeting,
        flags: EpollFlags,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) -> Option<u64> {
        let is_full = |others: usize| {
            let open = lock(directory).len();
            open + others >= shared.options.max_connections
        };
        if is_full(self.greetings.len()) {
            let unused = lock(directory).next_to_displace();
            if let Some(unused) = unused {
                self.close(now, unused, shared, directory);
            }
            shared.counters.refused.add(1);
        }
        if is_full(self.greetings.len()) {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        shared
            .control
            .add(&greeting.socket, EpollEvent::new(flags, id))
            .ok()?;
        self.greetings.insert(id, greeting);
        Some(id)
    }

    /// Goes on with a connection on which somebody has yet to say who he is; false if it is none.
    pub(super) fn go_on(
        &mut self,
        now: Instant,
        id: u64,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) -> bool {
        let Some(greeting) = self.greetings.get_mut(&id) else {
            return false;
        };
        let options = &shared.options;
        let own = |channel| Hello {
            owner: options.owner,
            key: options.key,
            channel,
        };
        match greeting.go_on(own) {
            Progress::Waiting => {}
            Progress::Connected => {
                let mut event = EpollEvent::new(EpollFlags::EPOLLIN, id);
                if shared.control.modify(&greeting.socket, &mut event).is_err() {
                    self.give_up(now, id, options);
                }
            }
            Progress::Lost => self.give_up(now, id, options),
            Progress::Foreign => {
                shared.counters.bad_hellos.add(1);
                self.give_up(now, id, options);
            }
            Progress::Done(hello) => self.open(now, id, &hello, shared, directory),
        }
        true
    }

    fn give_up(&mut self, now: Instant, id: u64, options: &TcpOptions) {
        let Some(greeting) = self.greetings.remove(&id) else {
            return;
        };
        if let Some(channel) = greeting.dialled
            && let Some(target) = self.targets.get_mut(&greeting.from)
        {
            target.fail(now, channel, &mut self.jitter, options);
        }
    }

    /// Both sides have said who they are.
    fn open(
        &mut self,
        now: Instant,
        id: u64,
        hello: &Hello,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        let Some(dialled) = self.greetings.get(&id).map(|one| one.dialled.is_some()) else {
            return;
        };
        if hello.owner == shared.options.owner {
            let from = self.greetings.get(&id).map(|one| one.from);
            if let Some(target) = from.and_then(|from| self.targets.get_mut(&from)) {
                target.is_self = true;
            }
            return self.give_up(now, id, &shared.options);
        }
        let is_taken = lock(directory).is_taken(&hello.owner, &hello.key);
        if is_taken {
            shared.counters.refused.add(1);
            return self.give_up(now, id, &shared.options);
        }
        let Some(greeting) = self.greetings.remove(&id) else {
            return;
        };
        let from = greeting.from;
        if dialled && let Some(target) = self.targets.get_mut(&from) {
            target.succeed(hello.channel, hello.owner, &shared.options);
            lock(directory).answered.insert(from, hello.owner);
            self.opened += u32::from(hello.channel == Channel::Control);
        }
        let who = (hello.owner, hello.channel);
        let connection = Connection::new(id, greeting.socket, who, (from, dialled), now, shared);
        if let Ok(connection) = connection {
            shared.counters.opened.add(1);
            self.install(now, &Arc::new(connection), hello, shared, directory);
        }
    }

    /// Of two connections for the same, the one that the participant of the lower name has made is used,
    /// as both sides can tell; of two that the same side has made, the later one, and so if the earlier
    /// one is so old that both cannot have been made at once. The other one is read until it ends.
    fn install(
        &mut self,
        now: Instant,
        new: &Arc<Connection>,
        hello: &Hello,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        let mut all = lock(directory);
        let before = all.connection(&new.owner, new.channel).cloned();
        let is_preferred = before.is_none_or(|before| {
            let is_lower = shared.options.owner < new.owner;
            let is_late = now.since(before.opened_at) > shared.options.hello_timeout * 3;
            before.is_dialled == new.is_dialled || is_late || is_lower == new.is_dialled
        });
        let replaced = all.add(new, hello.key, is_preferred);
        drop(all);
        let retired = match is_preferred {
            true => replaced,
            false => Some(Arc::clone(new)),
        };
        if let Some(retired) = retired {
            self.leaving.insert(retired.id, now + RETIREMENT);
            if retired.retire(shared) == Flushed::Broken {
                self.close(now, retired.id, shared, directory);
            }
        }
    }

    /// A connection has ended: one that is lost at once, one that only says nothing more shortly, as
    /// another one may be about to take over.
    pub(super) fn end(
        &mut self,
        now: Instant,
        (id, how): (u64, Ended),
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        let is_retired = self.leaving.contains_key(&id);
        match how {
            Ended::Eof if !is_retired => {
                self.leaving.insert(id, now + LAST_WORDS);
            }
            _ => self.close(now, id, shared, directory),
        }
    }

    pub(super) fn close(
        &mut self,
        now: Instant,
        id: u64,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        self.leaving.remove(&id);
        let mut all = lock(directory);
        let Some(connection) = all.remove(id) else {
            return;
        };
        let is_replaced = all
            .connection(&connection.owner, connection.channel)
            .is_some();
        drop(all);
        connection.flush(shared);
        connection.close(shared);
        shared.counters.closed.add(1);
        if is_replaced {
            return;
        }
        for target in self.targets.values_mut() {
            if target.owner == Some(connection.owner) {
                target.lose(now, connection.channel, &mut self.jitter, &shared.options);
            }
        }
    }

    /// Takes over where somebody wants to send to.
    pub(super) fn take_wanted(
        &mut self,
        now: Instant,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        let mut all = lock(directory);
        for (address, wanted) in &mut all.wanted {
            if std::mem::take(&mut wanted.is_new) {
                let new = || Target::new(now, wanted.owner, &shared.options);
                let target = self.targets.entry(*address).or_insert_with(new);
                target.wanted_at = now;
            }
        }
    }

    /// Does what is due: ends what has had its time, and connects to where there is no connection.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        for id in due_ids(&self.greetings, |greeting| greeting.until <= now) {
            shared.counters.timeouts.add(1);
            self.give_up(now, id, &shared.options);
        }
        for id in due_ids(&self.leaving, |until| *until <= now) {
            self.close(now, id, shared, directory);
        }
        if self.pause_until.take_if(|until| *until <= now).is_some()
            && let Some(listener) = &self.listener
        {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, LISTENER);
            if shared.control.add(listener, event).is_err() {
                self.pause_until = Some(now + ACCEPT_PAUSE);
            }
        }
        self.forget(now, directory);
        let all = lock(directory);
        let mut to_dial = Vec::new();
        for (address, target) in &self.targets {
            let is_due = |channel: &Channel| {
                due(target, *address, *channel, &all).is_some_and(|at| at <= now)
            };
            let channels = Channel::ALL.into_iter().filter(is_due);
            to_dial.extend(channels.map(|channel| (*address, channel)));
        }
        drop(all);
        for (address, channel) in to_dial {
            self.dial(now, address, channel, shared, directory);
        }
    }

    /// Those to whom nobody has wanted to send for long are not connected to again.
    fn forget(&mut self, now: Instant, directory: &Mutex<Directory>) {
        let mut all = lock(directory);
        self.targets.retain(|address, target| {
            let owner = target.owner.as_ref();
            let is_connected =
                owner.is_some_and(|owner| all.connection(owner, Channel::Control).is_some());
            let is_wanted = now.since(target.wanted_at) < WANTED_FOR;
            let stays = target.is_kept || target.is_under_way() || is_connected || is_wanted;
            if !stays {
                all.wanted.remove(address);
                all.answered.remove(address);
            }
            stays
        });
    }

    fn dial(
        &mut self,
        now: Instant,
        address: SocketAddrV4,
        channel: Channel,
        shared: &Shared,
        directory: &Mutex<Directory>,
    ) {
        let options = &shared.options;
        let socket = socket::connect(options.bound, address, options.loss_timeout);
        let id = socket.ok().and_then(|socket| {
            let until = now + options.hello_timeout;
            let greeting = Greeting::new(socket, address, Some(channel), until);
            self.greet(now, greeting, EpollFlags::EPOLLOUT, shared, directory)
        });
        let Some(target) = self.targets.get_mut(&address) else {
            return;
        };
        match id {
            Some(id) => target.begin(channel, id),
            None => target.fail(now, channel, &mut self.jitter, options),
        }
    }
}

/// When to connect to a target for a channel; `None` while there is no need to. Who has made the
/// connection for discovery makes the one for samples, too.
fn due(
    target: &Target,
    address: SocketAddrV4,
    channel: Channel,
    directory: &Directory,
) -> Option<Instant> {
    let connection = |channel| directory.connection(target.owner.as_ref()?, channel);
    let is_missing = match (connection(Channel::Control), channel) {
        (None, Channel::Control) => true,
        (Some(control), Channel::Data) => {
            control.is_dialled && control.from == address && connection(Channel::Data).is_none()
        }
        _ => false,
    };
    target.retry_at(channel).filter(|_| is_missing)
}

fn due_ids<T>(all: &BTreeMap<u64, T>, is_due: impl Fn(&T) -> bool) -> Vec<u64> {
    let due = all.iter().filter(|(_, one)| is_due(one));
    due.map(|(id, _)| *id).collect()
}

/// Connections to accept in one turn.
const MAX_ACCEPTED: u32 = 32;
/// How long nobody is accepted after the system had no descriptor to give.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// How long a connection that another one has replaced may take to end.
const RETIREMENT: Duration = Duration::from_secs(5);
/// How long one on which nothing more comes may still be sent on.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long to go on connecting to where nobody sends.
const WANTED_FOR: Duration = Duration::from_secs(60);
