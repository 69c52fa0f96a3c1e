//! What callers name our objects by: not an address, but a kind, a place in a table, and how often that place was
//! used. So whatever a caller passes is told apart from what exists, and nothing is ever read from it.
//!
//! A lookup finds what the thread has used last without a lock; else the table has it. Deleting takes what is
//! deleted, and all that was made from it, out of the table; who is in a call with it finishes that, and the last
//! one ends it.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::thread::LocalKey;
use std::time::Duration;

use crate::failure::{Code, Failure, Result};
use crate::time::timeout;

/// A pointer to a struct that is not there: 8 bits of kind, 32 of generation, 24 of place.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Handle(usize);

const _: () = assert!(usize::BITS == 64, "handles have 64 bits");

impl Handle {
    pub(crate) const NULL: Self = Self(0);

    pub(crate) fn new(kind: Kind, generation: u32, place: usize) -> Self {
        Self((kind as usize) << 56 | (generation as usize) << PLACE_BITS | place & PLACE_MASK)
    }

    pub(crate) fn kind(self) -> Option<Kind> {
        let kind = Kind::ALL.iter();
        kind.copied().find(|kind| *kind as usize == self.0 >> 56)
    }

    #[inline]
    fn is_of(self, kind: Kind) -> bool {
        self.0 >> 56 == kind as usize
    }

    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0 & PLACE_MASK
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What a handle names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// In the order in which they end.
    Condition = 0x81,
    WaitSet,
    Writer,
    Reader,
    Call,
    Requester,
    Replier,
    Topic,
    Publisher,
    Subscriber,
    Participant,
    Type,
    Qos,
    Samples,
    Loan,
    Mq,
}

impl Kind {
    const ALL: [Self; 16] = [
        Self::Condition,
        Self::WaitSet,
        Self::Writer,
        Self::Reader,
        Self::Call,
        Self::Requester,
        Self::Replier,
        Self::Topic,
        Self::Publisher,
        Self::Subscriber,
        Self::Participant,
        Self::Type,
        Self::Qos,
        Self::Samples,
        Self::Loan,
        Self::Mq,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::WaitSet => "wait set",
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Call => "call",
            Self::Requester => "requester",
            Self::Replier => "replier",
            Self::Topic => "topic",
            Self::Publisher => "publisher",
            Self::Subscriber => "subscriber",
            Self::Participant => "participant",
            Self::Type => "type",
            Self::Qos => "QoS",
            Self::Samples => "collection of samples",
            Self::Loan => "loan",
            Self::Mq => "context of exchanges",
        }
    }
}

/// An object and its handle.
pub(crate) struct Entry<T> {
    /// Set once it is not to be found any more.
    is_deleted: AtomicBool,
    pub(crate) handle: Handle,
    /// That from which it was made, or NULL.
    pub(crate) parent: Handle,
    value: T,
}

impl<T> Entry<T> {
    /// Waits for what `wait` waits for, which a thread that deletes the object has end early: whoever waits keeps it,
    /// and would for ever.
    pub(crate) fn wait<R, E: Into<Failure>>(
        &self,
        timeout_ns: i64,
        wait: impl FnOnce(Duration) -> std::result::Result<R, E>,
    ) -> Result<R> {
        let waited = wait(timeout(timeout_ns)?);
        waited.map_err(|late| self.is_there().err().unwrap_or_else(|| late.into()))
    }

    /// That nobody has deleted the object, for who has waited.
    pub(crate) fn is_there(&self) -> Result<()> {
        match self.is_deleted.load(Ordering::Acquire) {
            true => Err(unknown(self.handle, &[])),
            false => Ok(()),
        }
    }
}

impl<T> Deref for Entry<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// What a thread has used last, by the places of the handles.
pub(crate) struct Cache<T>(RefCell<[(Handle, Weak<Entry<T>>); CACHED]>);

impl<T> Cache<T> {
    pub(crate) const fn new() -> Self {
        const { assert!(CACHED.is_power_of_two()) };
        let none = [const { (Handle::NULL, Weak::new()) }; CACHED];
        Self(RefCell::new(none))
    }
}

/// What handles of one kind name.
pub(crate) trait Object: Sized + Send + Sync + 'static {
    const KIND: Kind;
    fn cache() -> &'static LocalKey<Cache<Self>>;
    fn of(any: &AnyObject) -> Option<&Arc<Entry<Self>>>;
    fn into_any(entry: Arc<Entry<Self>>) -> AnyObject;
}

