//! One case an arm, and what stands before what.

use super::*;
use crate::facts::testing::with;
use crate::policy::Sourced;
use crate::terms::{Hazard, Method};
use crate::verdict::context::{CutOff, ModelEntry};
use crate::verdict::fingerprint;
use crate::verdict::measurement::{Hints, RecordedHazard, Speedup, FORMAT};
use proptest::prelude::*;

#[path = "decide_edge_tests.rs"]
mod edges;

fn disk(limit: &str) -> Facts {
    with(
        "sda",
        &[
            ("device/wwid", "naa.5000\n"),
            ("device/rev", "1\n"),
            ("queue/write_zeroes_max_bytes", limit),
            ("queue/write_zeroes_unmap_max_hw_bytes", limit),
            ("queue/write_zeroes_unmap_max_bytes", limit),
        ],
    )
}

fn measurement(facts: &Facts, class: Class, median: f64) -> Measurement {
    let lines = fingerprint::lines(facts);
    Measurement {
        format: FORMAT,
        identity: facts.names.identity.as_ref().map(ToString::to_string),
        instance: crate::device::Instance::default(),
        at: "2026-11-30T08:00:00Z".to_owned(),
        kernel: "7.3.4".to_owned(),
        fingerprint: fingerprint::digest(&lines),
        fingerprint_of: lines,
        class,
        method: Some(Method::PunchHole),
        zeroes_verified: true,
        zero_bytes_per_second: Some(2),
        write_bytes_per_second: Some(1),
        data_write_bytes_per_second: None,
        overwrite_after_zero_bytes_per_second: None,
        sustained: None,
        speedup: Some(Speedup { median, low: Some(median * 0.9), high: Some(median * 1.1), confidence: 0.999 }),
        fast_ratio: 2.0,
        methods: Vec::new(),
        hints: Hints::default(),
        zeroing_mode: None,
        modes: Vec::new(),
        hazard: None,
        findings: Vec::new(),
        limits: fingerprint::limits(facts),
        trials: 14,
        segment_bytes: 1 << 24,
        bytes_written: 0,
        seconds: 1.0,
        baseline: "incompressible".to_owned(),
        scratch: "partition".to_owned(),
        proof: Vec::new(),
        overwrite: None,
        interference: None,
        deep: None,
        inconclusive: None,
    }
}

fn pinned(class: Class) -> Policy {
    Policy { class: Some(Sourced { value: class, from: "99-pins.toml:3".to_owned() }), ..Policy::default() }
}

fn judge(facts: &Facts, m: Option<&Measurement>, policy: &Policy, context: &Context) -> (Class, Option<Basis>) {
    let v = decide(facts, &[], m, policy, context);
    (v.class, v.basis)
}

#[test]
fn a_hazard_stands_before_every_pin_but_one_that_names_it() {
    let now = disk("8388608");
    let mut m = measurement(&disk("8388608"), Class::Broken, 3.0);
    m.hazard = Some(RecordedHazard {
        hazard: Hazard::OldDataLeft,
        method: Some(Method::PunchHole),
        text: "at 4096".to_owned(),
    });
    m.fingerprint_of.insert("firmware".to_owned(), "0".to_owned());
    m.fingerprint = fingerprint::digest(&m.fingerprint_of);
    let none = Context::default();
    let broken = (Class::Broken, Some(Basis::Measured));
    assert_eq!(judge(&now, Some(&m), &Policy::default(), &none), broken, "whatever the fingerprint");
    let off = decide(&disk("0"), &[], Some(&m), &pinned(Class::Fast), &none);
    assert_eq!((off.class, off.basis), (Class::None, None), "without an offload it is about nothing");
    let codes: Vec<FindingCode> = off.findings.iter().map(|f| f.code).collect();
    assert!(codes.contains(&FindingCode::OldDataLeft) && codes.contains(&FindingCode::PinWithoutOffload), "{codes:?}");
    let mut policy = pinned(Class::Fast);
    policy.accept = Some(Sourced { value: Hazard::NoAnswer, from: String::new() });
    assert_eq!(judge(&now, Some(&m), &policy, &none), broken, "another hazard is accepted");
    policy.accept = Some(Sourced { value: Hazard::OldDataLeft, from: String::new() });
    let v = decide(&now, &[], Some(&m), &policy, &none);
    assert_eq!((v.class, v.basis), (Class::Fast, Some(Basis::Policy)));
    assert!(v.findings.iter().any(|f| f.code == FindingCode::OldDataLeft), "the finding stays");
    let hung = RecordedHazard { hazard: Hazard::NoAnswer, method: None, text: "pid 7".to_owned() };
    let both = Context { hazard: Some(hung), ..Context::default() };
    assert_eq!(judge(&now, Some(&m), &policy, &both), broken, "one hazard of two is accepted");
    let declared = Policy { hazard: policy.accept.clone(), ..Policy::default() };
    assert_eq!(judge(&now, None, &declared, &none), (Class::Broken, Some(Basis::Policy)));
}

