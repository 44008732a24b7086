#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use super::*;

/// splitmix64: every run of the tests sees the same numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.next() % n == 0
    }
}

fn pairs_needed(contrary: usize) -> usize {
    (contrary..).find(|&n| ln_stake(n - contrary, n) >= LIMIT.ln()).unwrap()
}

#[test]
fn the_number_of_needed_pairs_is_that_of_the_documentation() {
    assert_eq!([0, 1, 2, 3].map(pairs_needed), [13, 17, 21, 25]);
    let mut s = Sequential::new(2.0, ALPHA);
    for i in 1..=13 {
        assert_eq!(s.decision(), Decision::Open, "after {}", i - 1);
        s.push(Nanos(2900 + i), Nanos(1000));
    }
    assert_eq!((s.decision(), s.len()), (Decision::Above, 13));
    assert_eq!(s.interval(), Interval { low: Some(2.901), high: Some(2.913), confidence: 0.999 });
    assert_eq!(s.median(), Some(2.907));
    let mut s = Sequential::new(2.0, ALPHA);
    (0..13).for_each(|_| s.push(Nanos(1500), Nanos(1000)));
    assert_eq!(s.decision(), Decision::Below);
}

#[test]
fn the_bets_are_a_test_martingale() {
    assert!((BETS.iter().map(|b| b.1).sum::<f64>() - 1.0).abs() < 1e-12, "the stake must start at 1");
    assert!(BETS.iter().all(|b| b.0 >= 0.5 && b.0 < 1.0));
    for n in 0..60 {
        for s in 0..=n {
            let now = ln_stake(s, n).exp();
            let mean = (ln_stake(s + 1, n + 1).exp() + ln_stake(s, n + 1).exp()) / 2.0;
            assert!((mean / now - 1.0).abs() < 1e-9, "{s} of {n}");
            assert!(s == 0 || ln_stake(s, n) > ln_stake(s - 1, n), "grows with s");
        }
    }
}

/// All paths of so many signs, each "for" with probability `q`: the probability that the limit is ever reached.
fn reached(q: f64, pairs: usize) -> f64 {
    let (mut alive, mut reached) = (vec![1.0f64], 0.0);
    for n in 1..=pairs {
        let mut next = vec![0.0; n + 1];
        for (s, p) in alive.iter().enumerate() {
            next[s] += p * (1.0 - q);
            next[s + 1] += p * q;
        }
        if let Some(c) = least_rejecting(n, LIMIT.ln()) {
            reached += next[c..].iter().sum::<f64>();
            next[c..].fill(0.0);
        }
        alive = next;
    }
    reached
}

#[test]
fn the_exact_error_is_half_of_the_promise_in_each_direction() {
    let coin = reached(0.5, 500);
    // The expected stake of the paths still open is the probability that the bets' own coins would still be open.
    let open: f64 = BETS.iter().map(|&(p, w)| w * (1.0 - reached(p, 500))).sum();
    let ever = coin + open / LIMIT;
    assert!(ever <= ALPHA / 2.0 && ever > ALPHA / 2.2, "{ever}");
    assert!(reached(0.45, 500) < coin && reached(0.9, 32) > 0.9);
}

#[test]
fn least_rejecting_gives_the_smallest_count() {
    for n in 0..200 {
        let plain = (0..=n).find(|&s| ln_stake(s, n) >= LIMIT.ln());
        assert_eq!(least_rejecting(n, LIMIT.ln()), plain, "{n}");
    }
}

#[test]
fn answer_and_interval_agree_and_ties_decide_nothing() {
    let mut random = Random(1);
    for _ in 0..300 {
        let mut s = Sequential::new(2.0, ALPHA);
        while s.decision() == Decision::Open && s.len() < 60 {
            s.push(Nanos(1000 + random.next() % 2600), Nanos(1000));
            let i = s.interval();
            assert_eq!(s.decision() == Decision::Above, i.low.is_some_and(|l| l > 2.0));
            assert_eq!(s.decision() == Decision::Below, i.high.is_some_and(|h| h < 2.0));
            let m = s.median().unwrap();
            assert!(i.low.is_none_or(|l| l <= m) && i.high.is_none_or(|h| m <= h));
        }
    }
    let mut s = Sequential::new(2.0, ALPHA);
    (0..1000).for_each(|_| s.push(Nanos(2000), Nanos(1000)));
    assert_eq!((s.decision(), s.interval().low, s.interval().high), (Decision::Open, Some(2.0), Some(2.0)));
}

