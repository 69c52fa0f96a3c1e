//! Who is bound to whom, by names alone: the partitions that the exchanges and queues of a context are in. Knows no
//! DDS but that an exchange and a queue meet where they share a partition.
//!
//! Each is in a partition that nobody else names, `local/GUID/exchange/E`, and if it is global in `exchange/E`, too.
//! To bind puts one of the two into a partition of the other. So whoever comes later finds it, a pair meets once however
//! often it is bound, and from whichever side; and what is local may be bound to what is global.

use crate::failure::{Code, Failure, Result};

/// What a context has, and what it has bound.
#[derive(Debug)]
pub(super) struct Names {
    /// Begins the names of partitions that nobody else has.
    own: String,
    exchanges: Vec<Named>,
    queues: Vec<Named>,
    bindings: Vec<Binding>,
}

#[derive(Debug)]
struct Named {
    name: String,
    scope: Scope,
}

#[derive(Debug, PartialEq, Eq)]
struct Binding {
    exchange: String,
    queue: String,
}

/// Who can bind something by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Its context.
    Local,
    /// Everybody.
    Global,
}

impl Scope {
    /// `TW_MQ_LOCAL` or `TW_MQ_GLOBAL`.
    pub(super) fn of(scope: i32) -> Result<Self> {
        match scope {
            0 => Ok(Self::Local),
            1 => Ok(Self::Global),
            other => Err(Failure::argument(format!(
                "{other} is no scope; use TW_MQ_LOCAL or TW_MQ_GLOBAL"
            ))),
        }
    }
}

/// An end of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exchange,
    Queue,
}

impl End {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Queue => "queue",
        }
    }

    /// What others find it by.
    fn global(self, name: &str) -> String {
        format!("{}/{name}", self.name())
    }
}

impl Names {
    /// Those of a context that has nothing, and by `id` is told from all others.
    pub(super) fn new(id: &str) -> Self {
        Self {
            own: format!("local/{id}"),
            exchanges: Vec::new(),
            queues: Vec::new(),
            bindings: Vec::new(),
        }
    }

    fn all(&self, end: End) -> &[Named] {
        match end {
            End::Exchange => &self.exchanges,
            End::Queue => &self.queues,
        }
    }

    fn all_mut(&mut self, end: End) -> &mut Vec<Named> {
        match end {
            End::Exchange => &mut self.exchanges,
            End::Queue => &mut self.queues,
        }
    }

    fn find(&self, end: End, name: &str) -> Option<&Named> {
        self.all(end).iter().find(|known| known.name == name)
    }

    /// The context has something more.
    pub(super) fn add(&mut self, end: End, name: &str, scope: Scope) -> Result<()> {
        check(end, name)?;
        if self.find(end, name).is_some() {
            let message = format!("the context has the {} `{name}` already", end.name());
            return Err(Failure::new(Code::PRECONDITION, message));
        }
        let name = name.to_owned();
        self.all_mut(end).push(Named { name, scope });
        Ok(())
    }

    /// It does not have it after all.
    pub(super) fn remove_last(&mut self, end: End) {
        self.all_mut(end).pop();
    }

    /// Binds an exchange to a queue; says whether that is new.
    pub(super) fn bind(&mut self, exchange: &str, queue: &str) -> Result<bool> {
        check(End::Exchange, exchange)?;
        check(End::Queue, queue)?;
        let is_here =
            self.find(End::Exchange, exchange).is_some() || self.find(End::Queue, queue).is_some();
        if !is_here {
            let message = format!(
                "the context has neither the exchange `{exchange}` nor the queue `{queue}`; create one of them first"
            );
            return Err(Failure::new(Code::NOT_FOUND, message));
        }
        let binding = Binding {
            exchange: exchange.to_owned(),
            queue: queue.to_owned(),
        };
        let is_new = !self.bindings.contains(&binding);
        if is_new {
            self.bindings.push(binding);
        }
        Ok(is_new)
    }

    /// The last binding was none after all.
    pub(super) fn unbind_last(&mut self) {
        self.bindings.pop();
    }

    /// The partitions of all exchanges, or of all queues, in their order.
    pub(super) fn partitions(&self, end: End) -> impl Iterator<Item = Vec<String>> {
        self.all(end).iter().map(move |it| self.of(end, it))
    }