#[test]
fn limit_then_pin_then_cut_off_while_zeroing_then_measurement_then_model() {
    let now = disk("8388608");
    let off = disk("0");
    let m = measurement(&now, Class::Slow, 0.8);
    let model =
        Context { model: Some(ModelEntry { class: Class::Fast, from: "hwdb".to_owned() }), ..Context::default() };
    assert_eq!(judge(&off, Some(&m), &pinned(Class::Slow), &model), (Class::None, None));
    assert_eq!(judge(&now, Some(&m), &pinned(Class::Fast), &model), (Class::Fast, Some(Basis::Policy)));
    assert_eq!(judge(&off, Some(&m), &Policy::default(), &model), (Class::None, None));
    let cut = |while_zeroing| {
        let interrupted = Some(CutOff { text: "once".to_owned(), while_zeroing });
        decide(&now, &[], Some(&m), &Policy::default(), &Context { interrupted, ..model.clone() })
    };
    assert_eq!((cut(true).class, cut(true).basis), (Class::Unknown, None));
    let before = cut(false);
    assert_eq!((before.class, before.basis), (Class::Slow, Some(Basis::Measured)), "no zeroing was in flight");
    assert!(before.findings.iter().any(|f| f.code == FindingCode::TestInterrupted), "it is told all the same");
    assert_eq!(judge(&now, Some(&m), &Policy::default(), &model), (Class::Slow, Some(Basis::Measured)));
    assert_eq!(judge(&now, None, &Policy::default(), &model), (Class::Fast, Some(Basis::Model)));
    assert_eq!(judge(&now, None, &Policy::default(), &Context::default()), (Class::Unknown, None));
    let lost = Context { unusable: Some("x.json: format 2 is not 1".to_owned()), ..model.clone() };
    let v = decide(&now, &[], None, &Policy::default(), &lost);
    assert_eq!((v.class, v.basis), (Class::Unknown, None), "no model stands in for a hazard that may be lost");
    assert_eq!(v.reason, "its kept file cannot be used: x.json: format 2 is not 1");
    assert_eq!(judge(&now, None, &pinned(Class::Fast), &lost).0, Class::Fast);
}

#[test]
fn a_stale_or_shared_measurement_is_not_used() {
    let then = disk("8388608");
    let m = measurement(&then, Class::Fast, 3.0);
    let mut now = then.clone();
    now.names.firmware = crate::fact::Fact::Known("2".to_owned());
    let v = decide(&now, &[], Some(&m), &Policy::default(), &Context::default());
    assert_eq!((v.class, v.measurement.is_some()), (Class::Unknown, false));
    let stale = v.findings.iter().find(|f| f.code == FindingCode::MeasurementStale).unwrap();
    assert!(stale.text.contains("firmware was 1 and is 2"), "{}", stale.text);
    now.names.firmware = crate::fact::Fact::ABSENT;
    assert_eq!(
        judge(&now, Some(&m), &Policy::default(), &Context::default()).0,
        Class::Fast,
        "what is not seen has not changed"
    );
    let shared = Context { shared: true, ..Context::default() };
    assert_eq!(judge(&then, Some(&m), &Policy::default(), &shared), (Class::Unknown, None));
    let mut forged = m.clone();
    forged.fingerprint_of.clear();
    assert_eq!(judge(&then, Some(&forged), &Policy::default(), &Context::default()), (Class::Unknown, None));
}

