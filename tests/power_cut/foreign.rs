//! Blocks that are neither the test's nor what was journalled: recovery leaves them alone and names them.

use super::*;

#[test]
fn a_filesystem_made_before_recovery_is_left_alone() {
    for seed in 0..40 {
        let mut case = cut_in_test(seed);
        let (start, length) = (case.plan.start, case.plan.length);
        // A few blocks of somebody else's, anywhere in what is journalled, and one behind it.
        let mut first = u64::MAX;
        for _ in 0..=case.random.below(3) {
            let at = start + 512 * case.random.below(length / 512);
            case.port.content[at as usize..at as usize + 512].fill(0x53);
            first = first.min(at);
        }
        let made = case.port.content.clone();
        let files = case.files.clone();
        for _ in 0..2 {
            let answer = case.recover(&Mains::default()).unwrap();
            assert_eq!(answer, Some(Back::Foreign { offset: first, ones: 0 }), "{seed}");
            assert!(case.port.content == made, "{seed}: something was written");
            assert_eq!(case.files.read(sim::JOURNAL).unwrap(), files.read(sim::JOURNAL).unwrap(), "{seed}");
            assert!(case.files.read(INTENT).unwrap().is_some(), "{seed}: another test could begin");
        }
    }
}

/// A device that reads 0xff after zeroing, cut at each step: what it reads cannot be told from what somebody wrote, so
/// recovery refuses, names it and changes nothing; where a person writes zeroes over what is named, all comes back.
#[test]
fn ones_after_a_cut_are_named_and_never_taken_for_the_tests_own() {
    let (mut refused, mut back) = (0, 0);
    for at in 1.. {
        let mut case = Case::new(3);
        let model = Model { zeroing: Zeroing::Ones, ..Model::steady(8_000_000, 1_000_000) };
        // Without ones of its own: then every 0xff is the device's.
        case.before.iter_mut().filter(|b| **b == 0xff).for_each(|b| *b = 0xfe);
        case.port = SimulatedPort::new(model, case.before.clone(), 3);
        let mains = Mains::default();
        mains.cut_at.set(Some(at));
        if case.measure(&mains, &mut Phase::Journal).is_ok() {
            break;
        }
        case.reboot(at);
        for _ in 0..64 {
            let there = case.port.content.clone();
            match case.recover(&Mains::default()).unwrap() {
                Some(Back::Foreign { offset, ones }) => {
                    assert!(case.port.content == there, "{at}: something was written");
                    assert!(ones > 0, "{at}: {offset} is no other block than those of the device");
                    let span = offset as usize..(offset + ones) as usize;
                    assert!(there[span.clone()].iter().all(|b| *b == 0xff), "{at}");
                    case.port.content[span].fill(0);
                    refused += 1;
                }
                Some(Back::Back(_)) => {
                    back += 1;
                    break;
                }
                None => break,
            }
        }
        assert!(case.port.content == case.before, "{at}: not as before");
    }
    assert!(refused > 0 && back > refused / 2, "{refused} refused, {back} put back");
}
