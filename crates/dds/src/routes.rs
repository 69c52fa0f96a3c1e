//! Who gets a received submessage: a map that receiving threads read without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hashbrown::HashMap;
use tickwire_rtps::qos::EndpointQos;
use tickwire_rtps::wire::{EntityId, Guid};

use crate::reader::endpoint::ReaderEndpoint;
use crate::sign_of_life::SignOfLife;
use crate::signal::lock;
use crate::writer::endpoint::WriterEndpoint;

/// The endpoints of a participant.
#[derive(Clone, Default)]
pub(crate) struct Routes {
    pub(crate) writers: HashMap<EntityId, Arc<WriterEndpoint>>,
    pub(crate) readers: HashMap<EntityId, Arc<dyn ReaderEndpoint>>,
    /// Readers by the remote writers that they are matched with, for submessages to all of them.
    pub(crate) by_writer: HashMap<Guid, Vec<Arc<dyn ReaderEndpoint>>>,
    /// Of those writers, the ones that must show that they live, which their samples do.
    pub(crate) leased: HashMap<Guid, Arc<SignOfLife>>,
}

impl Routes {
    /// The readers that a submessage from `writer` to `reader` is for.
    pub(crate) fn readers_of(&self, reader: EntityId, writer: Guid) -> &[Arc<dyn ReaderEndpoint>] {
        match reader {
            EntityId::UNKNOWN => self.by_writer.get(&writer).map_or(&[], Vec::as_slice),
            reader => self.readers.get(&reader).map_or(&[], std::slice::from_ref),
        }
    }

    pub(crate) fn connect(&mut self, writer: Guid, reader: Guid, qos: &EndpointQos) {
        let Some(reader) = self.readers.get(&reader.entity) else {
            return;
        };
        let readers = self.by_writer.entry(writer).or_default();
        if !readers.iter().any(|known| known.guid() == reader.guid()) {
            readers.push(Arc::clone(reader));
        }
        if qos.liveliness.lease_duration != Duration::MAX {
            self.leased.entry(writer).or_default();
        }
    }

    pub(crate) fn disconnect(&mut self, writer: Guid, reader: Guid) {
        if let Some(readers) = self.by_writer.get_mut(&writer) {
            readers.retain(|known| known.guid() != reader);
            if readers.is_empty() {
                self.by_writer.remove(&writer);
                self.leased.remove(&writer);
            }
        }
    }

    pub(crate) fn remove_reader(&mut self, reader: Guid) {
        self.readers.remove(&reader.entity);
        for readers in self.by_writer.values_mut() {
            readers.retain(|known| known.guid() != reader);
        }
        self.by_writer.retain(|_, readers| !readers.is_empty());
        let by_writer = &self.by_writer;
        self.leased
            .retain(|writer, _| by_writer.contains_key(writer));
    }
}

/// The present routes, and a number that tells whether they have changed.
#[derive(Default)]
pub(crate) struct Directory {
    version: AtomicU64,
    current: Mutex<Arc<Routes>>,
}

impl Directory {
    /// Copies the map first if a thread still reads it.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Routes) -> R) -> R {
        let mut current = lock(&self.current);
        let result = change(Arc::make_mut(&mut current));
        self.version.fetch_add(1, Ordering::Release);
        result
    }

    /// How often the map has changed.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub(crate) fn snapshot(&self) -> Arc<Routes> {
        Arc::clone(&lock(&self.current))
    }
}

/// A thread's own view of the routes.
#[derive(Default)]
pub(crate) struct RouteCache {
    version: u64,
    routes: Arc<Routes>,
    /// What was asked last, each in the place of its writer: most that comes is of a writer that something has come of.
    recent: [Option<Recent>; RECENT],
}

struct Recent {
    reader: EntityId,
    writer: Guid,
    sole: Option<Arc<dyn ReaderEndpoint>>,
}

impl RouteCache {
    /// The routes as they are now. One atomic load unless they have changed.
    pub(crate) fn refresh(&mut self, directory: &Directory) -> &Arc<Routes> {
        let version = directory.version.load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.routes = directory.snapshot();
            self.recent = Default::default();
        }
        &self.routes
    }

    /// The reader that a submessage from `writer` to `reader` is for, as the routes are now, if it is for one alone that
    /// [takes plain samples](ReaderEndpoint::takes_plain) and says nothing of the writer's [life](Routes::leased).
    #[inline]
    pub(crate) fn sole_reader(
        &mut self,
        directory: &Directory,
        reader: EntityId,
        writer: Guid,
    ) -> Option<&Arc<dyn ReaderEndpoint>> {
        self.refresh(directory);
        let (words, _) = writer.prefix.0.as_chunks::<4>();
        let entity = u32::from_ne_bytes(writer.entity.0);
        let words = words.iter().map(|&word| u32::from_ne_bytes(word));
        let mixed = words.fold(entity, |mixed, word| mixed ^ word);
        let mixed = mixed ^ mixed >> 16;
        let [mixed, ..] = (mixed ^ mixed >> 8 ^ mixed >> 4 ^ mixed >> 12).to_le_bytes();
        let place = &mut self.recent[usize::from(mixed) % RECENT];
        let is_that = |recent: &Recent| recent.reader == reader && recent.writer == writer;
        if !place.as_ref().is_some_and(is_that) {
            let routes = &self.routes;
            let sole = match routes.readers_of(reader, writer) {
                [only] if only.takes_plain() && !routes.leased.contains_key(&writer) => {
                    Some(Arc::clone(only))
                }
                _ => None,
            };
            *place = Some(Recent {
                reader,
                writer,
                sole,
            });
        }
        place.as_ref()?.sole.as_ref()
    }
}

/// Writers of whom the way is remembered.
const RECENT: usize = 16;
