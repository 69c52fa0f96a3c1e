//! The ENTITY_FACTORY policy (DDS 1.4 §2.2.3.20): which entities take part, and which have yet to be
//! enabled (§2.2.2.1.1.7). Knows neither the network nor what an entity is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::error::EnableError;
use crate::signal::lock;

/// What there is to do for an entity to take part. It may be tried again after an error.
pub(crate) type Start = Box<dyn Fn() -> Result<(), EnableError> + Send>;

/// Whether an entity takes part, and those that it has made that do not.
pub(crate) struct Enabling {
    factory: Option<Arc<Self>>,
    is_enabled: AtomicBool,
    /// Whether what it makes is to be enabled at once, or with itself.
    autoenables: AtomicBool,
    /// `None` once it is done. Its lock is taken before all others, a factory's before those of what
    /// it has made.
    start: Mutex<Option<Start>>,
    made: Mutex<Vec<Weak<Self>>>,
}

impl Enabling {
    /// An entity that takes part once it is [enabled](Self::enable).
    pub(crate) fn new(factory: Option<&Arc<Self>>, autoenables: bool, start: Start) -> Arc<Self> {
        let own = Arc::new(Self {
            factory: factory.cloned(),
            is_enabled: AtomicBool::new(false),
            autoenables: AtomicBool::new(autoenables),
            start: Mutex::new(Some(start)),
            made: Mutex::default(),
        });
        if let Some(factory) = factory {
            let mut made = lock(&factory.made);
            made.retain(|known| known.upgrade().is_some_and(|known| !known.is_enabled()));
            made.push(Arc::downgrade(&own));
        }
        own
    }

    /// Enables it if its factory is enabled and says so; to be called when it is made.
    pub(crate) fn begin(&self) -> Result<(), EnableError> {
        match &self.factory {
            Some(factory) if factory.is_enabled() && factory.autoenables() => self.enable(),
            _ => Ok(()),
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire)
    }

    pub(crate) fn autoenables(&self) -> bool {
        self.autoenables.load(Ordering::Relaxed)
    }

    pub(crate) fn set_autoenables(&self, autoenables: bool) {
        self.autoenables.store(autoenables, Ordering::Relaxed);
    }

    /// Has it take part, and with it what it has made if it is to. Nothing changes if it does already.
    pub(crate) fn enable(&self) -> Result<(), EnableError> {
        if self.factory.as_ref().is_some_and(|own| !own.is_enabled()) {
            return Err(EnableError::FactoryNotEnabled);
        }
        let mut start = lock(&self.start);
        let Some(action) = start.as_ref() else {
            return Ok(());
        };
        action()?;
        *start = None;
        self.is_enabled.store(true, Ordering::Release);
        drop(start);
        if !self.autoenables() {
            return Ok(());
        }
        let made = lock(&self.made).clone();
        let mut result = Ok(());
        for entity in made.iter().filter_map(Weak::upgrade) {
            result = result.and(entity.enable());
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(factory: Option<&Arc<Enabling>>, autoenables: bool) -> Arc<Enabling> {
        let entity = Enabling::new(factory, autoenables, Box::new(|| Ok(())));
        entity.begin().expect("nothing to do");
        entity
    }

    #[test]
    fn what_an_enabled_factory_makes_takes_part_at_once_unless_told_otherwise() {
        let participant = entity(None, true);
        participant.enable().expect("nothing above it");
        let publisher = entity(Some(&participant), true);
        assert!(publisher.is_enabled());
        publisher.set_autoenables(false);
        let writer = entity(Some(&publisher), true);
        assert!(!writer.is_enabled());
        writer.enable().expect("its factory is enabled");
        assert!(writer.is_enabled());
    }

    #[test]
    fn nothing_is_enabled_before_its_factory_and_all_of_it_with_it() {
        let participant = entity(None, true);
        let publisher = entity(Some(&participant), true);
        let by_hand = entity(Some(&participant), false);
        let (writer, waiting) = (entity(Some(&publisher), true), entity(Some(&by_hand), true));
        for entity in [&publisher, &writer] {
            let refused = entity.enable();
            assert!(matches!(refused, Err(EnableError::FactoryNotEnabled)));
        }
        participant.enable().expect("nothing above it");
        let enabled = [&publisher, &writer, &by_hand, &waiting].map(|own| own.is_enabled());
        assert_eq!(enabled, [true, true, true, false]);
        waiting.enable().expect("its factory is enabled");
        assert!(waiting.is_enabled());
    }

    #[test]
    fn what_fails_may_be_tried_again() {
        let participant = entity(None, true);
        participant.enable().expect("nothing above it");
        let fails = Arc::new(AtomicBool::new(true));
        let told = Arc::clone(&fails);
        let start = move || match told.load(Ordering::Relaxed) {
            true => Err(EnableError::FactoryNotEnabled),
            false => Ok(()),
        };
        let writer = Enabling::new(Some(&participant), true, Box::new(start));
        assert!(writer.begin().is_err() && !writer.is_enabled());
        fails.store(false, Ordering::Relaxed);
        writer.enable().expect("it works now");
        writer.enable().expect("it is enabled already");
    }
}