#[test]
fn simulated_errors_are_rare() {
    let mut random = Random(2);
    let (mut above, mut below, mut missed, runs) = (0, 0, 0, 4000);
    for _ in 0..runs {
        let mut s = Sequential::new(2.0, ALPHA);
        let mut narrowest = (0.0f64, f64::INFINITY);
        for _ in 0..100 {
            let t = if random.one_in(2) { 1900 - random.next() % 900 } else { 2100 + random.next() % 9000 };
            s.push(Nanos(t), Nanos(1000));
            let i = s.interval();
            narrowest = (narrowest.0.max(i.low.unwrap_or(0.0)), narrowest.1.min(i.high.unwrap_or(f64::INFINITY)));
        }
        above += u32::from(s.decision() == Decision::Above);
        below += u32::from(s.decision() == Decision::Below);
        missed += u32::from(narrowest.0 > 2.0 || narrowest.1 < 2.0);
    }
    assert!(above <= 11 && below <= 11 && missed <= 18, "{above} {below} {missed} of {runs}");
}

#[test]
fn a_time_of_zero_causes_no_division_by_zero() {
    let mut s = Sequential::new(2.0, ALPHA);
    assert_eq!((s.median(), s.pooled(), s.stall_dominated(), s.is_empty()), (None, None, false, true));
    assert_eq!(s.interval(), Interval { low: None, high: None, confidence: 0.999 });
    (0..13).for_each(|_| s.push(Nanos(5_000_000), Nanos(0)));
    assert_eq!((s.decision(), s.pooled()), (Decision::Above, Some(65_000_000.0)));
    let mut s = Sequential::new(2.0, ALPHA);
    (0..13).for_each(|_| s.push(Nanos(0), Nanos(0)));
    assert_eq!((s.decision(), s.median()), (Decision::Below, Some(1.0)));
    s.push(Nanos(u64::MAX), Nanos(u64::MAX));
    s.push(Nanos(u64::MAX), Nanos(u64::MAX));
    assert!(s.pooled().unwrap().is_finite());
}

#[test]
fn stalls_are_detected() {
    let mut s = Sequential::new(2.0, ALPHA);
    (0..11).for_each(|_| s.push(Nanos(3000), Nanos(1000)));
    assert!(!s.stall_dominated());
    s.push(Nanos(3000), Nanos(100_000));
    assert!(s.stall_dominated());
}

#[test]
fn figures_of_many_pairs_stay_finite() {
    assert!(ln_stake(1_000_000, 1_000_000).is_finite() && ln_stake(0, 1_000_000).is_finite());
    let c = least_rejecting(100_000, LIMIT.ln()).unwrap();
    assert!(c > 50_000 && c < 56_000, "{c}");
}

#[test]
fn medians_of_even_and_odd_counts() {
    assert_eq!(median(&mut []), None);
    assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
}

#[test]
fn hints_come_from_lengths_that_were_issued_five_times() {
    let rung = |bytes, zero: u64, write: u64, n: usize| Rung { bytes, zero: vec![zero; n], write: vec![write; n] };
    // A call costs 100 and a byte a hundredth to zero, a tenth to write.
    let rungs: Vec<Rung> =
        [1_000u64, 4_000, 16_000, 64_000].iter().map(|b| rung(*b, 1_000 + b / 100, b / 2, 5)).collect();
    assert_eq!(break_even_bytes(&rungs), Some(4_000));
    assert_eq!(chunk_bytes(&rungs), Some(64_000), "longer calls are still better");
    let flat: Vec<Rung> = [1_000u64, 4_000, 16_000].iter().map(|b| rung(*b, b / 10, b / 2, 5)).collect();
    assert_eq!((chunk_bytes(&flat), break_even_bytes(&flat)), (Some(1_000), Some(1_000)));
    let worse: Vec<Rung> = [1_000u64, 4_000].iter().map(|b| rung(*b, b * 2, *b, 5)).collect();
    assert_eq!(break_even_bytes(&worse), None);
    // Four times is not often enough.
    let seldom = [rung(1_000, 1, 9, 4), rung(4_000, 4, 36, 5)];
    assert_eq!((break_even_bytes(&seldom), chunk_bytes(&seldom)), (Some(4_000), None));
    assert_eq!((break_even_bytes(&[]), chunk_bytes(&[])), (None, None));
}

#[test]
fn a_median_that_moves_across_the_threshold_is_noticed() {
    let of = |first: u64, second: u64| {
        let mut s = Sequential::new(2.0, ALPHA);
        (0..12).for_each(|i| s.push(Nanos(if i < 6 { first } else { second }), Nanos(100)));
        s.halves_disagree()
    };
    assert!(of(100, 900) && of(900, 100));
    assert!(!of(300, 900) && !of(100, 150));
    assert!(!Sequential::new(2.0, ALPHA).halves_disagree());
}
