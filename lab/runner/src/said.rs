//! What a few rounds say of a ratio: whether it is above a limit, below it, or neither can be told.
//!
//! Three rounds of two systems that are equal agree by chance in one of four cases. So rounds that agree decide if there
//! are [`MANY`] of them, or [`FEW`] that all keep [`MARGIN`] from the limit. Otherwise the ratio leans to that side.

use crate::statistics::Spread;

/// Fewer rounds say nothing.
pub(crate) const FEW: usize = 3;
/// So many decide by agreeing: by chance they do in one of 16 cases, for a given side in one of 32.
pub(crate) const MANY: usize = 5;
/// How far from the limit all of fewer rounds have to be. Of three that scatter by 10 % around it (a standard deviation)
/// all are beyond on one side by chance in one of 100 cases, by 20 % in one of 16.
pub(crate) const MARGIN: f64 = 1.1;

/// On which side of the limit rounds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// There are too few.
    Nothing,
    Below,
    LeansBelow,
    /// Some are above, some below.
    Both,
    LeansAbove,
    Above,
}

/// What so many rounds say, whose values, all positive, have this spread.
pub(crate) fn said(values: Spread, rounds: usize, limit: f64) -> Said {
    let decides = |margin: bool| rounds >= MANY || margin;
    match (values.min > limit, values.max < limit) {
        _ if rounds < FEW => Said::Nothing,
        (true, _) if decides(values.min > limit * MARGIN) => Said::Above,
        (true, _) => Said::LeansAbove,
        (_, true) if decides(values.max < limit / MARGIN) => Said::Below,
        (_, true) => Said::LeansBelow,
        _ => Said::Both,
    }
}

impl Said {
    /// Of the other side.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::LeansBelow => Self::LeansAbove,
            Self::LeansAbove => Self::LeansBelow,
            Self::Above => Self::Below,
            Self::Nothing | Self::Both => self,
        }
    }
}

/// The rule, as a report has it.
pub(crate) const RULE: &str = "Ahead and behind, yes and no take at least five rounds that all say so, or at least three that all \
     say so by more than 10 %. Where three or four agree with less between, it is said to lean that way; where rounds disagree, that \
     is said, and fewer than three say nothing. Of two equal systems, rounds that scatter by chance alone, five agree in one of 16 \
     cases (three would in one of 4); three are all more than 10 % to one side in one of 100 cases if their ratio scatters by 10 %, \
     and in one of 16 if it does by 20 %. So of hundreds of cells some few are wrong: a cell is believed with its neighbours.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rounds_take_a_margin_and_fewer_say_nothing() {
        let of = |values: &[f64]| {
            let spread = Spread::of(values.iter().copied()).unwrap();
            said(spread, values.len(), 1.0)
        };
        assert_eq!(of(&[2.0, 2.0]), Said::Nothing);
        assert_eq!(of(&[1.11, 2.0, 3.0]), Said::Above);
        assert_eq!(of(&[1.09, 2.0, 3.0, 3.0]), Said::LeansAbove);
        assert_eq!(of(&[1.01, 1.02, 1.03, 1.02, 1.01]), Said::Above);
        assert_eq!(of(&[0.5, 0.5, 0.9]), Said::Below);
        assert_eq!(of(&[0.5, 0.5, 0.92]), Said::LeansBelow);
        assert_eq!(of(&[0.99, 0.98, 0.97, 0.98, 0.99]), Said::Below);
        assert_eq!(of(&[0.5, 1.5, 0.5, 0.5, 0.5, 0.5]), Said::Both);
        assert_eq!(of(&[0.5, 0.5, 1.0]), Said::Both, "equal is no side");
    }

    #[test]
    fn the_limit_has_the_margin() {
        let spread = Spread::of([2.1, 2.3, 2.5]).unwrap();
        assert_eq!(said(spread, 3, 2.0), Said::LeansAbove);
        assert_eq!(said(spread, 3, 1.9), Said::Above);
        assert_eq!(said(spread, 3, 2.8), Said::Below);
    }
}
