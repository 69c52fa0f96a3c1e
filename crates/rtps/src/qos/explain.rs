//! Verdicts in words. Decides nothing.

use alloc::string::{String, ToString};
use core::fmt;

use tickwire_base::Duration;
use tickwire_cdr::xtypes::{NotAssignable, TypeId};

use super::{Liveliness, Mismatch, Presentation, RepresentationId, Verdict};

impl Mismatch {
    /// What the reader requests and what the writer offers, in words.
    pub fn sides(&self) -> (String, String) {
        match self {
            Self::TypeName(unmet) => both(&Quoted(&unmet.requested), &Quoted(&unmet.offered)),
            Self::Type(unmet) => both(&Identified(unmet.requested), &Identified(unmet.offered)),
            Self::NotAssignable(reasons) => both(&"a type that it can read", &Reasons(reasons)),
            Self::TypeUnknown => both(&"types that can be compared", &"no answer"),
            Self::Keyed(unmet) => both(&Keyed(unmet.requested), &Keyed(unmet.offered)),
            Self::Partition(unmet) => both(&Names(&unmet.requested), &Names(&unmet.offered)),
            Self::Durability(unmet) => both(&unmet.requested, &unmet.offered),
            Self::Presentation(unmet) => both(&unmet.requested, &unmet.offered),
            Self::Deadline(unmet) | Self::LatencyBudget(unmet) => {
                both(&Time(unmet.requested), &Time(unmet.offered))
            }
            Self::Ownership(unmet) => both(&unmet.requested, &unmet.offered),
            Self::Liveliness(unmet) => both(&unmet.requested, &unmet.offered),
            Self::Reliability(unmet) => both(&unmet.requested, &unmet.offered),
            Self::DestinationOrder(unmet) => both(&unmet.requested, &unmet.offered),
            Self::DataRepresentation(unmet) => both(
                &Representations(&unmet.requested),
                &Representations(unmet.offered.get(..1).unwrap_or_default()),
            ),
        }
    }
}

fn both(requested: &dyn fmt::Display, offered: &dyn fmt::Display) -> (String, String) {
    (requested.to_string(), offered.to_string())
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name())?;
        match self {
            Self::NotAssignable(reasons) => Reasons(reasons).fmt(f),
            Self::TypeUnknown => f.write_str("one side does not tell what its type looks like"),
            _ => {
                let (requested, offered) = self.sides();
                write!(
                    f,
                    "the reader requests {requested}, the writer offers {offered}"
                )
            }
        }?;
        write!(f, "; {}", self.hint())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_match() {
            return f.write_str("match");
        }
        for (i, mismatch) in self.mismatches.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{mismatch}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coherent = if self.coherent_access {
            " coherent"
        } else {
            ""
        };
        let ordered = if self.ordered_access { " ordered" } else { "" };
        write!(f, "{}{coherent}{ordered}", self.access_scope)
    }
}

impl fmt::Display for Liveliness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} within {}", self.kind, Time(self.lease_duration))
    }
}

struct Reasons<'a>(&'a [NotAssignable]);

impl fmt::Display for Reasons<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, reason) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            write!(f, "{separator}{reason}")?;
        }
        Ok(())
    }
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

struct Identified(TypeId);

impl fmt::Display for Identified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the type {:?}", self.0)
    }
}

struct Keyed(bool);

impl fmt::Display for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "a key" } else { "no key" })
    }
}

struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Duration::MAX => f.write_str("infinite"),
            duration => write!(f, "{duration:?}"),
        }
    }
}

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("[\"\"]"),
            names => write!(f, "{names:?}"),
        }
    }
}

struct Representations<'a>(&'a [RepresentationId]);

impl fmt::Display for Representations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.0.split_first() else {
            return RepresentationId::XCDR1.fmt(f);
        };
        first.fmt(f)?;
        others.iter().try_for_each(|other| write!(f, " or {other}"))
    }
}
