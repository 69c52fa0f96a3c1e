//! Content filters: which samples of a topic are wanted, said in the subset of SQL that DDS defines
//! (DDS 1.4 Annex B).
//!
//! ```text
//! condition  = conjunction { OR conjunction }
//! conjunction = factor { AND factor }
//! factor     = NOT factor | '(' condition ')' | comparison | range
//! comparison = operand ( = | <> | != | < | <= | > | >= | LIKE ) operand
//! range      = member [ NOT ] BETWEEN literal AND literal
//! operand    = member | literal            (a member on one side at least)
//! member     = name { . name | [ index ] }
//! literal    = 12 | -3.5 | 1e9 | 0x1F | 'text' | TRUE | FALSE | ENUMERATOR | 'ENUMERATOR' | %0 .. %99
//! ```
//!
//! Words of the language are understood in either case. `LIKE` knows `%` (any text) and `_` (one
//! character). A quote inside of text is written twice. A parameter (`%3`) stands for a literal;
//! where text is wanted its quotes may be left out.
//!
//! An absent optional member, a branch that a union does not hold and an index beyond the end make
//! a comparison unknown, as NULL does in SQL; a sample passes only if the whole is true. Integers
//! and decimals are compared exactly, a literal beside a `float` is a `float`.
//!
//! This module knows nothing of topics, readers or writers. It reads serialized payloads along a
//! [`TypeDescription`], so that writers can filter for readers, and any type can be filtered.

mod bind;
mod error;
mod evaluate;
mod held;
mod paths;
mod query;
mod syntax;
mod token;

use alloc::vec::Vec;

pub use error::{FilterError, FilterProblem};
pub use query::{Query, SortKey};

use crate::TypeDescription;
use crate::dynamic::{self, Form};
use evaluate::Condition;
use held::Slot;
use paths::Paths;

/// A filter of one type's samples, ready to be asked.
///
/// ```
/// use tickwire_cdr::filter::Filter;
/// use tickwire_cdr::{Describe, Representation, Topic, Type, dynamic::Form, to_payload};
///
/// #[derive(Topic)]
/// # #[topic(crate = tickwire_cdr)]
/// struct Quote { symbol: String, price: f64 }
///
/// let Type::Struct(quote) = Quote::TYPE else { unreachable!() };
/// let mut filter = Filter::new("symbol LIKE 'EU%' AND price > %0", &["1.1"], &quote)?;
///
/// let mut payload = Vec::new();
/// to_payload(&Quote { symbol: "EURUSD".into(), price: 1.2 }, Representation::Xcdr2, &mut payload)?;
/// assert!(filter.passes(&payload, Form::Sample)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Filter {
    condition: Condition,
    paths: Paths,
    /// The members that are compared, as the last payload had them.
    slots: Vec<Slot>,
}

impl Filter {
    /// Most comparisons in one filter. What they cost is paid for each sample, and a remote reader
    /// may ask a writer to filter.
    pub const MAX_COMPARISONS: usize = 1024;

    /// Compiles `expression` for the members of `ty`; `parameters` are what `%0`, `%1` ... stand for.
    ///
    /// # Errors
    /// When the expression is not of the language, names a member that the type does not have, or
    /// compares what cannot be compared.
    pub fn new(
        expression: &str,
        parameters: &[impl AsRef<str>],
        ty: &TypeDescription,
    ) -> Result<Self, FilterError> {
        let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
        let syntax = syntax::parse(expression)?;
        let (filter, _) = bind::bind(&syntax, &[], &parameters, ty)?;
        Ok(filter)
    }

    /// How many comparisons it makes of a sample, at most.
    pub fn comparisons(&self) -> usize {
        self.condition.comparisons()
    }

    /// Whether a sample is wanted, or the end of an instance (`form` is then [`Form::Key`]): that
    /// passes unless the key alone makes the condition false.
    ///
    /// Reads the payload once. Allocates only while the texts that it meets get longer.
    ///
    /// # Errors
    /// When the payload is not one of the type.
    pub fn passes(&mut self, payload: &[u8], form: Form) -> Result<bool, dynamic::Error> {
        self.paths.read(payload, form, &mut self.slots)?;
        let holds = self.condition.holds(&self.slots);
        Ok(match form {
            Form::Sample => holds == Some(true),
            Form::Key => holds != Some(false),
        })
    }
}
