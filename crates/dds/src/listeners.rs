//! Who is told of what happens to an endpoint (DDS 1.4 §2.2.4.2.3.1): its own listener, else that of
//! its publisher or subscriber, else that of the participant. Each is told only of the statuses that
//! it was set for; what nobody is set for waits for the endpoint's own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tickwire_base::Counter;
use tickwire_rtps::wire::Guid;

use crate::listener::ListenerSlot;
use crate::signal::lock;
use crate::status::StatusMask;

/// An endpoint's own listener and those above it, the nearest first.
#[derive(Default)]
pub(crate) struct Listeners {
    pub(crate) own: ListenerSlot,
    above: Vec<Arc<GroupListener>>,
}

impl Listeners {
    pub(crate) fn new(above: Vec<Arc<GroupListener>>) -> Self {
        Self {
            own: ListenerSlot::default(),
            above,
        }
    }

    /// Notes what has changed of an endpoint; says whether there is a listener to tell.
    pub(crate) fn note(&self, endpoint: Guid, news: StatusMask) -> bool {
        let to_tell = self.note_above(endpoint, news);
        self.keep(to_tell)
    }

    /// The same for who is about to [call](Self::call) them: what the endpoint's own is to be told is only said.
    pub(crate) fn note_above(&self, endpoint: Guid, mut news: StatusMask) -> ToTell {
        let mut tells = false;
        if news.intersects(StatusMask::DATA_AVAILABLE) {
            // A subscriber that is told of data on its readers tells these itself (§2.2.4.2.3.2).
            let on_readers = StatusMask::DATA_ON_READERS;
            let mut above = self.above.iter();
            if let Some(listener) = above.find(|listener| listener.handles(on_readers)) {
                listener.note(News::Endpoint(endpoint, on_readers));
                news = news.without(StatusMask::DATA_AVAILABLE);
                tells = true;
            }
        }
        if self.own.handles() != StatusMask::ALL {
            for listener in &self.above {
                let theirs = news.without(self.own.handles());
                let theirs = theirs.and(listener.slot.handles());
                if !theirs.is_empty() {
                    listener.note(News::Endpoint(endpoint, theirs));
                    news = news.without(theirs);
                    tells = true;
                }
            }
        }
        if !news.is_empty() && !self.own.handles().intersects(news) {
            // One that has been set meanwhile is to be called.
            tells |= self.own.note(news);
            news = StatusMask::NONE;
        }
        ToTell {
            own: news,
            has_noted: tells,
        }
    }

    /// Has the endpoint's own told later; says whether there is a listener to tell.
    pub(crate) fn keep(&self, to_tell: ToTell) -> bool {
        if !to_tell.own.is_empty() {
            self.own.note(to_tell.own);
        }
        to_tell.is_any()
    }

    /// Tells all of them what they have not been told, and the endpoint's own these `news`. Only for the threads that
    /// deliver data.
    pub(crate) fn call(&self, news: StatusMask, panics: &Counter) {
        self.own.call(news, panics);
        for listener in &self.above {
            listener.call(panics);
        }
    }
}

/// What listeners are to be told of an endpoint.
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "the endpoint's own listener is not told later"]
pub(crate) struct ToTell {
    /// What its own is.
    pub(crate) own: StatusMask,
    /// Whether there is more, which is noted.
    has_noted: bool,
}

impl ToTell {
    /// The same, and more if `is_more`, which is noted.
    pub(crate) fn with_noted(mut self, is_more: bool) -> Self {
        self.has_noted |= is_more;
        self
    }

    /// Whether that is anything.
    pub(crate) fn is_any(self) -> bool {
        self.has_noted || !self.own.is_empty()
    }
}

/// What a publisher's, a subscriber's or a participant's listener is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Statuses of an endpoint have changed.
    Endpoint(Guid, StatusMask),
    /// A topic of this name has another type elsewhere.
    InconsistentTopic(String),
}

/// The listener of a publisher, a subscriber or a participant, and what it has not been told.
#[derive(Default)]
pub(crate) struct GroupListener {
    slot: ListenerSlot,
    news: Arc<Mutex<VecDeque<News>>>,
    /// Panics that are not counted yet.
    panics: Arc<AtomicU64>,
}