#[test]
fn what_is_kept_without_a_test_is_no_measurement() {
    let facts = disk("4096\n");
    let untested = |scratch: &str, why: Option<&str>| Measurement {
        scratch: scratch.to_owned(),
        inconclusive: why.map(str::to_owned),
        speedup: None,
        trials: 0,
        ..measurement(&facts, Class::Unknown, 1.0)
    };
    let overwrite = crate::verdict::measurement::Overwrite {
        at: "2026-11-30T08:00:00Z".to_owned(),
        filesystem: "ext4".to_owned(),
        mount_point: None,
        unwritten: Some(1),
        write_zeroes: Some(3),
        written: Some(3),
        gain: Some(3.0),
        gain_low: None,
        gain_high: None,
        gain_written: None,
        zero_bytes_per_second: None,
        verified: None,
        lacks: None,
    };
    let coarse = untested("range", Some("4 segments do not fit"));
    let files = Measurement { overwrite: Some(overwrite.clone()), ..untested("dir", None) };
    let model = ModelEntry { class: Class::Slow, from: "hwdb".to_owned() };
    let entry = Context { model: Some(model), ..Context::default() };
    for m in [&coarse, &files] {
        // It stands in nobody's way.
        assert_eq!(judge(&facts, Some(m), &Policy::default(), &entry), (Class::Slow, Some(Basis::Model)));
    }
    let alone = |m: &Measurement| decide(&facts, &[], Some(m), &Policy::default(), &Context::default());
    let verdict = alone(&coarse);
    assert_eq!((verdict.class, verdict.basis), (Class::Unknown, None));
    assert_eq!(verdict.reason, "not tested: 4 segments do not fit");
    assert!(verdict.measurement.is_some(), "so that no event asks for the test again");
    let verdict = alone(&files);
    assert_eq!((verdict.class, verdict.reason.as_str()), (Class::Unknown, "not measured"));
    assert_eq!((verdict.overwrite, verdict.measurement), (Some(overwrite.clone()), None));
    // Beside a pin, a hazard or no offload it is told all the same.
    let verdict = decide(&facts, &[], Some(&files), &pinned(Class::Fast), &Context::default());
    assert_eq!((verdict.class, verdict.overwrite), (Class::Fast, Some(overwrite)));
    // Of another device, firmware or path it says nothing, and that is no stale measurement.
    let mut other = files;
    other.fingerprint_of.insert("firmware".to_owned(), "2".to_owned());
    other.fingerprint = fingerprint::digest(&other.fingerprint_of);
    let verdict = alone(&other);
    assert_eq!((verdict.reason.as_str(), verdict.overwrite), ("not measured", None));
    assert!(verdict.findings.iter().all(|f| f.code != FindingCode::MeasurementStale));
}

#[test]
fn another_threshold_asks_the_interval() {
    let now = disk("8388608");
    let policy = |fast_ratio| Policy { fast_ratio, ..Policy::default() };
    let m = measurement(&now, Class::Fast, 3.0);
    assert_eq!(judge(&now, Some(&m), &policy(2.5), &Context::default()).0, Class::Fast);
    assert_eq!(judge(&now, Some(&m), &policy(3.0), &Context::default()).0, Class::Unknown);
    assert_eq!(judge(&now, Some(&m), &policy(5.0), &Context::default()).0, Class::Slow);
}

#[test]
fn findings_of_the_kept_measurement() {
    let mut now = disk("8388608");
    let mut m = measurement(&now, Class::Fast, 3.0);
    now.kernel = crate::fact::Fact::Known("7.4".to_owned());
    m.limits.insert("discard_granularity".to_owned(), "4096".to_owned());
    now.queue.discard_granularity = crate::fact::Fact::Known(512);
    now.queue.unmap = crate::fact::Fact::Known(0);
    m.findings.push(crate::verdict::measurement::TestFinding { code: FindingCode::DeferredCost, text: "t".to_owned() });
    let v = decide(&now, &[], Some(&m), &Policy::default(), &Context::default());
    let codes: Vec<_> = v.findings.iter().map(|f| f.code).collect();
    use FindingCode::{DeferredCost, KernelChangedSinceMeasured, KnobOff, LimitsChangedSinceMeasured};
    assert_eq!(codes, [DeferredCost, KnobOff, LimitsChangedSinceMeasured, KernelChangedSinceMeasured]);
    let changed = v.findings.iter().find(|f| f.code == LimitsChangedSinceMeasured).unwrap();
    assert!(!changed.text.contains("unmap_max_bytes"), "the knob is zerocap's own: {}", changed.text);
}

