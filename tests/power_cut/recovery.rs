//! What recovery must do with each kind of state that a cut, a person or another device can leave.

use super::*;
use sim::TWIN;
use zerocap::machine::block::blkid::Signature;
use zerocap::machine::simulated::disk;
use zerocap::measure::outcome::End;

fn recovered(s: &mut Stand) -> Result<String, String> {
    s.recover(&Rc::default()).0.map_err(|e| e.to_string())
}

/// Nothing was changed: neither the device nor what was kept.
fn all_is_kept(s: &Stand, device: &[u8], journal: &Option<Vec<u8>>) {
    assert!(s.disk.0.borrow().content == device, "the device was written to");
    assert_eq!(&s.journal.borrow().read(JOURNAL).unwrap(), journal);
    assert!(s.intent().is_some(), "another test could begin");
}

fn state(s: &Stand) -> (Vec<u8>, Option<Vec<u8>>) {
    (s.disk.0.borrow().content.clone(), s.journal.borrow().read(JOURNAL).unwrap())
}

#[test]
fn what_lies_beside_the_journalled_span_is_never_touched() {
    for seed in 0..20 {
        let mut s = cut_while_writing(seed);
        let (start, length) = s.prepared.layout.span;
        for at in [(start + length) as usize, start.saturating_sub(512) as usize] {
            let inside = at + 512 <= s.before.len();
            if inside && (at as u64 + 512 <= start || at as u64 >= start + length) {
                s.disk.0.borrow_mut().content[at..at + 512].fill(0x53);
                s.before[at..at + 512].fill(0x53);
            }
        }
        recovered(&mut s).unwrap();
        assert!(s.is_as_before(), "{seed}");
    }
}

#[test]
fn a_foreign_block_does_not_keep_others_from_being_restored() {
    for seed in 0..30 {
        let mut s = cut_while_writing(seed);
        let foreign = Foreign::write(&mut s, false);
        let wanted = foreign.over(&s.before);
        let witnesses = |at: usize| {
            let (start, length) = s.prepared.layout.span;
            at as u64 == start || at as u64 + s.opened.physical_block >= start + length
        };
        let hits_witness = foreign.0.iter().any(|(at, _)| witnesses(*at));
        let said = recovered(&mut s).unwrap_err();
        assert!(said.contains("somebody else wrote") || hits_witness, "{seed}: {said}");
        let now = s.disk.0.borrow().content.clone();
        // Only the witness waits, and what they wrote stays.
        let block = s.opened.physical_block as usize;
        let (start, length) = (s.prepared.layout.span.0 as usize, s.prepared.layout.span.1 as usize);
        let inner = start + block..start + length - block;
        if !hits_witness {
            assert!(now[inner.clone()] == wanted[inner], "{seed}: {said}");
        }
        assert!(journal_is_whole(&s) && s.intent().is_some(), "{seed}");
        // Once they are gone, all comes back.
        for (at, bytes) in &foreign.0 {
            let old = s.before[*at..*at + bytes.len()].to_vec();
            s.disk.0.borrow_mut().content[*at..*at + bytes.len()].copy_from_slice(&old);
        }
        if !hits_witness {
            recovered(&mut s).unwrap();
            assert!(s.is_as_before(), "{seed}");
        }
    }
}

#[test]
fn a_missing_or_damaged_journal_is_an_error_that_keeps_everything() {
    for seed in 0..8 {
        let mut s = cut_while_writing(seed);
        let (device, journal) = state(&s);
        s.journal.borrow_mut().remove(JOURNAL).unwrap();
        let said = recovered(&mut s).unwrap_err();
        assert!(said.contains("the journal is missing"), "{said}");
        all_is_kept(&s, &device, &None);
        // The file system is mounted again.
        let mut flipped = journal.clone().unwrap();
        flipped[30] ^= 1;
        s.journal.borrow_mut().replace(JOURNAL, &flipped).unwrap();
        let said = recovered(&mut s).unwrap_err();
        assert!(said.contains("damaged"), "{said}");
        all_is_kept(&s, &device, &Some(flipped));
        s.journal.borrow_mut().replace(JOURNAL, &journal.unwrap()).unwrap();
        recovered(&mut s).unwrap();
        assert!(s.is_as_before(), "{seed}");
    }
}

#[test]
fn a_damaged_piece_of_the_journal_does_not_affect_the_others() {
    let mut s = cut_while_writing(3);
    let (_, journal) = state(&s);
    let mut damaged = journal.clone().unwrap();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    s.journal.borrow_mut().replace(JOURNAL, &damaged).unwrap();
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("damaged in the journal"), "{said}");
    assert!(s.intent().is_some() && s.journal.borrow().read(JOURNAL).unwrap().is_some());
}