impl GroupListener {
    /// Has `tell` called for what happens from now on to the statuses in `mask`. A call that panics
    /// keeps no other news from being told.
    pub(crate) fn set(&self, mask: StatusMask, mut tell: impl FnMut(News) + Send + 'static) {
        let (all, panics) = (Arc::clone(&self.news), Arc::clone(&self.panics));
        let callback = move |_| {
            // One by one: a listener that is removed meanwhile is told no more.
            let next = || lock(&all).pop_front();
            while let Some(news) = next() {
                if catch_unwind(AssertUnwindSafe(|| tell(news))).is_err() {
                    panics.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        self.slot.set(Some(Box::new(callback)), mask);
    }

    pub(crate) fn remove(&self) {
        self.slot.remove();
        lock(&self.news).clear();
    }

    pub(crate) fn handles(&self, mask: StatusMask) -> bool {
        self.slot.handles().intersects(mask)
    }

    pub(crate) fn note(&self, news: News) {
        let mask = match &news {
            News::Endpoint(_, mask) => *mask,
            News::InconsistentTopic(_) => StatusMask::INCONSISTENT_TOPIC,
        };
        let mut waiting = lock(&self.news);
        let known = waiting.iter_mut().find_map(|known| match (known, &news) {
            (News::Endpoint(one, mask), News::Endpoint(other, _)) if one == other => Some(mask),
            _ => None,
        });
        match known {
            Some(known) => *known |= mask,
            None => waiting.push_back(news),
        }
        drop(waiting);
        self.slot.note(mask);
    }

    pub(crate) fn call(&self, panics: &Counter) {
        self.slot.call(StatusMask::NONE, panics);
        if self.panics.load(Ordering::Relaxed) > 0 {
            panics.add(self.panics.swap(0, Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: StatusMask = StatusMask::DATA_AVAILABLE;
    const LOST: StatusMask = StatusMask::SAMPLE_LOST;
    const MATCHED: StatusMask = StatusMask::SUBSCRIPTION_MATCHED;

    type Heard = Arc<Mutex<Vec<(&'static str, StatusMask)>>>;

    fn listen(group: &GroupListener, heard: &Heard, name: &'static str, mask: StatusMask) {
        let heard = Arc::clone(heard);
        group.set(mask, move |news| {
            if let News::Endpoint(Guid::UNKNOWN, mask) = news {
                lock(&heard).push((name, mask));
            }
        });
    }

    /// Who hears what, if the three are set for these.
    fn told(masks: [StatusMask; 3], news: StatusMask) -> Vec<(&'static str, StatusMask)> {
        let heard = Heard::default();
        let groups = ["subscriber", "participant"].map(|_| Arc::new(GroupListener::default()));
        let listeners = Listeners::new(groups.to_vec());
        let ear = Arc::clone(&heard);
        if !masks[0].is_empty() {
            let callback = move |news| lock(&ear).push(("own", news));
            listeners.own.set(Some(Box::new(callback)), masks[0]);
        }
        for (name, (group, mask)) in ["subscriber", "participant"]
            .into_iter()
            .zip(groups.iter().zip([masks[1], masks[2]]))
        {
            if !mask.is_empty() {
                listen(group, &heard, name, mask);
            }
        }
        let tells = listeners.note(Guid::UNKNOWN, news);
        listeners.call(StatusMask::NONE, &Counter::default());
        let heard = std::mem::take(&mut *lock(&heard));
        assert_eq!(tells, !heard.is_empty());
        heard
    }

    #[test]
    fn the_nearest_listener_that_is_set_for_a_status_is_told() {
        let (all, none) = (StatusMask::ALL, StatusMask::NONE);
        assert_eq!(told([all, all, all], DATA), [("own", DATA)]);
        assert_eq!(told([none, all, all], DATA), [("subscriber", DATA)]);
        assert_eq!(told([none, none, all], DATA), [("participant", DATA)]);
        assert_eq!(told([none, none, none], DATA), []);
        let three = DATA | LOST | MATCHED;
        assert_eq!(
            told([DATA, LOST, all], three),
            [
                ("own", DATA),
                ("subscriber", LOST),
                ("participant", MATCHED)
            ]
        );
    }

    #[test]
    fn a_panic_keeps_no_other_news_from_being_told() {
        let group = GroupListener::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        group.set(StatusMask::ALL, move |news| {
            if news == News::InconsistentTopic("1".to_owned()) {
                std::panic::resume_unwind(Box::new(()));
            }
            lock(&ear).push(news);
        });
        let topics = ["0", "1", "2"].map(|topic| News::InconsistentTopic(topic.to_owned()));
        topics.iter().for_each(|news| group.note(news.clone()));
        let panics = Counter::default();
        group.call(&panics);
        assert_eq!(lock(&heard)[..], [topics[0].clone(), topics[2].clone()]);
        assert_eq!(panics.count(), 1);
    }

    #[test]
    fn a_listener_that_removes_itself_is_told_no_more() {
        let group = Arc::new(GroupListener::default());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (ear, own) = (Arc::clone(&heard), Arc::clone(&group));
        group.set(StatusMask::ALL, move |news| {
            lock(&ear).push(news);
            own.remove();
        });
        let topics = ["0", "1"].map(|topic| News::InconsistentTopic(topic.to_owned()));
        topics.iter().for_each(|news| group.note(news.clone()));
        group.call(&Counter::default());
        assert_eq!(lock(&heard)[..], topics[..1]);
    }

    #[test]
    fn data_on_readers_comes_before_data_available() {
        let on_readers = StatusMask::DATA_ON_READERS;
        let all = StatusMask::ALL;
        assert_eq!(
            told([all, on_readers, all], DATA | LOST),
            [("own", LOST), ("subscriber", on_readers)]
        );
    }
}
