//! The decision at its edges: exact thresholds, guards that one case alone reaches, and the words of each reason. Each stands
//! here because a mutation of decide.rs survived without it.

use super::*;
use crate::facts::testing::facts;

fn reason(facts: &Facts, m: Option<&Measurement>, context: &Context) -> String {
    decide(facts, &[], m, &Policy::default(), context).reason
}

#[test]
fn at_the_usual_threshold_the_class_of_the_test_stands() {
    let now = disk("8388608");
    // Its interval reaches below 2.0, and yet the test decided by more than the interval.
    let mut m = measurement(&now, Class::Fast, 2.1);
    assert_eq!(class_of_numbers(&m, 2.0), Class::Fast);
    // A threshold that is another by the least that can be told is another.
    m.fast_ratio = 1.0;
    m.speedup = Some(Speedup { median: 1.0, low: Some(0.9), high: Some(1.1), confidence: 0.999 });
    assert_eq!(class_of_numbers(&m, 1.0), Class::Fast);
    assert_eq!(class_of_numbers(&m, 1.0 + f64::EPSILON), Class::Unknown);
}

#[test]
fn another_threshold_that_the_interval_touches() {
    let mut m = measurement(&disk("8388608"), Class::Slow, 3.0);
    m.speedup = Some(Speedup { median: 3.0, low: Some(2.5), high: Some(3.5), confidence: 0.999 });
    assert_eq!(class_of_numbers(&m, 2.5), Class::Fast, "as fast as asked for");
    assert_eq!(class_of_numbers(&m, 3.5), Class::Unknown, "it may be as fast as asked for");
    assert_eq!(class_of_numbers(&m, 3.6), Class::Slow);
    for (speedup, class) in [(Some(2.5), Class::Fast), (Some(2.4), Class::Unknown), (None, Class::Unknown)] {
        m.sustained = Some(crate::verdict::measurement::Sustained { bytes: 1, speedup });
        assert_eq!(class_of_numbers(&m, 2.5), class, "{speedup:?} over the long stretch");
    }
    m.sustained = None;
}

#[test]
fn an_accepted_hazard_also_needs_a_pinned_class() {
    let now = disk("8388608");
    let declared = |class, accept| Policy {
        class,
        accept,
        hazard: Some(Sourced { value: Hazard::ZeroingError, from: "50-site.toml:2".to_owned() }),
        ..Policy::default()
    };
    let accept = Some(Sourced { value: Hazard::ZeroingError, from: String::new() });
    let of = |policy: &Policy| judge(&now, None, policy, &Context::default());
    let broken = (Class::Broken, Some(Basis::Policy));
    assert_eq!(of(&declared(None, accept.clone())), broken, "no class is pinned");
    assert_eq!(of(&declared(pinned(Class::Slow).class, None)), broken, "nothing is accepted");
    assert_eq!(of(&declared(pinned(Class::Slow).class, accept)), (Class::Slow, Some(Basis::Policy)));
}

#[test]
fn a_withdrawn_offload_is_distinguished_from_a_missing_one() {
    let withdrawn =
        with("sda", &[("queue/write_zeroes_max_bytes", "0"), ("queue/write_zeroes_unmap_max_hw_bytes", "8")]);
    let said = reason(&withdrawn, None, &Context::default());
    assert_eq!(said, "write_zeroes_max_bytes is 0 (the kernel withdrew the offload at run time; write_zeroes_unmap_max_hw_bytes is still 8)");
    let never = reason(&disk("0"), None, &Context::default());
    assert!(never.starts_with("write_zeroes_max_bytes is 0") && !never.contains("withdrawn"), "{never}");
}

