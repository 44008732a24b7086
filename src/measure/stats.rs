//! Numbers in, numbers out: when enough pairs are timed, what may be said about their median, and which lengths of a
//! call are worth it.
//!
//! Decides nothing about devices and reads no clock. Uses only `units`.
//!
//! # The stopping rule
//!
//! A pair gives the ratio `r = time(write) / time(zero)`. Asked is whether the median of `r` is above a threshold `t`;
//! no distribution is assumed, so only the signs count. For "is it above?" the hypothesis to be rejected is H: whatever
//! came before, `P(r > t) <= 1/2`, that is "the median is at most `t`"; `r == t` counts against. "Is it below?" mirrors
//! it with `r < t`, so that a tie counts against both: never wrong, at worst undecided.
//!
//! A bet of a fixed `p >= 1/2` multiplies a stake by `2p` at each sign for and by `2(1-p)` at each sign against. Under
//! H the expected factor is `q*2p + (1-q)*2(1-p)` with `q <= 1/2`, which is at most 1: the stake is a non-negative
//! supermartingale that starts at 1, and so is any fixed mixture of such stakes. With `s` signs for among `n`:
//!
//! `K(s, n) = sum of w_j * (2 p_j)^s * (2 (1 - p_j))^(n - s)`
//!
//! Ville's inequality: the probability that `K` *ever* reaches a limit `L` is at most `1/L` under H. "Ever" is what
//! makes optional stopping sound: looking after each pair, stopping early, a budget cut or going on afterwards cost
//! nothing. `p_j < 1/2` must not be in the mixture: the factor could exceed 1 where the median lies far on the other
//! side, which H includes (so the uniform mixture over all of 0 to 1 is no test of this H). The mixture is finite
//! rather than an integral: valid just the same, exact without an incomplete beta function, and three bets measured
//! better.
//!
//! `1/L` is more than the true error, as `K` jumps over the limit and does not land on it. `K` grows with `s`, so of
//! all that H allows a fair coin does worst: whatever the pairs do, a fair coin can be coupled to them that says "for"
//! whenever they do. For the coin the probability is a sum over paths. With the bets below and `L` = 1600 it is under
//! 5e-4 for ever: what the first `N` pairs give, plus, by Ville from there on, the stake that is still open over `L` (a
//! test computes it; Ville alone would ask for 2000). Pairs needed with 0, 1, 2, 3 contrary ones: 13, 17, 21, 25; the
//! uniform mixture over 1/2 to 1 and Ville alone would need 14, 19, 23, 27.
//!
//! # The interval
//!
//! The same test may be run for every `t` at once. Let `c` be the least `s` with `K(s, n) >= L`. "Median at most `t`"
//! is rejected exactly where at least `c` ratios are above `t`, which is for `t` below the `c`-th largest ratio;
//! likewise from above. What is rejected on neither side is the closed interval from the `c`-th largest to the `c`-th
//! smallest ratio. At the true median each side is wrong at some time with probability at most 5e-4, so the interval
//! covers it at every time at once, that of stopping included, with probability 0.999 at least. Above is decided
//! exactly when the low end passes the threshold, below when the high end does: answer and interval agree.
//!
//! # What is taken for granted
//!
//! That, whatever came before, the next ratio lies above the true median with probability at most 1/2, and below it
//! likewise. Noise of any shape is covered, also when it changes over time; a device whose median itself wanders is
//! judged by where the pairs lay.

pub mod sustained;

use crate::units::Nanos;

/// How often an answer may be wrong, at most: 1e-3 for both ways and the interval together, so half of it each way.
pub const ALPHA: f64 = 1e-3;

/// The bets: (p, weight). The strong one decides clear cases, the others the noisy ones; 0.6 lets the interval shrink.
const BETS: [(f64, f64); 3] = [(0.60, 0.05), (0.75, 0.20), (0.91, 0.75)];

/// The limit of the stake at [`ALPHA`], by exact computation for these very bets; both change together or not at all.
const LIMIT: f64 = 1600.0;

