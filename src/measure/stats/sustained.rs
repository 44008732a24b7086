//! What one long uninterrupted sequence says: **D1 W D2 Z R**, each over as many bytes. D1 writes data; W data, then zeroes by
//! ordinary writes; D2 data; Z data, then zeroes it; R data again. Numbers in, numbers out.
//!
//! A device may owe what zeroing seems to cost nothing: it is paid by the next write, the next flush, or while the device is
//! read or idle. So nothing is read in between, and all that follows zeroing is charged to it:
//!
//! `gain = W - D`, the zero-filled writes alone, which zeroing saves; `cost = Z + R - 2 D`, the zeroing and all that data
//! writes took longer for it, but no less than the time inside the zeroing calls. `D` is the mean of D1 and D2, which a device
//! that is the same all the time does in the same time: half the variance of either.
//!
//! Zeroing is faster than `r` times where `gain - r (cost + excess)` is above three standard errors; `excess` is what the
//! worst zeroing call took beyond the median one, so that the stall that was just missed would not have turned the answer.
//! It is not where `gain - r cost` is below minus three standard errors; else that is open. Where D1 and D2 differ, what is seen
//! of the cost may as well be the device's own change, so that only "faster" can be said, and only where it holds against the
//! faster of the two, with the gain scaled to it, and R did not become faster still. Totals decide, no median: what
//! a caller pays is the total. Standard errors are those of the single calls' times: the variance of a sum of n calls is n
//! times that of one.
//!
//! Single calls are not independent where a device stalls every so many bytes, or where each pass pays for the one before it:
//! their variance then says far more than the total varies. So that zeroing is *not* faster may also be seen from the
//! variance of the difference over equal parts of the sequence: its passes, or so many pieces. As few parts vary by chance, the
//! quantiles are Student's, each at half of the error, since both are looked at. "Faster" never rests on these.
//!
//! No method bounds a mean under heavy tails: over N bytes, stalls rarer than one in N/7 bytes are missed once in 1000.

/// How many standard errors an answer is away from the threshold.
const CLEAR: f64 = 3.0;
/// Equal parts of a sequence that is cut for the variance over parts.
const PIECES: usize = 14;
/// Student's quantiles at 1 - 0.0005, for 1, 2, … degrees of freedom; the last for all that are more.
const STUDENT: [f64; 16] =
    [636.6, 31.60, 12.92, 8.61, 6.87, 5.96, 5.41, 5.04, 4.78, 4.59, 4.44, 4.32, 4.22, 4.14, 4.07, 4.01];
/// A call that takes more than so many medians is a stall.
const STALL: u64 = 4;
/// D1 and D2 differ by more than this part of D2, and by [`CLEAR`]: the device was not the same all the time.
const DRIFT: f64 = 0.10;
/// R's second half takes longer than that of any data written before the zeroing by more than this part, and by so many standard
/// errors: zeroing still owes.
const OWING: (f64, f64) = (0.05, 2.0);

/// The times of one kind of call, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calls(pub Vec<u64>);

impl Calls {
    fn total(&self) -> f64 {
        self.0.iter().map(|t| *t as f64).sum()
    }

    /// The variance of the total.
    fn variance(&self) -> f64 {
        let n = self.0.len() as f64;
        if n < 2.0 {
            return 0.0;
        }
        let mean = self.total() / n;
        self.0.iter().map(|t| (*t as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0) * n
    }

    fn second_half(&self) -> Calls {
        Calls(self.0[self.0.len() / 2..].to_vec())
    }

    fn excess(&self) -> f64 {
        let (worst, median) = (self.0.iter().max().copied().unwrap_or(0), super::median_ns(&self.0).unwrap_or(0));
        (worst - median) as f64
    }
}

/// One of the five parts: its calls, and the time that its flushes took besides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// Writes of data.
    pub data: Calls,
    /// Zero-filled writes (W), or zeroing calls (Z).
    pub zeroes: Calls,
    /// Flushes at the ends of the passes.
    pub flushes: Calls,
}

impl Part {
    fn total(&self) -> f64 {
        self.data.total() + self.zeroes.total() + self.flushes.total()
    }

    fn variance(&self) -> f64 {
        self.data.variance() + self.zeroes.variance() + self.flushes.variance()
    }