#[test]
fn a_journal_of_another_test_is_not_used() {
    let (mut s, other) = (cut_while_writing(1), cut_while_writing(2));
    let (device, _) = state(&s);
    let (_, foreign) = state(&other);
    s.journal.borrow_mut().replace(JOURNAL, &foreign.clone().unwrap()).unwrap();
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("different tests"), "{said}");
    all_is_kept(&s, &device, &foreign);
}

#[test]
fn recovery_finds_the_medium_by_its_witness_and_not_by_identity() {
    for seed in 0..8 {
        let mut s = cut_while_writing(seed);
        let (device, journal) = state(&s);
        // The medium is gone, a blank one bears its name, its number and its serial number.
        s.as_disk = None;
        let blank = Shared::new(SimulatedPort::new(Model::steady(1, 1), vec![0; s.before.len()], 1));
        s.others = vec![(disk::NAME.to_owned(), blank.clone())];
        let said = recovered(&mut s).unwrap_err();
        assert!(said.contains("not present"), "{said}");
        all_is_kept(&s, &device, &journal);
        assert!(blank.0.borrow().content.iter().all(|b| *b == 0), "{seed}");
        // It comes back under another name and number.
        s.as_disk = Some(TWIN.to_owned());
        recovered(&mut s).unwrap();
        assert!(s.is_as_before(), "{seed}");
        assert!(blank.0.borrow().content.iter().all(|b| *b == 0), "{seed}");
    }
}

#[test]
fn a_copy_from_before_the_test_does_not_end_the_journal_of_the_medium() {
    let mut s = cut_while_writing(8);
    let (device, journal) = state(&s);
    // The medium is gone, and a copy made before the test bears its name and its old content.
    s.as_disk = None;
    let copy = Shared::new(SimulatedPort::new(Model::steady(1, 1), s.before.clone(), 1));
    s.others = vec![(disk::NAME.to_owned(), copy)];
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("not present"), "{said}");
    all_is_kept(&s, &device, &journal);
    s.as_disk = Some(TWIN.to_owned());
    recovered(&mut s).unwrap();
    assert!(s.is_as_before());
}

#[test]
fn two_media_with_the_same_witness_are_not_touched() {
    let mut s = cut_while_writing(5);
    let (device, journal) = state(&s);
    let clone = Shared::new(SimulatedPort::new(Model::steady(1, 1), device.clone(), 1));
    s.others = vec![(TWIN.to_owned(), clone.clone())];
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("/dev/vdz, /dev/vdy") && said.contains("clone"), "{said}");
    all_is_kept(&s, &device, &journal);
    assert!(clone.0.borrow().content == device);
    s.others.clear();
    recovered(&mut s).unwrap();
    assert!(s.is_as_before());
}

#[test]
fn a_test_that_is_running_is_not_recovered() {
    let mut s = cut_while_writing(4);
    let (device, journal) = state(&s);
    s.boot.borrow_mut().held_elsewhere.insert(NAME.to_owned());
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("is running, pid"), "{said}");
    all_is_kept(&s, &device, &journal);
    let (said, _) = s.test(&Rc::default());
    assert!(said.unwrap_err().to_string().contains("is running"));
    all_is_kept(&s, &device, &journal);
}

#[test]
fn after_a_power_cut_no_test_starts_before_recovery() {
    let mut s = cut_while_writing(6);
    let (device, journal) = state(&s);
    let said = s.test(&Rc::default()).0.unwrap_err().to_string();
    assert!(said.contains("run `zerocap recover` first"), "{said}");
    all_is_kept(&s, &device, &journal);
    recovered(&mut s).unwrap();
    s.test(&Rc::default()).0.unwrap();
    assert!(s.is_as_before());
}

#[test]
fn zeroes_of_a_new_file_system_are_not_taken_for_those_of_the_test() {
    for seed in 0..8 {
        let mut s = cut_while_writing(seed);
        let run = s.prepared.run;
        let (start, length) = s.prepared.layout.span;
        let block = s.opened.logical_block as usize;
        // Somebody zeroed the first segment and made a file system that shows on the whole range.
        let at = s.prepared.plan.start as usize;
        s.disk.0.borrow_mut().content[at..at + 4096].fill(0);
        s.signature = Signature::Content("ext4".to_owned());
        let now = s.disk.0.borrow().content.clone();
        let said = recovered(&mut s);
        let after = s.disk.0.borrow().content.clone();
        assert!(after[at..at + 4096].iter().all(|b| *b == 0), "{seed}: {said:?}");
        // The test's own pattern is nobody's, and goes.
        for place in (start as usize + block..(start + length) as usize - block).step_by(512) {
            let ours = zerocap::machine::port::pattern::is_ours(&now[place..place + 512], run.seed(), place as u64);
            let whole =
                now[place / block * block..place / block * block + block].chunks(512).enumerate().all(|(i, u)| {
                    let p = (place / block * block + i * 512) as u64;
                    zerocap::machine::port::pattern::is_ours(u, run.seed(), p)
                });
            assert!(!ours || !whole || after[place..place + 512] == s.before[place..place + 512], "{seed}: {place}");
        }
    }
}

