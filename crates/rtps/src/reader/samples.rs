//! Samples that have come together.

use crate::wire::{Context, Data};

/// Samples of one writer that have come together and say nothing besides, as
/// [`MessageReader::next_sample`](crate::wire::MessageReader::next_sample) gives them.
pub trait Samples<'a> {
    /// What is known about the one that was given last: but for the time, what is known about all.
    fn context(&self) -> &Context<'a>;

    /// The next one.
    fn next_sample(&mut self) -> Option<Data<'a>>;
}

/// None behind the one that this is known about.
pub(super) struct NoMore<'c, 'a>(pub(super) &'c Context<'a>);

impl<'a> Samples<'a> for NoMore<'_, 'a> {
    fn context(&self) -> &Context<'a> {
        self.0
    }

    fn next_sample(&mut self) -> Option<Data<'a>> {
        None
    }
}