/// What the pairs so far decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The median is above the threshold.
    Above,
    /// The median is below the threshold.
    Below,
    /// Neither is decided yet.
    Open,
}

/// Where the true median lies, whenever one looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end, a ratio; `None` when nothing bounds it yet.
    pub low: Option<f64>,
    /// The upper end, a ratio; `None` when nothing bounds it yet.
    pub high: Option<f64>,
    /// The probability that the interval covers the true median, at least.
    pub confidence: f64,
}

/// The pairs so far and what follows from them.
#[derive(Debug, Clone)]
pub struct Sequential {
    threshold: f64,
    alpha: f64,
    ln_limit: f64,
    ratios: Vec<f64>,
    /// The same in the order in which they came.
    in_order: Vec<f64>,
    above: usize,
    below: usize,
    write_total: u64,
    zero_total: u64,
    decision: Decision,
}

impl Sequential {
    /// No pair yet. `threshold` is a ratio of times; `alpha` the probability of a wrong answer or an interval that
    /// misses, at most: [`ALPHA`], or another one by Ville's inequality alone.
    pub fn new(threshold: f64, alpha: f64) -> Self {
        let (ratios, in_order, decision) = (Vec::new(), Vec::new(), Decision::Open);
        let ln_limit = if alpha == ALPHA { LIMIT.ln() } else { (2.0 / alpha).ln() };
        Sequential {
            threshold,
            alpha,
            ln_limit,
            ratios,
            in_order,
            above: 0,
            below: 0,
            write_total: 0,
            zero_total: 0,
            decision,
        }
    }

    /// Adds a pair: the time of a write and the time of zeroing as much. O(log n) comparisons (and one move of memory).
    pub fn push(&mut self, write: Nanos, zero: Nanos) {
        // A clock that does not see a span has still bounded it by its unit: no division by zero, and every ratio
        // finite.
        let ratio = write.0.max(1) as f64 / zero.0.max(1) as f64;
        let at = self.ratios.partition_point(|&r| r < ratio);
        self.ratios.insert(at, ratio);
        self.in_order.push(ratio);
        self.above += usize::from(ratio > self.threshold);
        self.below += usize::from(ratio < self.threshold);
        self.write_total = self.write_total.saturating_add(write.0);
        self.zero_total = self.zero_total.saturating_add(zero.0);
        // A rejection holds for good: Ville's bound is on ever reaching the limit.
        if self.decision == Decision::Open {
            if ln_stake(self.above, self.len()) >= self.ln_limit {
                self.decision = Decision::Above;
            } else if ln_stake(self.below, self.len()) >= self.ln_limit {
                self.decision = Decision::Below;
            }
        }
    }

    /// What is decided so far.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.ratios.len()
    }

    /// Whether there is no pair yet.
    pub fn is_empty(&self) -> bool {
        self.ratios.is_empty()
    }

    /// The median of the ratios.
    pub fn median(&self) -> Option<f64> {
        median_of_sorted(&self.ratios)
    }

    /// The interval of the median at this moment.
    pub fn interval(&self) -> Interval {
        let n = self.len();
        let c = least_rejecting(n, self.ln_limit);
        Interval {
            low: c.and_then(|c| self.ratios.get(n.checked_sub(c)?).copied()),
            high: c.and_then(|c| self.ratios.get(c.checked_sub(1)?).copied()),
            confidence: 1.0 - self.alpha,
        }
    }

    /// Whether the medians of the first and of the second half lie on different sides of the threshold: the median wandered,
    /// and what the rule takes for granted does not hold.
    pub fn halves_disagree(&self) -> bool {
        let (first, second) = self.in_order.split_at(self.in_order.len() / 2);
        match (median(&mut first.to_vec()), median(&mut second.to_vec())) {
            (Some(first), Some(second)) => (first > self.threshold) != (second > self.threshold),
            _ => false,
        }
    }

    /// All write time over all zeroing time: the ratio of the rates.
    pub fn pooled(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.write_total.max(1) as f64 / self.zero_total.max(1) as f64)
    }

    /// Whether median and pooled ratio lie on different sides of the threshold: rare stalls carry the total.
    pub fn stall_dominated(&self) -> bool {
        match (self.median(), self.pooled()) {
            (Some(median), Some(pooled)) => (median > self.threshold) != (pooled > self.threshold),
            _ => false,
        }
    }
}