    /// The `k`-th of so many equal parts, in the order in which they were made.
    fn piece(&self, k: usize, of: usize) -> Part {
        let cut = |calls: &Calls| Calls(calls.0[calls.0.len() * k / of..calls.0.len() * (k + 1) / of].to_vec());
        Part { data: cut(&self.data), zeroes: cut(&self.zeroes), flushes: cut(&self.flushes) }
    }
}

/// The whole sequence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sustained {
    /// Bytes of each part: data of D1, zeroes of W, and so on.
    pub bytes: u64,
    /// See the module.
    pub d1: Part,
    /// See the module.
    pub w: Part,
    /// See the module.
    pub d2: Part,
    /// See the module.
    pub z: Part,
    /// See the module.
    pub r: Part,
}

/// What a sequence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Zeroing is surely faster than the threshold.
    Faster,
    /// It surely is not.
    NotFaster,
    /// Neither is sure.
    Open,
    /// The device was not the same at the beginning and in the middle.
    NotStationary,
}

impl Sustained {
    /// What zero-filled writes took, which zeroing saves, in nanoseconds.
    pub fn gain(&self) -> f64 {
        self.w.total() - self.plain()
    }

    /// What zeroing took, and what it left for others to pay, in nanoseconds.
    pub fn cost(&self) -> f64 {
        self.owed().max(self.z.zeroes.total())
    }

    fn owed(&self) -> f64 {
        self.z.total() + self.r.total() - 2.0 * self.plain()
    }

    /// What data alone takes.
    fn plain(&self) -> f64 {
        (self.d1.total() + self.d2.total()) / 2.0
    }

    fn plain_variance(&self) -> f64 {
        (self.d1.variance() + self.d2.variance()) / 4.0
    }

    /// How many times as fast zeroing is over the whole stretch; `None` where the cost is not clear of nothing.
    pub fn speedup(&self) -> Option<f64> {
        let error = (self.z.variance() + self.r.variance() + 4.0 * self.plain_variance()).sqrt();
        let cost = self.cost();
        // The time inside the calls is there whatever the noise of what lies around it.
        let sure = self.z.zeroes.total() > 0.0 && cost > CLEAR * error || self.owed() <= self.z.zeroes.total();
        (cost > 0.0 && sure && self.gain() > 0.0).then(|| self.gain() / cost)
    }

    /// Whether data was written at another speed in the middle than at the beginning.
    pub fn drifted(&self) -> bool {
        let (before, after) = (self.d1.total(), self.d2.total());
        let error = (self.d1.variance() + self.d2.variance()).sqrt();
        (before - after).abs() > DRIFT * after && (before - after).abs() > CLEAR * error
    }

    /// Whether data is still written more slowly at the end: zeroing owes, and nobody saw how much.
    pub fn owes(&self) -> bool {
        let r = self.r.data.second_half();
        // Slower than at any time before anything was zeroed: a device wanders a little of itself.
        [&self.d1, &self.w, &self.d2].iter().all(|part| {
            let before = part.data.second_half();
            let more = r.total() - before.total();
            more > OWING.0 * before.total() && more > OWING.1 * (r.variance() + before.variance()).sqrt()
        })
    }

    /// Whether single calls of zeroing took much longer than the usual one.
    pub fn stalled(&self) -> bool {
        let median = super::median_ns(&self.z.zeroes.0).unwrap_or(0);
        self.z.zeroes.0.iter().any(|t| *t > median.saturating_mul(STALL))
    }

    /// The standard error of `gain - threshold cost`; `inside`: where the cost is the time inside the calls.
    fn error(&self, threshold: f64, inside: bool) -> f64 {
        let [w, z, r] = [&self.w, &self.z, &self.r].map(Part::variance);
        let plain = self.plain_variance();
        let variance = match inside {
            true => w + plain + threshold.powi(2) * self.z.zeroes.variance(),
            false => w + (2.0 * threshold - 1.0).powi(2) * plain + threshold.powi(2) * (z + r),
        };
        variance.sqrt()
    }

