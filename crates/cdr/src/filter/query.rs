//! Queries: a filter, and in which order what passes it is wanted (DDS 1.4 Annex B).
//!
//! ```text
//! query = [ condition ] [ ORDER BY member { , member } ]
//! ```

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::held::Held;
use super::{Filter, FilterError, bind, syntax};
use crate::TypeDescription;
use crate::dynamic::{self, Form};

/// A query of one type's samples, ready to be asked.
///
/// ```
/// use tickwire_cdr::filter::Query;
/// use tickwire_cdr::{Describe, Representation, Topic, Type, to_payload};
///
/// #[derive(Topic)]
/// # #[topic(crate = tickwire_cdr)]
/// struct Quote { symbol: String, price: f64 }
///
/// let Type::Struct(quote) = Quote::TYPE else { unreachable!() };
/// let mut query = Query::new("price > %0 ORDER BY symbol, price", &["1.1"], &quote)?;
///
/// let mut sort_key = |symbol: &str, price| {
///     let mut payload = Vec::new();
///     let quote = Quote { symbol: symbol.into(), price };
///     to_payload(&quote, Representation::Xcdr2, &mut payload)?;
///     Ok::<_, Box<dyn std::error::Error>>(query.sort_key(&payload)?)
/// };
/// assert!(sort_key("EURUSD", 1.2)? < sort_key("GBPUSD", 1.1)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    filter: Filter,
    /// The slots of the members that samples are ordered by.
    order: Vec<usize>,
}

impl Query {
    /// Compiles `expression` for the members of `ty`; `parameters` are what `%0`, `%1` ... stand for.
    /// Without a condition all samples pass.
    ///
    /// # Errors
    /// As [`Filter::new`]; also when more than [`Filter::MAX_COMPARISONS`] members follow ORDER BY.
    pub fn new(
        expression: &str,
        parameters: &[impl AsRef<str>],
        ty: &TypeDescription,
    ) -> Result<Self, FilterError> {
        let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
        let (condition, order) = syntax::parse_query(expression)?;
        let (filter, order) = bind::bind(&condition, &order, &parameters, ty)?;
        Ok(Self { filter, order })
    }

    /// Whether a sample passes; see [`Filter::passes`].
    ///
    /// # Errors
    /// When the payload is not one of the type.
    pub fn passes(&mut self, payload: &[u8], form: Form) -> Result<bool, dynamic::Error> {
        self.filter.passes(payload, form)
    }

    /// Whether samples are wanted in an order.
    pub fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    /// What a sample is ordered by. Allocates.
    ///
    /// # Errors
    /// When the payload is not one of the type.
    pub fn sort_key(&mut self, payload: &[u8]) -> Result<SortKey, dynamic::Error> {
        let Filter { paths, slots, .. } = &mut self.filter;
        paths.read(payload, Form::Sample, slots)?;
        let held = self.order.iter().map(|&slot| {
            let slot = slots.get(slot).filter(|slot| slot.is_present);
            slot.map(|slot| slot.held.clone())
        });
        Ok(SortKey(held.collect()))
    }
}

/// Values by which samples of one query are ordered, ascending. A member that is absent comes after all
/// values; a float that is no number is equal to itself and greater than the others.
#[derive(Clone, Debug)]
pub struct SortKey(Vec<Option<Held>>);

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let orders = pairs.map(|(one, other)| match (one, other) {
            (Some(one), Some(other)) => compare(one, other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

fn compare(one: &Held, other: &Held) -> Ordering {
    let is_nan = |held: &Held| matches!(held, Held::Float(value) if value.is_nan());
    let order = one.compare(other);
    order.unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortKey {}
