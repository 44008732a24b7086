//! The conclusion of a run: is zeroing faster than the threshold? The pairs answer for single calls, and the long stretch
//! answers for many. "Faster" needs both. It is pure; the caller turns the answer into a class.

use crate::measure::outcome::{Open, Outcome};
use crate::measure::stats::sustained::Answer;
use crate::measure::stats::Decision;

/// What a run says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Zeroing is faster.
    Faster,
    /// It is not.
    NotFaster {
        /// Single calls are, but not a long stretch of them.
        only_bursts: bool,
        /// It is rare slow calls that make the stretch slow.
        stalls: bool,
    },
    /// Nothing is sure.
    Open(Unsure),
}

/// Why nothing is sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsure {
    /// The pairs do not decide.
    Pairs(Option<Open>),
    /// The pairs wandered across the threshold.
    PairsWandered,
    /// The budgets left nothing for a long stretch.
    NoStretch(Option<Open>),
    /// The long stretch does not decide; `stalls`: because of single slow calls.
    Stretch {
        /// See above.
        stalls: bool,
    },
    /// The device wrote at another speed in the middle of the stretch than at its beginning.
    StretchWandered,
    /// Data is written more slowly after zeroing.
    Owes,
    /// The pairs say no, the long stretch yes.
    Contradiction,
}

impl std::fmt::Display for Unsure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = |why: &Option<Open>| match why {
            Some(Open::Time) => "; --max-seconds gives it more time",
            Some(Open::Bytes | Open::Granularity) => "; --max-bytes lets it write more",
            Some(Open::Interrupted) | None => "",
        };
        match self {
            Unsure::Pairs(Some(why)) => write!(f, "{why}{}", more(&Some(*why))),
            Unsure::Pairs(None) => f.write_str("the pairs do not decide"),
            Unsure::PairsWandered => f.write_str("zeroing was faster in one half of the test and not in the other"),
            Unsure::NoStretch(why) => {
                write!(f, "single calls zero fast, but the budget left nothing for the long stretch{}", more(why))
            }
            Unsure::Stretch { stalls: true } => f.write_str(
                "a few slow zeroing calls decide the long stretch, and it is not known how rare they are; a longer \
                 stretch (--sustained SIZE) shows more of them",
            ),
            Unsure::Stretch { stalls: false } => f.write_str(
                "single calls zero fast, but the long stretch does not decide; make it longer with --sustained SIZE",
            ),
            Unsure::StretchWandered => f.write_str("the device wrote at changing speed during the long stretch"),
            Unsure::Owes => f.write_str(
                "data is written more slowly after zeroing, and the test did not last long enough to \
                             show the whole cost",
            ),
            Unsure::Contradiction => f.write_str("single calls do not zero fast, but a long stretch does"),
        }
    }
}

impl Outcome {
    /// What the run says at this threshold.
    pub fn conclusion(&self, threshold: f64) -> Conclusion {
        let decision = self.pairs.decision();
        let wandered = self.pairs.halves_disagree();
        if wandered && decision != Decision::Open {
            return Conclusion::Open(Unsure::PairsWandered);
        }
        let stretch = self.sustained.as_ref();
        let answer = stretch.map(|s| s.answer(threshold));
        match (decision, answer) {
            (Decision::Below, Some(Answer::Faster)) => Conclusion::Open(Unsure::Contradiction),
            (Decision::Below, _) => Conclusion::NotFaster { only_bursts: false, stalls: false },
            // Also where the pairs do not decide, unless they wander: a single call may meet a stall or not, many at once do.
            (Decision::Open, _) if wandered => Conclusion::Open(Unsure::Pairs(self.inconclusive)),
            (_, Some(Answer::NotFaster)) => {
                Conclusion::NotFaster { only_bursts: true, stalls: stretch.is_some_and(|s| s.stalled()) }
            }
            (Decision::Open, _) => Conclusion::Open(Unsure::Pairs(self.inconclusive)),
            (_, Some(Answer::Faster)) if self.deferred_cost().is_some() => Conclusion::Open(Unsure::Owes),
            (_, Some(Answer::Faster)) => Conclusion::Faster,
            (_, Some(Answer::NotStationary)) => Conclusion::Open(Unsure::StretchWandered),
            (_, Some(Answer::Open)) if stretch.is_some_and(|s| s.owes()) => Conclusion::Open(Unsure::Owes),
            (_, Some(Answer::Open)) => {
                Conclusion::Open(Unsure::Stretch { stalls: stretch.is_some_and(|s| s.stalled()) })
            }
            (_, None) => Conclusion::Open(Unsure::NoStretch(self.sustained_short)),
        }
    }
}
