//! Who is connected, and whom somebody would like to be: what those who send look at. Opens nothing.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tickwire_base::{Channel, StreamAddress};

use super::Owner;
use super::connection::Connection;

#[derive(Debug, Default)]
pub(super) struct Directory {
    open: BTreeMap<u64, Arc<Connection>>,
    links: BTreeMap<Owner, Link>,
    /// Who has answered where this side has connected to.
    pub(super) answered: BTreeMap<SocketAddrV4, Owner>,
    /// Where somebody wants to send to, whom he means if he says so, and whether he has wanted that since
    /// the book was last looked at.
    pub(super) wanted: BTreeMap<SocketAddrV4, Wanted>,
    /// Connections that have ended, or that cannot be written to any more.
    pub(super) ended: Vec<(u64, Ended)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) owner: Option<Owner>,
    pub(super) is_new: bool,
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The other side sends nothing more.
    Eof,
    /// It is lost, or nothing in it means anything any more.
    Broken,
}

/// The connections of one participant.
#[derive(Debug, Default)]
struct Link {
    key: [u8; 16],
    channels: [Option<Arc<Connection>>; 2],
}

impl Directory {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Connections to others than `owner`.
    pub(super) fn count_others(&self, owner: &Owner) -> usize {
        self.all().filter(|one| one.owner != *owner).count()
    }

    pub(super) fn get(&self, id: u64) -> Option<&Arc<Connection>> {
        self.open.get(&id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Connection>> {
        self.open.values()
    }

    /// Where to send.
    pub(super) fn find(&self, to: &StreamAddress) -> Option<&Arc<Connection>> {
        match to.is_named() {
            true => self.connection(&to.owner, to.channel),
            false => self.connection(self.answered.get(&to.address)?, to.channel),
        }
    }

    pub(super) fn connection(&self, owner: &Owner, channel: Channel) -> Option<&Arc<Connection>> {
        let link = self.links.get(owner)?;
        link.channels.get(channel.index())?.as_ref()
    }

    /// Whether somebody else is connected by that name.
    pub(super) fn is_taken(&self, owner: &Owner, key: &[u8; 16]) -> bool {
        self.links.get(owner).is_some_and(|link| link.key != *key)
    }

    /// Adds a connection, which what is sent takes from now on if `is_preferred`. The one that it did
    /// until now.
    pub(super) fn add(
        &mut self,
        connection: &Arc<Connection>,
        key: [u8; 16],
        is_preferred: bool,
    ) -> Option<Arc<Connection>> {
        self.open.insert(connection.id, Arc::clone(connection));
        if !is_preferred {
            return None;
        }
        let link = self.links.entry(connection.owner).or_default();
        link.key = key;
        let place = link.channels.get_mut(connection.channel.index())?;
        place.replace(Arc::clone(connection))
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Arc<Connection>> {
        let connection = self.open.remove(&id)?;
        if let Some(link) = self.links.get_mut(&connection.owner) {
            for place in &mut link.channels {
                place.take_if(|preferred| preferred.id == id);
            }
            if link.channels.iter().all(Option::is_none) {
                self.links.remove(&connection.owner);
            }
        }
        Some(connection)
    }

    /// The oldest connection of somebody to whom nothing was ever sent: it makes way where room lacks.
    pub(super) fn next_to_displace(&self) -> Option<u64> {
        let is_used = |connection: &Arc<Connection>| connection.is_used.load(Ordering::Relaxed);
        let is_known = |owner: &Owner| {
            let link = self.links.get(owner);
            link.is_some_and(|link| link.channels.iter().flatten().any(is_used))
        };
        let mut accepted = self.open.values().filter(|one| !one.is_dialled);
        accepted.find(|one| !is_known(&one.owner)).map(|one| one.id)
    }

    /// Somebody wants to send there; whether that is news. Beyond `max` nobody is heard.
    pub(super) fn want(&mut self, to: &StreamAddress, max: usize) -> bool {
        let owner = to.is_named().then_some(to.owner);
        if let Some(wanted) = self.wanted.get_mut(&to.address) {
            wanted.is_new = true;
            return false;
        }
        let has_room = self.wanted.len() < max;
        if has_room {
            let is_new = true;
            let wanted = Wanted { owner, is_new };
            self.wanted.insert(to.address, wanted);
        }
        has_room
    }

    /// Notes once that a connection has ended.
    pub(super) fn end(&mut self, id: u64, how: Ended) -> bool {
        let is_news = !self.ended.contains(&(id, how));
        if is_news {
            self.ended.push((id, how));
        }
        is_news
    }
}