macro_rules! objects {
    ($($kind:ident($ty:ty),)*) => {
        /// Any object.
        #[derive(Clone)]
        pub(crate) enum AnyObject {
            $($kind(Arc<Entry<$ty>>),)*
        }

        impl AnyObject {
            pub(crate) fn handle(&self) -> Handle {
                match self { $(Self::$kind(entry) => entry.handle,)* }
            }

            fn parent(&self) -> Handle {
                match self { $(Self::$kind(entry) => entry.parent,)* }
            }

            fn is_deleted(&self) -> &AtomicBool {
                match self { $(Self::$kind(entry) => &entry.is_deleted,)* }
            }
        }

        $(impl Object for $ty {
            const KIND: Kind = Kind::$kind;

            fn cache() -> &'static LocalKey<Cache<Self>> {
                thread_local! {
                    static CACHE: Cache<$ty> = const { Cache::new() };
                }
                &CACHE
            }

            fn of(any: &AnyObject) -> Option<&Arc<Entry<Self>>> {
                match any {
                    AnyObject::$kind(entry) => Some(entry),
                    _ => None,
                }
            }

            fn into_any(entry: Arc<Entry<Self>>) -> AnyObject {
                AnyObject::$kind(entry)
            }
        })*
    };
}

objects! {
    Condition(crate::condition::Condition),
    WaitSet(crate::condition::WaitSet),
    Writer(crate::writer::Writer),
    Reader(crate::reader::Reader),
    Call(crate::rpc::Call),
    Requester(crate::rpc::AnyRequester),
    Replier(crate::rpc::AnyReplier),
    Topic(crate::topic::Topic),
    Publisher(crate::publisher::Publisher),
    Subscriber(crate::subscriber::Subscriber),
    Participant(crate::participant::Participant),
    Type(crate::types::Type),
    Qos(crate::qos::Qos),
    Mq(crate::exchange::Context),
}

/// The object of a handle.
#[inline]
pub(crate) fn get<T: Object>(handle: Handle) -> Result<Arc<Entry<T>>> {
    if handle.is_of(T::KIND)
        && let Some(entry) = cached(handle)
    {
        return Ok(entry);
    }
    find(handle)
}

#[inline]
fn cached<T: Object>(handle: Handle) -> Option<Arc<Entry<T>>> {
    let entry = T::cache().try_with(|cache| {
        let cache = cache.0.try_borrow().ok()?;
        let (known, entry) = &cache[handle.place() % CACHED];
        match *known == handle {
            true => entry.upgrade(),
            false => None,
        }
    });
    entry
        .ok()?
        .filter(|entry| !entry.is_deleted.load(Ordering::Acquire))
}

#[cold]
#[inline(never)]
fn find<T: Object>(handle: Handle) -> Result<Arc<Entry<T>>> {
    let any = any(handle, &[T::KIND])?;
    let entry = T::of(&any).ok_or_else(|| unknown(handle, &[T::KIND]))?;
    // A thread that ends remembers nothing.
    let _ = T::cache().try_with(|cache| {
        if let Ok(mut cache) = cache.0.try_borrow_mut() {
            cache[handle.place() % CACHED] = (handle, Arc::downgrade(entry));
        }
    });
    Ok(Arc::clone(entry))
}

/// The object of a handle that may be of several kinds.
pub(crate) fn any(handle: Handle, wanted: &[Kind]) -> Result<AnyObject> {
    let table = read_table();
    let found = table.get(handle).filter(|_| {
        let kind = handle.kind();
        wanted.is_empty() || kind.is_some_and(|kind| wanted.contains(&kind))
    });
    let found = found.cloned();
    drop(table);
    found.ok_or_else(|| unknown(handle, wanted))
}

/// Why there is no object of that handle, to who wants one of these kinds, or of any.
#[cold]
pub(crate) fn unknown(handle: Handle, wanted: &[Kind]) -> Failure {
    let names: Vec<_> = wanted.iter().map(|kind| kind.name()).collect();
    let names = match names.as_slice() {
        [] => "object".to_owned(),
        names => names.join(" or "),
    };
    let message = match handle.kind() {
        _ if handle == Handle::NULL => format!("NULL is no {names}"),
        Some(kind) if wanted.is_empty() || wanted.contains(&kind) => {
            format!(
                "the {} was deleted, or belongs to another process",
                kind.name()
            )
        }
        Some(kind) => format!("a {} is no {names}", kind.name()),
        None => {
            format!("this pointer is no {names}; pass on what a function of Tickwire has given")
        }
    };
    Failure::new(Code::BAD_HANDLE, message)
}