    /// Whether zeroing is faster than so many times, over the whole stretch.
    pub fn answer(&self, threshold: f64) -> Answer {
        if self.drifted() {
            return self.answer_of_a_changing_device(threshold);
        }
        let inside = self.owed() <= self.z.zeroes.total();
        let error = CLEAR * self.error(threshold, inside);
        let (gain, cost) = (self.gain(), self.cost());
        if gain - threshold * cost < -error || self.is_slower_by_parts(threshold) {
            Answer::NotFaster
        } else if gain - threshold * (cost + self.z.zeroes.excess()) > error && !self.owes() {
            Answer::Faster
        } else {
            Answer::Open
        }
    }

    /// Whether it is surely not faster, by how the difference varies over the passes, or over [`PIECES`].
    fn is_slower_by_parts(&self, threshold: f64) -> bool {
        let passes = self.r.flushes.0.len();
        let inside = self.owed() <= self.z.zeroes.total();
        [passes, PIECES].into_iter().filter(|n| *n > 1 && *n <= self.r.data.0.len()).any(|n| {
            let differences: Vec<f64> = (0..n)
                .map(|k| {
                    let [d1, w, d2, z, r] = [&self.d1, &self.w, &self.d2, &self.z, &self.r].map(|p| p.piece(k, n));
                    let part = Sustained { bytes: 0, d1, w, d2, z, r };
                    part.gain() - threshold * if inside { part.z.zeroes.total() } else { part.owed() }
                })
                .collect();
            let total: f64 = differences.iter().sum();
            let mean = total / n as f64;
            let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0) * n as f64;
            total < -STUDENT[(n - 2).min(STUDENT.len() - 1)] * variance.sqrt()
        })
    }

    fn answer_of_a_changing_device(&self, threshold: f64) -> Answer {
        let plain = self.d1.total().min(self.d2.total());
        let still_faster = self.r.total() < (1.0 - DRIFT) * self.d2.total();
        let gain = self.w.zeroes.total() * (plain / self.w.data.total().max(1.0)).min(1.0);
        let cost = (self.z.total() + self.r.total() - 2.0 * plain).max(self.z.zeroes.total());
        let sure = gain - threshold * (cost + self.z.zeroes.excess()) > CLEAR * self.error(threshold, false);
        if sure && !still_faster && !self.owes() {
            Answer::Faster
        } else {
            Answer::NotStationary
        }
    }

    /// How many times as fast zero-filled writes are as writes of data; `None` where nothing was written.
    pub fn zero_writes_are_cheaper(&self) -> Option<f64> {
        let (data, zeroes) = (self.w.data.total(), self.w.zeroes.total());
        (data > 0.0 && zeroes > 0.0).then(|| data / zeroes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of sixteen calls a part on a device whose calls take these times.
    fn of(data: u64, zero_write: u64, zero: u64, after: u64) -> Sustained {
        let calls = |t: u64| Calls((0..16).map(|i| t * (100 + i % 3) / 100).collect());
        let part = |data, zeroes| Part { data: calls(data), zeroes: calls(zeroes), flushes: Calls::default() };
        let none = |data| Part { data: calls(data), ..Part::default() };
        Sustained {
            bytes: 16,
            d1: none(data),
            w: part(data, zero_write),
            d2: none(data),
            z: part(after, zero),
            r: none(after),
        }
    }

    #[test]
    fn plain_devices_are_told_apart() {
        let fast = of(1_000_000, 1_000_000, 100_000, 1_000_000);
        assert_eq!(fast.answer(2.0), Answer::Faster);
        assert!((fast.speedup().unwrap() / 10.0 - 1.0).abs() < 0.05, "{:?}", fast.speedup());
        assert_eq!(of(1_000_000, 1_000_000, 1_000_000, 1_000_000).answer(2.0), Answer::NotFaster);
        assert_eq!(of(1_000_000, 1_000_000, 500_000, 1_000_000).answer(2.0), Answer::Open, "at the threshold");
        // Zero-filled writes are cheap: zeroing gains little over them.
        assert_eq!(of(1_000_000, 100_000, 100_000, 1_000_000).answer(2.0), Answer::NotFaster);
        assert!((of(1_000_000, 100_000, 100_000, 1_000_000).zero_writes_are_cheaper().unwrap() - 10.0).abs() < 0.1);
    }

    #[test]
    fn what_the_next_writes_pay_is_charged_to_zeroing() {
        let debt = of(1_000_000, 1_000_000, 100_000, 2_500_000);
        assert_eq!(debt.answer(2.0), Answer::NotFaster);
        assert!(debt.owes());
        let mut late = of(1_000_000, 1_000_000, 100_000, 1_000_000);
        late.r.data.0[8..].iter_mut().for_each(|t| *t = *t * 12 / 10);
        assert_ne!(late.answer(2.0), Answer::Faster, "data is still slower at the end");
    }

    #[test]
    fn one_stall_that_would_turn_the_answer_leaves_it_open_or_turns_it() {
        let mut stalls = of(1_000_000, 1_000_000, 100_000, 1_000_000);
        stalls.z.zeroes.0[3] = 5_000_000;
        assert_eq!(stalls.answer(2.0), Answer::Open);
        assert!(stalls.stalled());
        stalls.z.zeroes.0.iter_mut().step_by(4).for_each(|t| *t = 8_000_000);
        assert_ne!(stalls.answer(2.0), Answer::Faster);
        assert!(!of(1_000_000, 1_000_000, 1_000_000, 1_000_000).stalled());
    }

    #[test]
    fn stalls_at_equal_distances_are_decided() {
        // A stall every fourth call; all told zeroing is half as fast as writing.
        let mut stalls = of(1_000_000, 1_000_000, 100_000, 1_000_000);
        for part in [&mut stalls.d1, &mut stalls.w, &mut stalls.d2, &mut stalls.z, &mut stalls.r] {
            part.data.0 = part.data.0.repeat(3);
            part.zeroes.0 = part.zeroes.0.repeat(3);
        }
        let mut plain = stalls.clone();
        stalls.z.zeroes.0.iter_mut().step_by(4).for_each(|t| *t = 5_700_000);
        assert_eq!(stalls.answer(2.0), Answer::NotFaster);
        // As many, where chance put them, say no more than they did.
        stalls.z.zeroes.0.sort_unstable();
        assert_eq!(stalls.answer(2.0), Answer::Open);
        // Each pass of four calls pays for the one before it; the first of R for the last of Z.
        let flushes = |n| Calls(vec![1000; n]);
        for (part, n) in
            [(&mut plain.d1, 12), (&mut plain.w, 24), (&mut plain.d2, 12), (&mut plain.z, 24), (&mut plain.r, 12)]
        {
            part.flushes = flushes(n);
        }
        assert_eq!(plain.answer(2.0), Answer::Faster);
        plain.z.data.0.iter_mut().skip(4).step_by(4).for_each(|t| *t = 7_000_000);
        plain.r.data.0[0] = 7_000_000;
        assert_eq!(plain.answer(2.0), Answer::NotFaster);
    }

    #[test]
    fn a_device_that_changes_in_between_is_not_judged() {
        let mut drifted = of(1_000_000, 1_000_000, 100_000, 1_000_000);
        drifted.d1.data.0.iter_mut().for_each(|t| *t /= 10);
        assert_eq!(drifted.answer(2.0), Answer::NotStationary);
        // Against the faster of the two it is fast all the same.
        let mut slower = of(1_000_000, 1_000_000, 50_000, 1_000_000);
        slower.d1.data.0.iter_mut().for_each(|t| *t = *t * 12 / 10);
        assert!(slower.drifted());
        assert_eq!(slower.answer(2.0), Answer::Faster);
        // A device that became faster still may owe what nobody sees.
        slower.r.data.0.iter_mut().for_each(|t| *t /= 2);
        assert_eq!(slower.answer(2.0), Answer::NotStationary);
        // Of one that changes nobody can say that zeroing is slow.
        let mut slow = of(1_000_000, 1_000_000, 1_000_000, 1_000_000);
        slow.d2.data.0.iter_mut().for_each(|t| *t = *t * 12 / 10);
        assert_eq!(slow.answer(2.0), Answer::NotStationary);
    }

    #[test]
    fn no_measurement_gives_no_conclusion() {
        let none = Sustained::default();
        assert_eq!((none.answer(2.0), none.speedup(), none.zero_writes_are_cheaper()), (Answer::Open, None, None));
    }
}
