//! Turns the result of a run into what is kept: classes, rates, hints, findings. It is pure.

use crate::facts::Facts;
use crate::measure::conclusion::{Conclusion, Unsure};
use crate::measure::outcome::{End, MethodRun, Outcome};
use crate::measure::stats::{self, Decision};
use crate::policy::Policy;
use crate::terms::{Class, FindingCode};
use crate::units::{human_bytes, rate};
use crate::verdict::fingerprint;
use crate::verdict::measurement::{
    Deep, Hints, Interference, Measurement, MethodResult, ModeResult, RecordedHazard, Speedup, Sustained, TestFinding,
    FORMAT,
};

/// From so many times on, zero-filled writes are not written as they are: dedupe, zero detection, compression.
const ELIDED: f64 = 2.0;

/// What the run was made under.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// When it began, RFC 3339.
    pub at: String,
    /// The kind of scratch.
    pub scratch: String,
    /// The proof.
    pub proof: Vec<String>,
    /// Offsets were multiples of this,
    pub unit: u64,
    /// and those of ragged spans of this.
    pub block: u64,
    /// From this ratio on zeroing is fast.
    pub fast_ratio: f64,
    /// Bytes written besides the run's own: the put-back.
    pub put_back: u64,
    /// Findings besides the run's own.
    pub found: Vec<TestFinding>,
    /// `--tune`: the modes that were tried.
    pub modes: Vec<ModeResult>,
    /// The best of them, under which the numbers were taken.
    pub zeroing_mode: Option<String>,
    /// `--interference`.
    pub interference: Option<Interference>,
    /// `--deep`.
    pub deep: Option<Deep>,
}

impl Conditions {
    /// Of what is kept although no test was made: when, where (or `dir`), and the checks.
    pub fn without_test(at: String, scratch: &str, proof: Vec<String>) -> Conditions {
        Conditions {
            at,
            scratch: scratch.to_owned(),
            proof,
            fast_ratio: Policy::default().fast_ratio,
            ..Conditions::default()
        }
    }
}

/// A measurement with nothing in it yet.
pub fn blank(facts: &Facts, conditions: &Conditions) -> Measurement {
    let tuned = conditions.zeroing_mode.as_ref().map(|mode| fingerprint::in_mode(facts, mode));
    let facts = tuned.as_ref().unwrap_or(facts);
    let of = fingerprint::lines(facts);
    Measurement {
        format: FORMAT,
        identity: facts.names.identity.as_ref().map(|i| i.as_str().to_owned()),
        instance: facts.names.instance.clone(),
        at: conditions.at.clone(),
        kernel: facts.kernel.known().cloned().unwrap_or_default(),
        fingerprint: fingerprint::digest(&of),
        fingerprint_of: of,
        class: Class::Unknown,
        method: None,
        zeroes_verified: false,
        zero_bytes_per_second: None,
        write_bytes_per_second: None,
        data_write_bytes_per_second: None,
        overwrite_after_zero_bytes_per_second: None,
        sustained: None,
        speedup: None,
        fast_ratio: conditions.fast_ratio,
        methods: Vec::new(),
        hints: Hints::default(),
        zeroing_mode: conditions.zeroing_mode.clone(),
        modes: conditions.modes.clone(),
        hazard: None,
        findings: Vec::new(),
        limits: fingerprint::limits(facts),
        trials: 0,
        segment_bytes: 0,
        bytes_written: 0,
        seconds: 0.0,
        baseline: "zeroes".to_owned(),
        scratch: conditions.scratch.clone(),
        proof: conditions.proof.clone(),
        overwrite: None,
        interference: None,
        deep: None,
        inconclusive: None,
    }
}

