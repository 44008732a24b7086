//! A test on what is nobody's, an inactive swap partition: nothing is kept of it and nothing put back, whenever the power goes;
//! and what lies beside it, or was left by an earlier test, stays.

use super::*;

/// A test on swap space, beside the journal of an earlier test under the same name.
fn stand_on_swap(seed: u64, sound: bool) -> Stand {
    let mut s = stand_of(seed, sound);
    (s.proof.ownerless, s.prepared.journal, s.prepared.plan.put_back) = (true, None, 0);
    // Of a pool nothing is taken for it.
    s.proof.thin = false;
    let mut files = s.journal.borrow_mut();
    files.replace(JOURNAL, b"the last copy of something else").unwrap();
    drop(files);
    s
}

/// What lies beside the bytes of the test, and the journal that is not this test's.
fn assert_beside_is_as_before(s: &Stand, seed: u64) {
    let (start, length) = s.prepared.layout.span;
    let (start, end) = (start as usize, (start + length) as usize);
    let now = &s.disk.0.borrow().content;
    assert!(now[..start] == s.before[..start] && now[end..] == s.before[end..], "{seed}: written beside the span");
    let journal = s.journal.borrow().read(JOURNAL).unwrap();
    assert_eq!(journal.as_deref(), Some(&b"the last copy of something else"[..]), "{seed}");
}

#[test]
fn a_whole_test_on_swap_space_answers_and_leaves_nothing_to_recover() {
    for seed in 0..30 {
        let mut s = stand_on_swap(seed, true);
        let (result, kept) = s.test(&Rc::default());
        result.unwrap_or_else(|e| panic!("{seed}: {e}"));
        assert!(kept.is_some_and(|(_, conditions)| conditions.put_back == 0), "{seed}");
        assert!(s.intent().is_none(), "{seed}");
        assert!(!s.is_as_before(), "{seed}: the pattern is left, nobody's content was");
        assert_beside_is_as_before(&s, seed);
    }
}

#[test]
fn after_a_cut_on_swap_space_recovery_ends_the_intent_and_writes_nothing() {
    let mut phases = HashMap::<Option<Phase>, u64>::new();
    for seed in 0..cuts().min(200) {
        let mains = Rc::new(Mains::default());
        // A device that fails or lies is accused or not: either way its test ends.
        let _ = stand_on_swap(seed, false).test(&mains);
        let mut s = stand_on_swap(seed, false);
        let at = 1 + s.random.below(mains.steps.get());
        let (cut, _) = s.test(&cut_at(at));
        assert!(cut.is_err(), "{seed}: no cut at {at}");
        s.reboot();
        let word = s.intent();
        *phases.entry(word.as_ref().map(|w| w.phase)).or_default() += 1;
        assert!(word.is_none_or(|w| w.journal.is_none()), "{seed}: it names a journal");
        let before = s.disk.0.borrow().content.clone();
        if s.intent().is_some() {
            let (said, concluded) = s.recover(&Rc::default());
            said.unwrap_or_else(|e| panic!("{seed}: {e}"));
            assert_eq!(concluded.len(), 1, "{seed}: what the intent says is kept");
        }
        assert!(s.disk.0.borrow().content == before, "{seed}: recovery wrote to the device");
        assert!(s.intent().is_none(), "{seed}");
        assert_beside_is_as_before(&s, seed);
        // The next test begins.
        assert!(s.test(&Rc::default()).1.is_some() || s.intent().is_none(), "{seed}");
    }
    assert!(phases.get(&Some(Phase::Writing)).is_some_and(|n| *n > 20), "{phases:?}");
}

#[test]
fn a_liar_is_found_on_swap_space_too() {
    let lies = Model { zeroing: Zeroing::LieInLastBlock, ..Model::steady(8_000_000, 1_000_000) };
    let mut s = Stand::new(lies, 3, 8192, 512, false);
    (s.proof.ownerless, s.prepared.journal) = (true, None);
    let (result, kept) = s.test(&Rc::default());
    result.unwrap();
    let (outcome, _) = kept.unwrap();
    assert!(matches!(outcome.end, zerocap::measure::outcome::End::Wrong(_)), "{:?}", outcome.end);
    assert!(s.intent().is_none());
}