#[test]
fn a_range_that_somebody_claimed_is_not_recovered() {
    let mut s = cut_while_writing(7);
    let (device, journal) = state(&s);
    s.claimed = vec!["/dev/vdz".to_owned()];
    let said = recovered(&mut s).unwrap_err();
    assert!(said.contains("cannot be claimed exclusively"), "{said}");
    all_is_kept(&s, &device, &journal);
    s.claimed.clear();
    recovered(&mut s).unwrap();
    assert!(s.is_as_before());
}

#[test]
fn the_process_that_acts_may_end_at_any_act_and_the_device_is_not_accused() {
    let total = {
        let mut s = Stand::new(Model::steady(8_000_000, 1_000_000), 1, 8192, 512, false);
        let mains = Rc::new(Mains::default());
        s.test(&mains).0.unwrap();
        mains.steps.get()
    };
    for at in 2..=total {
        let mut s = Stand::new(Model::steady(8_000_000, 1_000_000), 1, 8192, 512, false);
        s.lost_at = Some(at);
        let (result, kept) = s.test(&Rc::default());
        let Err(e) = result else { continue };
        assert!(kept.is_none(), "{at}: something was kept of a test that was not made: {e}");
        assert!(s.is_as_before(), "{at}: {e}");
        assert!(s.intent().is_none(), "{at}: {e}");
    }
}

#[test]
fn a_write_by_somebody_else_ends_the_test_and_is_kept() {
    let mut seen = 0;
    for act in 8..90 {
        let mut s = Stand::new(Model::steady(8_000_000, 1_000_000), 2, 8192, 512, false);
        let at = s.prepared.plan.start + 512 * (act % 64);
        s.meanwhile = vec![(act, at, vec![0x53; 512])];
        let (result, kept) = s.test(&Rc::default());
        let place = at as usize..at as usize + 512;
        let there = s.disk.0.borrow().content[place.clone()].to_vec();
        let Err(e) = result else {
            // It was written over before anything looked at it: what is put back is what was there.
            assert!(s.is_as_before(), "{act}");
            continue;
        };
        seen += 1;
        assert!(kept.is_none(), "{act}: a healthy device is accused: {e}");
        assert_eq!(there, vec![0x53; 512], "{act}: {e}");
        let mut wanted = s.before.clone();
        wanted[place].fill(0x53);
        let (now, span) = (s.disk.0.borrow().content.clone(), s.prepared.layout.span);
        let inner = (span.0 + 512) as usize..(span.0 + span.1 - 512) as usize;
        assert!(now[inner.clone()] == wanted[inner], "{act}: {e}");
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn zeroes_that_somebody_else_may_have_written_are_blamed_on_nobody() {
    let mut seen = 0;
    for act in 8..90 {
        let mut s = Stand::new(Model::steady(8_000_000, 1_000_000), 2, 8192, 512, false);
        let at = s.prepared.plan.start + 512 * (act % 64);
        s.meanwhile = vec![(act, at, vec![0; 512])];
        let (result, kept) = s.test(&Rc::default());
        let accused = kept.is_some_and(|(outcome, _)| matches!(outcome.end, End::Wrong(_)));
        assert!(!accused, "{act}: a healthy device is accused: {result:?}");
        seen += usize::from(result.is_err_and(|e| e.to_string().contains("another program may have written")));
    }
    assert!(seen > 5, "{seen}");
}

/// A device that reads 0xff after zeroing: after a cut nobody can tell that from what somebody wrote, so recovery names it
/// and changes nothing of it.
#[test]
fn blocks_of_ones_after_a_power_cut_are_named_and_left() {
    let mut named = 0;
    for at in 10..40 {
        let model = Model { zeroing: Zeroing::Ones, ..Model::steady(8_000_000, 1_000_000) };
        let mut s = Stand::new(model, 3, 8192, 512, false);
        // Without ones of its own: then every 0xff is the device's.
        s.before.iter_mut().filter(|b| **b == 0xff).for_each(|b| *b = 0xfe);
        s.disk = Shared::new(SimulatedPort::new(model, s.before.clone(), 3));
        if s.test(&cut_at(at)).0.is_ok() {
            break;
        }
        s.reboot();
        let ones = s.disk.0.borrow().content.chunks(512).filter(|u| u.iter().all(|b| *b == 0xff)).count();
        match recovered(&mut s) {
            Ok(said) => assert!(s.is_as_before() && ones == 0, "{at}: {said}"),
            Err(said) => {
                assert!(said.contains(&format!("{} of these bytes read as 0xff", ones * 512)), "{at}: {ones}: {said}");
                named += 1;
            }
        }
    }
    assert!(named > 0);
}