#[test]
fn without_the_kept_file_the_knob_is_wanted_only_for_broken_devices() {
    let now = disk("8388608");
    let lost = Context { unusable: Some("torn".to_owned()), ..Context::default() };
    let knob = |policy: &Policy, context: &Context| {
        let wants = decide(&now, &[], None, policy, context).wants;
        wants.into_iter().find(|w| w.name == crate::verdict::KNOB).map(|w| w.wanted)
    };
    let some = |s: &str| Some(s.to_owned());
    assert_eq!(knob(&Policy::default(), &Context::default()), some("8388608"));
    assert_eq!(knob(&Policy::default(), &lost), None, "a hazard may be lost with the file");
    assert_eq!(knob(&pinned(Class::Broken), &lost), some("0"), "off is safe");
    let dir = "device/scsi_disk/0:0:0:0";
    let scsi =
        with("sda", &[(&format!("{dir}/thin_provisioning"), "1\n"), (&format!("{dir}/zeroing_mode"), "write\n")]);
    let wish = Policy {
        zeroing_mode: Some(Sourced { value: crate::terms::ZeroingMode::Writesame, from: String::new() }),
        ..Policy::default()
    };
    let modes = decide(&scsi, &[], None, &wish, &lost).wants;
    assert!(modes.iter().any(|w| w.name == crate::verdict::MODE), "another tunable stays: {modes:?}");
}

#[test]
fn a_model_entry_that_knows_nothing_has_no_basis() {
    let of = |class| Context { model: Some(ModelEntry { class, from: "hwdb".to_owned() }), ..Context::default() };
    assert_eq!(judge(&disk("8388608"), None, &Policy::default(), &of(Class::Unknown)), (Class::Unknown, None));
    assert_eq!(judge(&disk("8388608"), None, &Policy::default(), &of(Class::Slow)).1, Some(Basis::Model));
}

#[test]
fn a_stack_at_the_edges_of_what_it_passes_on() {
    let member = with("sda", &[("queue/write_zeroes_max_bytes", "8388608"), ("queue/discard_granularity", "4096")]);
    let decided = decide(&member, &[], None, &Policy::default(), &Context::default());
    let of = |class, files: &[(&str, &str)]| {
        let verdict = Verdict { class, ..decided.clone() };
        let paths: Vec<(String, &str)> = files.iter().map(|(p, t)| (format!("sys/block/md0/{p}"), *t)).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let links = [("sys/block/md0/slaves/sda", "../../sda")];
        let v = decide(
            &facts("md0", &[&files[..], &[("sys/block/md0/md/level", "raid0")]].concat(), &links),
            &[MemberView::new(&member, &[], &verdict)],
            None,
            &Policy::default(),
            &Context::default(),
        );
        (v.class, v.reason)
    };
    let limit = |bytes| [("queue/write_zeroes_max_bytes", bytes)];
    let fast = (Class::Fast, "it passes zeroing to sda (fast)".to_owned());
    assert_eq!(of(Class::Fast, &limit("8388608")), fast, "it hands on what its member takes");
    assert_eq!(of(Class::Fast, &limit("16777216")), fast);
    let cuts = "it splits zeroing into commands of 4 MiB, but its member sda takes commands of 8 MiB";
    assert_eq!(of(Class::Fast, &limit("4194304")), (Class::Unknown, cuts.to_owned()));
    assert_eq!(of(Class::Fast, &[]), (Class::Unknown, NOT_MEASURED.to_owned()), "a limit that is not known is none");
    let finer = [("queue/write_zeroes_max_bytes", "8388608"), ("queue/discard_granularity", "512")];
    let contradicts = (Class::Unknown, "its limits contradict each other or those of a member".to_owned());
    assert_eq!(of(Class::Fast, &finer), contradicts);
    assert_eq!(of(Class::Broken, &finer).0, Class::Broken, "a broken member is broken however it is reached");
}

#[test]
fn a_long_row_of_names_is_cut_after_the_eighth() {
    let names = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>();
    assert_eq!(list(&names(8)), "1, 2, 3, 4, 5, 6, 7, 8");
    assert_eq!(list(&names(9)), "1, 2, 3, 4, 5, 6, 7, 8 and 1 more");
    assert_eq!(list(&names(20)), "1, 2, 3, 4, 5, 6, 7, 8 and 12 more");
}