/// `ln K(s, n)`: the logarithm of what the mixture of bets is worth after `s` signs for among `n`.
fn ln_stake(s: usize, n: usize) -> f64 {
    let (for_it, against) = (s as f64, n.saturating_sub(s) as f64);
    let worth = BETS.map(|(p, w)| w.ln() + for_it * (2.0 * p).ln() + against * (2.0 * (1.0 - p)).ln());
    // The largest is taken out so that no power overflows or vanishes, however many pairs there are.
    let top = worth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + worth.iter().map(|w| (w - top).exp()).sum::<f64>().ln()
}

/// The least `s` with `ln K(s, n)` at the limit; `None` where not even `n` of `n` suffice.
fn least_rejecting(n: usize, ln_limit: f64) -> Option<usize> {
    if ln_stake(n, n) < ln_limit {
        return None;
    }
    // K(0, n) is never at the limit, K(n, n) is, and K grows with s.
    let (mut short, mut enough) = (0, n);
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if ln_stake(middle, n) >= ln_limit {
            enough = middle
        } else {
            short = middle
        }
    }
    Some(enough)
}

/// The median, the mean of the middle two of an even number; sorts. `None` for no value.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    median_of_sorted(values)
}

/// The median of times in nanoseconds; `None` for no time.
pub fn median_ns(times: &[u64]) -> Option<u64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        Some(upper)
    } else {
        Some((*values.get(values.len() / 2 - 1)? + upper) / 2.0)
    }
}

/// The calls of one length: bytes, and the times of zeroing calls and of zero-filled writes in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rung {
    /// Bytes of a call.
    pub bytes: u64,
    /// Times of zeroing calls.
    pub zero: Vec<u64>,
    /// Times of zero-filled writes.
    pub write: Vec<u64>,
}

/// A length counts once it was issued so often.
pub const LEAST_CALLS: usize = 5;

/// The rungs that were issued often enough: bytes, median time of zeroing and of writing; the shortest first.
fn issued(rungs: &[Rung]) -> Vec<(u64, u64, u64)> {
    let often = |r: &&Rung| r.zero.len() >= LEAST_CALLS && r.write.len() >= LEAST_CALLS;
    let medians = |r: &Rung| Some((r.bytes, median_ns(&r.zero)?, median_ns(&r.write)?));
    let mut rungs: Vec<_> = rungs.iter().filter(often).filter_map(medians).collect();
    rungs.sort_unstable();
    rungs
}

/// The least length that was issued from which on zeroing took no longer than writing zeroes, at every longer one too;
/// `None` where there is none.
pub fn break_even_bytes(rungs: &[Rung]) -> Option<u64> {
    let issued = issued(rungs);
    let good = issued.iter().rev().take_while(|(_, zero, write)| zero <= write);
    good.last().map(|(bytes, _, _)| *bytes)
}

/// Whether zeroing was faster than so many times at every length that was issued often enough, and at least two were.
pub fn fast_at_every_length(rungs: &[Rung], threshold: f64) -> bool {
    let issued = issued(rungs);
    issued.len() > 1 && issued.iter().all(|(_, zero, write)| *write as f64 > threshold * *zero as f64)
}

/// The least length that was issued whose rate of zeroing is nearly (nine tenths of) that of the longest; `None` where fewer
/// than two lengths were.
pub fn chunk_bytes(rungs: &[Rung]) -> Option<u64> {
    let issued = issued(rungs);
    let rate = |(bytes, zero, _): &(u64, u64, u64)| *bytes as f64 / (*zero).max(1) as f64;
    let best = issued.last().filter(|_| issued.len() > 1).map(rate)?;
    issued.iter().find(|rung| rate(rung) >= 0.9 * best).map(|(bytes, _, _)| *bytes)
}

#[cfg(test)]
mod tests;