#[test]
fn a_stack_is_what_its_members_are() {
    let member = disk("8388608");
    let m = measurement(&member, Class::Fast, 3.0);
    let fast = decide(&member, &[], Some(&m), &Policy::default(), &Context::default());
    let unmeasured = decide(&member, &[], None, &Policy::default(), &Context::default());
    fn views_of<'a>(member: &'a Facts, verdicts: &[&'a Verdict]) -> Vec<MemberView<'a>> {
        verdicts.iter().map(|v| MemberView::new(member, &[], v)).collect()
    }
    let stack = |level: &str, limit: &str| with("md0", &[("md/level", level), ("queue/write_zeroes_max_bytes", limit)]);
    let of = |stack: &Facts, members: &[MemberView<'_>]| {
        let v = decide(stack, members, None, &Policy::default(), &Context::default());
        (v.class, v.basis, v.expected)
    };
    let (two, mixed) = (views_of(&member, &[&fast, &fast]), views_of(&member, &[&fast, &unmeasured]));
    assert_eq!(of(&stack("raid0", "8388608"), &two), (Class::Fast, Some(Basis::Derived), Class::Fast));
    assert_eq!(of(&stack("raid0", "8388608"), &mixed), (Class::Unknown, None, Class::Fast));
    assert_eq!(of(&stack("raid0", "524288"), &two), (Class::Unknown, None, Class::Fast), "it cuts them up");
    let small = disk("524288");
    let fast_small =
        decide(&small, &[], Some(&measurement(&small, Class::Fast, 3.0)), &Policy::default(), &Context::default());
    let of_small = of(&stack("raid0", "524288"), &views_of(&small, &[&fast_small]));
    assert_eq!(of_small, (Class::Fast, Some(Basis::Derived), Class::Fast), "its member's own commands are as small");
    assert_eq!(of(&stack("raid1", "8388608"), &two), (Class::Unknown, None, Class::Unknown));
    assert_eq!(of(&stack("raid0", "8388608"), &[]), (Class::Unknown, None, Class::Unknown));
    let broken = Verdict { class: Class::Broken, ..fast.clone() };
    assert_eq!(of(&stack("raid0", "524288"), &views_of(&member, &[&fast, &broken])).0, Class::Broken);
}

#[test]
fn a_stack_names_the_member_that_makes_it_so() {
    let limits = [("queue/write_zeroes_max_bytes", "8388608")];
    let disks = ["sda", "sdb", "sdc"].map(|name| with(name, &limits));
    let verdict = |class, reason: &str| {
        let v = decide(&disks[0], &[], None, &Policy::default(), &Context::default());
        Verdict { class, reason: reason.to_owned(), ..v }
    };
    let verdicts = |of: [(Class, &str); 3]| of.map(|(class, reason)| verdict(class, reason));
    let say = |name: &str, files: &[(&str, &str)], links: &[(&str, &str)], members: &[MemberView<'_>]| {
        let paths: Vec<(String, &str)> = files.iter().map(|(p, t)| (format!("sys/block/{name}/{p}"), *t)).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let f = crate::facts::testing::facts(name, &files, links);
        decide(&f, members, None, &Policy::default(), &Context::default())
    };
    let raid0 = [("md/level", "raid0"), ("queue/write_zeroes_max_bytes", "8388608")];
    let md = |verdicts: &[Verdict]| {
        let members: Vec<_> = disks.iter().zip(verdicts).map(|(f, v)| MemberView::new(f, &[], v)).collect();
        say("md0", &raid0, &[], &members)
    };
    let (fast, unmeasured, cut) =
        ((Class::Fast, ""), (Class::Unknown, "not measured"), (Class::Unknown, "a test of it was cut off"));
    let one = md(&verdicts([fast, unmeasured, fast]));
    for (verdict, reason) in [
        (one.clone(), "neither it nor its member sdb is measured"),
        (
            md(&verdicts([fast, fast, cut])),
            "it is not measured, and its member sdc is unknown: a test of it was cut off",
        ),
        (md(&verdicts([unmeasured, fast, unmeasured])), "neither it nor its members sda, sdc are measured"),
        (md(&verdicts([cut, fast, unmeasured])), "it is not measured, and its members sda, sdc are unknown"),
        (md(&verdicts([fast, (Class::Slow, ""), fast])), "it passes zeroing to sdb (slow), sda (fast), sdc (fast)"),
        (
            md(&verdicts([fast, (Class::Broken, "x"), (Class::Slow, "")])),
            "it passes zeroing to sdb (broken), sda (fast), sdc (slow)",
        ),
    ] {
        assert_eq!(verdict.reason, reason);
    }
    // A stack over a stack names what is weak below, and a member that is not there is named too.
    let linear = [("dm/uuid", "LVM-x"), ("queue/write_zeroes_max_bytes", "8388608")];
    let below = with("md0", &raid0);
    let above = |verdict: &Verdict, links: &[(&str, &str)]| {
        say("dm-1", &linear, links, &[MemberView::new(&below, &[], verdict)]).reason
    };
    assert_eq!(
        above(&one, &[]),
        "it is not measured, and its member md0 is unknown: neither it nor its member sdb is measured"
    );
    assert_eq!(
        above(&md(&verdicts([fast, (Class::Slow, ""), fast])), &[]),
        "it passes zeroing to md0 (slow: it passes zeroing to sdb (slow), sda (fast), sdc (fast))"
    );
    let links = [("sys/block/dm-1/slaves/md0", "../../md0"), ("sys/block/dm-1/slaves/md00", "../../md00")];
    assert_eq!(above(&one, &links), "it is not measured, and its members md00 cannot be examined");
}

#[test]
fn what_the_knob_should_be() {
    let want = |hw: &str, now: &str, class: Option<(Class, f64)>| {
        let f =
            with("sda", &[("queue/write_zeroes_unmap_max_hw_bytes", hw), ("queue/write_zeroes_unmap_max_bytes", now)]);
        let m = class.map(|(class, median)| measurement(&f, class, median));
        let v = decide(&f, &[], m.as_ref(), &Policy::default(), &Context::default());
        v.wants.first().map(|w| w.wanted.clone())
    };
    let some = |s: &str| Some(s.to_owned());
    assert_eq!(want("8388608", "8388608", None), some("8388608"));
    assert_eq!(want("8388608", "8388608", Some((Class::Slow, 0.5))), some("0"));
    assert_eq!(want("8388608", "0", Some((Class::Slow, 1.2))), some("8388608"));
    assert_eq!(want("0", "0", None), None);
    assert_eq!(want("34359734272", "34359734272", None), some("34359734272"), "what is there is not written again");
    assert_eq!(want("34359734272", "0", None), some("4294963200"));
    assert_eq!(want("8589934592", "8589934592", Some((Class::Slow, 0.5))), None, "a 0 could not be undone");
    assert_eq!(with("sda", &[("queue/write_zeroes_unmap_max_hw_bytes", "512")]).queue.unmap, crate::fact::Fact::ABSENT);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the claims: without a measurement, a pin or a model entry nothing is fast, slow or broken.
    #[test]
    fn claims_alone_make_no_class(
        name in prop_oneof![Just("nvme0n1"), Just("sda"), Just("dm-0"), Just("md0"), Just("zram0"), Just("mmcblk0")],
        values in proptest::collection::vec(proptest::option::of(prop_oneof![
            Just(0u64), Just(1), Just(512), Just(4096), Just(1 << 20), Just(1 << 32), Just(2_199_023_255_040), any::<u64>()
        ]), 8),
        bits in proptest::collection::vec(proptest::option::of(any::<bool>()), 5),
        dlfeat in proptest::option::of(0u64..32),
        oncs in proptest::option::of(0u64..16),
    ) {
        let fact = |v: Option<u64>| v.map_or(crate::fact::Fact::ABSENT, crate::fact::Fact::Known);
        let bit = |i: usize| bits[i].map_or(crate::fact::Fact::ABSENT, crate::fact::Fact::Known);
        let mut f = crate::facts::testing::facts(name, &[], &[]);
        f.queue.write_zeroes_max = fact(values[0]);
        f.queue.unmap_hw = fact(values[1]);
        f.queue.unmap = fact(values[2]);
        f.queue.discard_max = fact(values[3]);
        f.queue.discard_granularity = fact(values[4]);
        f.queue.logical_block = fact(values[5]);
        f.queue.physical_block = fact(values[6]);
        f.queue.rotational = bit(0);
        match &mut f.bus {
            crate::facts::Bus::Nvme(n) => (n.dlfeat, n.oncs) = (fact(dlfeat), fact(oncs)),
            crate::facts::Bus::Scsi(s) => {
                (s.lbpme, s.lbprz, s.lbpws, s.lbpws10) = (bit(1), bit(2), bit(3), bit(4));
                s.unmap_granularity = fact(values[7]);
            }
            crate::facts::Bus::Other => f.stack.passes_zeroing = bit(1),
        }
        let v = decide(&f, &[], None, &Policy::default(), &Context::default());
        prop_assert!(matches!(v.class, Class::Unknown | Class::None), "{:?}", v.class);
        prop_assert_eq!(v.basis, None);
        prop_assert_eq!(v.class == Class::None, f.queue.write_zeroes_max.is(0));
        let member = MemberView::new(&f, &[], &v);
        let stack = with("md0", &[("md/level", "raid0"), ("queue/write_zeroes_max_bytes", "8388608")]);
        let above = decide(&stack, std::slice::from_ref(&member), None, &Policy::default(), &Context::default());
        prop_assert!(matches!(above.class, Class::Unknown | Class::None));
    }
}