    /// What the context has means more than what is elsewhere by the same name.
    fn of(&self, end: End, it: &Named) -> Vec<String> {
        let mut all = vec![self.local(end, &it.name)];
        if it.scope == Scope::Global {
            all.push(end.global(&it.name));
        }
        for Binding { exchange, queue } in &self.bindings {
            match end {
                End::Exchange if *exchange == it.name => {
                    all.push(match self.find(End::Queue, queue) {
                        Some(_) => self.local(End::Queue, queue),
                        None => End::Queue.global(queue),
                    });
                }
                // An exchange that is here comes to the queue.
                End::Queue if *queue == it.name && self.find(End::Exchange, exchange).is_none() => {
                    all.push(End::Exchange.global(exchange));
                }
                _ => {}
            }
        }
        all
    }

    fn local(&self, end: End, name: &str) -> String {
        format!("{}/{}", self.own, end.global(name))
    }
}

/// Names become names of partitions, which must not be patterns.
fn check(end: End, name: &str) -> Result<()> {
    let end = end.name();
    if name.is_empty() || name.len() > MAX_NAME {
        let len = name.len();
        return Err(Failure::argument(format!(
            "the name of the {end} has {len} bytes; it needs 1 to {MAX_NAME}"
        )));
    }
    match name.find(['*', '?', '[', ']', '\\']) {
        Some(_) => Err(Failure::argument(format!(
            "`{name}` cannot be the name of the {end}: leave out * ? [ ] and \\"
        ))),
        None => Ok(()),
    }
}

/// Bytes of a name.
const MAX_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new("1")
    }

    fn add(names: &mut Names, end: End, name: &str, scope: Scope) {
        names.add(end, name, scope).expect("a good name");
    }

    fn partitions(names: &Names, end: End) -> Vec<String> {
        names.partitions(end).flatten().collect()
    }

    #[test]
    fn who_is_here_goes_to_who_is_elsewhere() {
        let mut names = names();
        add(&mut names, End::Exchange, "E", Scope::Local);
        assert_eq!(partitions(&names, End::Exchange), ["local/1/exchange/E"]);
        assert!(names.bind("E", "Q").expect("E is here"));
        assert!(!names.bind("E", "Q").expect("E is here"), "once is enough");
        let both = ["local/1/exchange/E", "queue/Q"];
        assert_eq!(partitions(&names, End::Exchange), both);
        add(&mut names, End::Queue, "R", Scope::Global);
        assert!(names.bind("F", "R").expect("R is here"));
        let all = ["local/1/queue/R", "queue/R", "exchange/F"];
        assert_eq!(partitions(&names, End::Queue), all);
    }

    #[test]
    fn what_comes_later_and_is_here_is_meant() {
        let mut names = names();
        add(&mut names, End::Exchange, "E", Scope::Global);
        names.bind("E", "Q").expect("E is here");
        add(&mut names, End::Queue, "Q", Scope::Local);
        let all = ["local/1/exchange/E", "exchange/E", "local/1/queue/Q"];
        assert_eq!(partitions(&names, End::Exchange), all);
        assert_eq!(partitions(&names, End::Queue), ["local/1/queue/Q"]);
        names.bind("F", "Q").expect("Q is here");
        add(&mut names, End::Exchange, "F", Scope::Local);
        assert_eq!(partitions(&names, End::Queue), ["local/1/queue/Q"]);
    }

    #[test]
    fn names_that_would_be_patterns_or_are_known_are_refused() {
        let mut names = names();
        let long = "x".repeat(MAX_NAME + 1);
        for bad in ["", "a*", "?", "[a]", "a\\", &long] {
            assert!(names.add(End::Queue, bad, Scope::Local).is_err(), "{bad}");
            assert!(names.bind("E", bad).is_err(), "{bad}");
        }
        assert!(names.bind("E", "Q").is_err(), "neither is here");
        add(&mut names, End::Queue, &long[1..], Scope::Local);
        add(&mut names, End::Queue, "Q", Scope::Local);
        assert!(names.add(End::Queue, "Q", Scope::Global).is_err());
        names.remove_last(End::Queue);
        add(&mut names, End::Queue, "Q", Scope::Global);
    }
}