/// Gives an object a handle, with what it was made from, or NULL.
pub(crate) fn add<T: Object>(parent: Handle, value: T) -> Result<Handle> {
    let mut table = table();
    // What was deleted meanwhile has no children.
    if parent != Handle::NULL && table.get(parent).is_none() {
        drop(table);
        return Err(unknown(parent, &[]));
    }
    let Some(handle) = table.next(T::KIND) else {
        drop(table);
        return Err(Failure::new(
            Code::OUT_OF_RESOURCES,
            "there are 2^24 objects; delete some",
        ));
    };
    let entry = Entry {
        is_deleted: AtomicBool::new(false),
        handle,
        parent,
        value,
    };
    table.slots[handle.place()].object = Some(T::into_any(Arc::new(entry)));
    Ok(handle)
}

/// Takes an object out of the table, and all that was made from it. The result is to be dropped once no lock is
/// held: what nobody uses ends then, in the order in which it lies.
pub(crate) fn remove(handle: Handle) -> Result<Vec<AnyObject>> {
    let mut table = table();
    if table.get(handle).is_none() {
        drop(table);
        return Err(unknown(handle, &[]));
    }
    let mut removed = HashSet::from([handle]);
    if has_children(handle) {
        // Nothing is older than what it was made from, but places are used again.
        loop {
            let known = removed.len();
            for object in table.slots.iter().filter_map(|slot| slot.object.as_ref()) {
                let (child, parent) = (object.handle(), object.parent());
                if removed.contains(&parent) {
                    removed.insert(child);
                }
            }
            if removed.len() == known {
                break;
            }
        }
    }
    let mut objects: Vec<_> = removed
        .into_iter()
        .filter_map(|handle| table.take(handle))
        .collect();
    drop(table);
    objects.sort_by_key(|object| object.handle().kind());
    Ok(objects)
}

/// All wait sets, of which conditions may be taken out.
pub(crate) fn wait_sets() -> Vec<Arc<Entry<crate::condition::WaitSet>>> {
    let table = read_table();
    let objects = table.slots.iter().filter_map(|slot| slot.object.as_ref());
    objects.filter_map(Object::of).cloned().collect()
}

/// What was made from an object, of one kind.
pub(crate) fn children<T: Object>(parent: Handle) -> Vec<Arc<Entry<T>>> {
    let table = read_table();
    let objects = table.slots.iter().filter_map(|slot| slot.object.as_ref());
    let objects = objects.filter(|object| object.parent() == parent);
    objects.filter_map(Object::of).cloned().collect()
}

fn has_children(handle: Handle) -> bool {
    matches!(
        handle.kind(),
        Some(
            Kind::Participant
                | Kind::Publisher
                | Kind::Subscriber
                | Kind::Topic
                | Kind::Writer
                | Kind::Reader
                | Kind::Requester
        )
    )
}

static TABLE: RwLock<Table> = RwLock::new(Table {
    slots: Vec::new(),
    free: VecDeque::new(),
});

fn table() -> RwLockWriteGuard<'static, Table> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

fn read_table() -> RwLockReadGuard<'static, Table> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Table {
    slots: Vec<Slot>,
    /// The one that was free for the longest time is used next, so that it takes long for a handle to come again.
    free: VecDeque<usize>,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    object: Option<AnyObject>,
}

impl Table {
    fn get(&self, handle: Handle) -> Option<&AnyObject> {
        let object = self.slots.get(handle.place())?.object.as_ref()?;
        Some(object).filter(|object| object.handle() == handle)
    }

    fn take(&mut self, handle: Handle) -> Option<AnyObject> {
        let slot = self.slots.get_mut(handle.place())?;
        let object = slot.object.take_if(|object| object.handle() == handle)?;
        object.is_deleted().store(true, Ordering::Release);
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push_back(handle.place());
        Some(object)
    }

    /// A free place. `None` if there are too many objects.
    fn next(&mut self, kind: Kind) -> Option<Handle> {
        let place = match self.free.pop_front() {
            Some(place) => place,
            None if self.slots.len() > PLACE_MASK => return None,
            None => {
                self.slots.push(Slot::default());
                self.slots.len() - 1
            }
        };
        Some(Handle::new(kind, self.slots[place].generation, place))
    }
}

/// Handles that a thread finds without a lock, of each kind.
const CACHED: usize = 4;
const PLACE_BITS: u32 = 24;
const PLACE_MASK: usize = (1 << PLACE_BITS) - 1;