/// What is kept of a run.
pub fn of_run(facts: &Facts, conditions: &Conditions, run: &Outcome) -> Measurement {
    let mut m = blank(facts, conditions);
    m.method = Some(run.deciding);
    m.trials = u32::try_from(run.pairs.len()).unwrap_or(u32::MAX);
    m.segment_bytes = run.segment;
    m.bytes_written = run.bytes_written + conditions.put_back;
    m.seconds = run.took.as_secs_f64();
    m.write_bytes_per_second = rate(run.written.0, run.written.1);
    m.data_write_bytes_per_second = rate(run.data_written.0, run.data_written.1);
    m.overwrite_after_zero_bytes_per_second = rate(run.overwritten.0, run.overwritten.1);
    m.sustained = run.sustained.as_ref().map(|s| Sustained { bytes: s.bytes, speedup: s.speedup() });
    let deciding = run.methods.iter().find(|r| r.method == run.deciding);
    m.zero_bytes_per_second = deciding.and_then(|r| rate(r.zeroed.0, r.zeroed.1));
    m.zeroes_verified = deciding.is_some_and(|r| r.verified == Some(true)) && !matches!(run.end, End::Wrong(_));
    m.speedup = run.pairs.median().filter(|r| r.is_finite()).map(|median| {
        let interval = run.pairs.interval();
        let finite = |e: Option<f64>| e.filter(|e| e.is_finite());
        Speedup { median, low: finite(interval.low), high: finite(interval.high), confidence: interval.confidence }
    });
    m.hints = hints(run, conditions);
    (m.interference, m.deep) = (conditions.interference, conditions.deep.clone());
    m.findings = findings(run, m.fast_ratio);
    conditions.found.iter().for_each(|f| add_finding(&mut m.findings, f.code, &f.text));
    m.class = class(run, &mut m);
    if let Some(text) = past_cache(&m) {
        add_finding(&mut m.findings, FindingCode::NotSustained, &text);
        m.class = Class::Slow;
    }
    m.methods = run.methods.iter().map(|r| method(r, (r.method == run.deciding).then_some(m.class))).collect();
    m
}

/// A long span that is not faster by zeroing although the pairs are: what they saved was a cache's.
fn past_cache(m: &Measurement) -> Option<String> {
    let deep = m.deep.as_ref().filter(|_| m.class == Class::Fast)?;
    let ratio = deep.ratio.filter(|r| *r < m.fast_ratio)?;
    let bytes = human_bytes(deep.bytes);
    Some(format!("over a stretch of {bytes} zeroing is only {ratio:.1} times as fast as writing"))
}

/// The class by what happened, then by the numbers.
fn class(run: &Outcome, m: &mut Measurement) -> Class {
    match &run.end {
        End::Wrong(wrong) => {
            m.hazard =
                Some(RecordedHazard { hazard: wrong.hazard, method: Some(wrong.method), text: wrong.text.clone() });
            return Class::Broken;
        }
        End::NotSupported => return Class::None,
        End::Failed(operation, error) => m.inconclusive = Some(format!("{operation}: {error}")),
        End::Complete => {}
    }
    // A run that could not go on says nothing by its numbers.
    if m.inconclusive.is_some() {
        return Class::Unknown;
    }
    let mut found = |code, text: &str| add_finding(&mut m.findings, code, text);
    match run.conclusion(m.fast_ratio) {
        Conclusion::Faster => {
            if let Some(text) = short(run) {
                found(FindingCode::ShortScratch, &text);
            }
            Class::Fast
        }
        Conclusion::NotFaster { only_bursts, stalls } => {
            if only_bursts {
                found(FindingCode::NotSustained, &not_sustained(run));
            }
            if stalls {
                found(FindingCode::StallDominated, "rare slow calls of zeroing make the long stretch slow");
            }
            Class::Slow
        }
        Conclusion::Open(why) => {
            let text = why.to_string();
            match why {
                Unsure::PairsWandered | Unsure::StretchWandered | Unsure::Contradiction => {
                    found(FindingCode::NotStationary, &text);
                }
                Unsure::Owes => found(FindingCode::DeferredCost, &text),
                Unsure::Stretch { stalls: true } => found(FindingCode::StallDominated, &text),
                Unsure::Stretch { stalls: false } | Unsure::Pairs(_) | Unsure::NoStretch(_) => {}
            }
            m.inconclusive = Some(text);
            Class::Unknown
        }
    }
}

/// Leaves of a measurement what a test in a file tells whose bytes the file system moved: rates, and no class.
pub fn only_rates(m: &mut Measurement, why: &str) {
    (m.class, m.hazard, m.zeroes_verified) = (Class::Unknown, None, false);
    (m.speedup, m.sustained, m.hints) = (None, None, Hints::default());
    m.methods.iter_mut().for_each(|method| (method.class, method.verified) = (None, None));
    m.findings = vec![TestFinding { code: FindingCode::MovedByFilesystem, text: why.to_owned() }];
    m.inconclusive = Some(why.to_owned());
}