#[test]
fn why_a_device_is_unknown() {
    let then = disk("8388608");
    let m = measurement(&then, Class::Fast, 3.0);
    let mut now = then.clone();
    now.names.firmware = crate::fact::Fact::Known("2".to_owned());
    assert_eq!(
        reason(&now, Some(&m), &Context::default()),
        "the measurement no longer applies: firmware was 1 and is 2"
    );
    let shared = Context { shared: true, ..Context::default() };
    assert_eq!(reason(&then, Some(&m), &shared), "another device has the same identity");
    assert_eq!(reason(&then, None, &Context::default()), NOT_MEASURED);
}

#[test]
fn only_readings_that_are_claims_and_known_are_claims() {
    let named = |claims: &[Claim]| claims.iter().map(|c| c.field.clone()).collect::<Vec<_>>();
    let v = decide(&disk("8388608"), &[], None, &Policy::default(), &Context::default());
    let claims = named(&v.claims);
    assert!(claims.iter().any(|c| c == "write_zeroes_unmap_max_hw_bytes"), "{claims:?}");
    assert!(!claims.iter().any(|c| c == "discard_max_bytes" || c == "firmware"), "{claims:?}");
}

#[test]
fn measurements_of_virtual_disks_expire_and_a_rule_sets_the_age() {
    let limits = [("queue/write_zeroes_max_bytes", "8388608"), ("serial", "x\n")];
    let (virtual_disk, own) = (with("vda", &limits), disk("8388608"));
    let of = |facts: &Facts, days: u64, policy: &Policy| {
        let m = measurement(facts, Class::Fast, 3.0);
        let context = Context { age: Some(days * 86_400), ..Context::default() };
        decide(facts, &[], Some(&m), policy, &context)
    };
    let free = Policy::default();
    let young = of(&virtual_disk, 30, &free);
    assert_eq!(young.class, Class::Fast);
    assert!(young.reason.ends_with("on a virtual disk, whose backend may change"), "{}", young.reason);
    let old = of(&virtual_disk, 31, &free);
    assert_eq!(old.class, Class::Unknown);
    let stale = old.findings.iter().find(|f| f.code == FindingCode::MeasurementStale).unwrap();
    assert!(stale.text.contains("31 days old") && stale.text.contains("a virtual disk"), "{}", stale.text);
    assert_eq!(of(&own, 4000, &free).class, Class::Fast, "a medium of its own does not age");
    let rule = |value| Policy { max_age: Some(Sourced { value, from: "10.toml:2".to_owned() }), ..Policy::default() };
    assert_eq!(of(&own, 11, &rule(10 * 86_400)).class, Class::Unknown);
    assert_eq!(of(&virtual_disk, 31, &rule(90 * 86_400)).class, Class::Fast);
}

#[test]
fn a_test_that_did_not_decide_hides_no_better_answer() {
    let now = disk("8388608");
    let mut open = measurement(&now, Class::Unknown, 1.9);
    open.inconclusive = Some("the budget of time is spent".to_owned());
    open.bytes_written = 1 << 28;
    let model = ModelEntry { class: Class::Slow, from: "hwdb".to_owned() };
    let entry = Context { model: Some(model), ..Context::default() };
    let v = decide(&now, &[], Some(&open), &Policy::default(), &entry);
    assert_eq!((v.class, v.basis, v.tested), (Class::Slow, Some(Basis::Model), true));
    assert_eq!(v.measurement, None, "its figures are no figures of the answer");
    let alone = decide(&now, &[], Some(&open), &Policy::default(), &Context::default());
    assert_eq!((alone.class, alone.basis), (Class::Unknown, None));
    assert_eq!(alone.reason, "the measurement did not decide: the budget of time is spent");
    assert!(alone.measurement.is_some());
}