/// What of a new measurement contradicts the one that was kept, where both decided: another class, or intervals that do not
/// touch.
pub fn contradiction(before: &Measurement, now: &Measurement) -> Option<String> {
    let decided = |m: &Measurement| matches!(m.class, Class::Fast | Class::Slow);
    if !decided(before) || !decided(now) {
        return None;
    }
    let told = |m: &Measurement| {
        let times =
            m.speedup.map_or_else(String::new, |s| format!(", {:.2} times as fast as writing zeroes", s.median));
        format!("{} ({}{times})", m.class, m.at)
    };
    let apart = before.speedup.zip(now.speedup).is_some_and(|(a, b)| {
        a.high.zip(b.low).is_some_and(|(high, low)| high < low)
            || a.low.zip(b.high).is_some_and(|(low, high)| low > high)
    });
    // Ratios against another baseline say nothing of each other, nor do those of the device and of a file on it.
    let comparable = (&before.baseline, before.method) == (&now.baseline, now.method);
    (before.class != now.class || apart && comparable)
        .then(|| format!("it was {}, now it is {}", told(before), told(now)))
}

/// That a stretch was shorter than what a usual cache or queue holds, which would look the same.
fn short(run: &Outcome) -> Option<String> {
    let bytes = run.sustained.as_ref()?.bytes;
    let wanted = run.sustained_wanted;
    (bytes < wanted).then(|| {
        let why = run.sustained_short.map_or_else(String::new, |why| format!(" ({why})"));
        format!(
            "only {} of {} were zeroed in one stretch{why}; a device that defers more work than that would look the \
             same",
            human_bytes(bytes),
            human_bytes(wanted)
        )
    })
}

fn not_sustained(run: &Outcome) -> String {
    let (bytes, times) = run.sustained.as_ref().map_or((0, None), |s| (s.bytes, s.speedup()));
    let times = times.map_or_else(|| "not faster".to_owned(), |t| format!("{t:.2} times as fast"));
    let bytes = human_bytes(bytes);
    let single = match run.pairs.decision() {
        Decision::Open => "single calls do not decide, and",
        _ => "single calls zero fast, but",
    };
    format!(
        "{single} over a stretch of {bytes} zeroing is {times} as writing zeroes when all later costs are \
             charged to it"
    )
}

fn method(run: &MethodRun, class: Option<Class>) -> MethodResult {
    MethodResult {
        method: run.method,
        class,
        zero_bytes_per_second: rate(run.zeroed.0, run.zeroed.1),
        error: run.error.clone(),
        verified: run.verified,
    }
}

/// Only from what was issued: the block, where ragged spans were zeroed to it; lengths of calls.
fn hints(run: &Outcome, conditions: &Conditions) -> Hints {
    Hints {
        alignment_bytes: Some(if run.edges { conditions.block } else { conditions.unit }),
        chunk_bytes: stats::chunk_bytes(&run.rungs),
        break_even_bytes: stats::break_even_bytes(&run.rungs),
    }
}

/// One finding a code: readers look for the first.
fn add_finding(found: &mut Vec<TestFinding>, code: FindingCode, text: &str) {
    match found.iter_mut().find(|f| f.code == code) {
        Some(f) => f.text = format!("{}; {text}", f.text),
        None => found.push(TestFinding { code, text: text.to_owned() }),
    }
}

fn findings(run: &Outcome, threshold: f64) -> Vec<TestFinding> {
    let mut found = Vec::new();
    run.changed_limits.iter().for_each(|line| add_finding(&mut found, FindingCode::LimitsChangedByTest, line));
    if let Some((punch, zeroes)) = run.disagreement() {
        let text = format!("punch-hole is {punch:.2} times as fast as writing, write-zeroes {zeroes:.2} times");
        found.push(TestFinding { code: FindingCode::MethodsDisagree, text });
    }
    for (method, ratio) in run.slower_calls(threshold) {
        let text = format!("{method} is only {ratio:.2} times as fast as writing zeroes, although punch-hole is fast");
        add_finding(&mut found, FindingCode::MethodsDisagree, &text);
    }
    if let Some(times) = run.sustained.as_ref().and_then(|s| s.zero_writes_are_cheaper()).filter(|t| *t >= ELIDED) {
        let text = format!(
            "writing zeroes is {times:.1} times as fast as writing data, so on this device it is as \
                            good as zeroing"
        );
        found.push(TestFinding { code: FindingCode::ZeroWritesElided, text });
    }
    if let Some(times) = run.deferred_cost() {
        let text = format!(
            "zeroing and then writing data takes {times:.1} times as long as writing zeroes and then data, so the \
             next write pays for what zeroing saves"
        );
        found.push(TestFinding { code: FindingCode::DeferredCost, text });
    }
    found
}
