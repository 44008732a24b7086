//! Each rule and a near miss; the recorded machines hold more.

use super::*;
use crate::fact::{Fact, Why};
use crate::facts::testing::{facts, with};
use crate::facts::{Bus, Facts};
use crate::policy::{Policy, Sourced};
use crate::terms::Class;
use crate::verdict::context::{Context, CutOff};
use crate::verdict::member::MemberView;

fn codes_with(f: &Facts, members: &[MemberView<'_>], policy: &Policy, context: &Context) -> Vec<FindingCode> {
    all(&Ctx::new(f, members, None, policy, context)).iter().map(|x| x.code).collect()
}

fn codes(f: &Facts) -> Vec<FindingCode> {
    codes_with(f, &[], &Policy::default(), &Context::default())
}

fn nvme(limit: &str, set: impl Fn(&mut crate::facts::nvme::Nvme)) -> Facts {
    let mut f = with("nvme0n1", &[("queue/write_zeroes_max_bytes", limit), ("queue/logical_block_size", "512")]);
    if let Bus::Nvme(n) = &mut f.bus {
        set(n);
    }
    f
}

fn scsi(set: impl Fn(&mut crate::facts::scsi::Scsi)) -> Facts {
    let mut f = with("sda", &[("queue/write_zeroes_max_bytes", "33553920"), ("queue/rotational", "1")]);
    if let Bus::Scsi(s) = &mut f.bus {
        set(s);
    }
    f
}

#[test]
fn the_table_has_every_code_once() {
    for code in FindingCode::ALL {
        assert_eq!(TABLE.iter().filter(|r| r.code == *code).count(), 1, "{code}");
    }
    assert_eq!(severity(FindingCode::OldDataLeft), Severity::Error);
    assert_eq!(severity(FindingCode::AllocationChanged), Severity::Notice);
}

#[test]
fn unknown_facts_raise_no_finding() {
    for name in ["nvme0n1", "sda", "dm-0", "md0", "vda", "loop0", "zram0"] {
        assert_eq!(codes(&facts(name, &[], &[])), [], "{name}");
    }
}

#[test]
fn findings_for_all_forms_of_dlfeat() {
    for (dlfeat, code) in [
        (0x00, None),
        (0x01, Some(FindingCode::ReadZeroWithoutDeac)),
        (0x02, None),
        (0x08, Some(FindingCode::DeacWithoutReadZero)),
        (0x09, None),
        (0x0a, Some(FindingCode::DeacWithoutReadZero)),
        (0x05, Some(FindingCode::DlfeatReserved)),
        (0x19, None),
    ] {
        let f = nvme("1048576", |n| n.dlfeat = Fact::Known(dlfeat));
        let found: Vec<_> = codes(&f).into_iter().filter(|c| *c != FindingCode::NoKnob).collect();
        assert_eq!(found, code.into_iter().collect::<Vec<_>>(), "{dlfeat:#x}");
    }
}

#[test]
fn the_constant_page_of_libata_raises_no_finding() {
    let claims = |s: &mut crate::facts::scsi::Scsi| {
        s.lbpme = Fact::Known(false);
        s.lbprz = Fact::Known(false);
        s.lbpws = Fact::Known(true);
        s.b2_lbprz = Fact::Known(1);
    };
    let mut f = scsi(claims);
    assert!(codes(&f).contains(&FindingCode::UnmapWithoutLbpme));
    f.names.vendor = Fact::Known("ATA".to_owned());
    assert!(!codes(&f).contains(&FindingCode::UnmapWithoutLbpme));
    let mut f = scsi(|s| {
        claims(s);
        s.lbpme = Fact::Known(true);
    });
    assert!(codes(&f).contains(&FindingCode::LbprzConflict));
    f.names.vendor = Fact::Known("ATA".to_owned());
    assert!(!codes(&f).contains(&FindingCode::LbprzConflict));
}

#[test]
fn the_mode_that_sd_would_choose() {
    let overridden = |mode: &str, lbprz: Fact<bool>, blocks: u64| {
        let f = scsi(|s| {
            s.lbpme = Fact::Known(true);
            s.lbprz = lbprz.clone();
            s.lbpws = Fact::Known(true);
            s.lbpws10 = Fact::Known(false);
            s.zeroing_mode = Fact::Known(mode.to_owned());
            s.max_write_same_blocks = Fact::Known(blocks);
        });
        codes(&f).contains(&FindingCode::ZeroingModeOverridden)
    };
    assert!(overridden("writesame", Fact::Known(true), 65535));
    assert!(!overridden("writesame_16_unmap", Fact::Known(true), 65535));
    assert!(!overridden("writesame", Fact::Known(false), 65535));
    assert!(!overridden("write", Fact::Known(true), 0), "WRITE SAME is off");
    assert!(!overridden("writesame", Fact::NOT_ASKED, 65535), "LBPRZ is not known");
}

#[test]
fn rotation_counts_for_disks_only() {
    let f = scsi(|s| s.lbpme = Fact::Known(false));
    assert!(codes(&f).contains(&FindingCode::RotationalOffload));
    let f = scsi(|_| ());
    assert!(!codes(&f).contains(&FindingCode::RotationalOffload), "not known whether it unmaps");
    let virtio = with(
        "vda",
        &[
            ("queue/write_zeroes_max_bytes", "1048576"),
            ("queue/write_zeroes_unmap_max_hw_bytes", "0"),
            ("queue/rotational", "1"),
        ],
    );
    assert!(!codes(&virtio).contains(&FindingCode::RotationalOffload));
}

#[test]
fn a_stack_looks_at_its_members() {
    let disk = with("sda", &[("queue/discard_granularity", "4096"), ("queue/rotational", "1")]);
    let verdict = crate::verdict::decide(&disk, &[], None, &Policy::default(), &Context::default());
    let member = MemberView::new(&disk, &[], &verdict);
    let stack = |granularity: &str| {
        with(
            "dm-0",
            &[
                ("queue/discard_granularity", granularity),
                ("queue/write_zeroes_max_bytes", "1048576"),
                ("queue/write_zeroes_unmap_max_hw_bytes", "0"),
            ],
        )
    };
    let found = |g: &str| codes_with(&stack(g), std::slice::from_ref(&member), &Policy::default(), &Context::default());
    assert_eq!(found("512"), [FindingCode::StackLimitsConflict, FindingCode::RotationalOffload]);
    assert_eq!(found("4096"), [FindingCode::RotationalOffload]);
    assert_eq!(found("0"), [FindingCode::RotationalOffload]);
}

#[test]
fn the_knob_and_the_length_field() {
    let knob = |hw: &str, now: &str| {
        let f =
            with("sda", &[("queue/write_zeroes_unmap_max_hw_bytes", hw), ("queue/write_zeroes_unmap_max_bytes", now)]);
        codes(&f)
    };
    assert_eq!(knob("8388608", "8388608"), []);
    assert_eq!(knob("8388608", "0"), [FindingCode::KnobOff]);
    assert_eq!(knob("8388608", "4096"), [FindingCode::KnobPartial]);
    assert_eq!(knob("4294967296", "4294967296"), [FindingCode::KnobStuck4Gib]);
    assert_eq!(knob("0", "0"), []);
    let beyond = |limit: &str, set: &dyn Fn(&mut crate::facts::nvme::Nvme)| {
        codes(&nvme(limit, set)).contains(&FindingCode::LimitBeyondNlb)
    };
    assert!(!beyond("33554432", &|_| ()));
    assert!(beyond("33554944", &|_| ()));
    assert!(!beyond("2199023255040", &|_| ()));
    assert!(!beyond("33554944", &|n| n.quirks = Fact::Known(vec!["deallocate_zeroes".to_owned()])));
}

#[test]
fn what_could_not_be_read_is_not_absent() {
    let mut f = with("sda", &[("queue/write_zeroes_max_bytes", "1048576")]);
    assert_eq!(codes(&f), [FindingCode::NoKnob]);
    f.queue.unmap = Fact::Unknown(Why::TimedOut);
    assert_eq!(codes(&f), []);
}

#[test]
fn findings_that_the_caller_supplies_are_reported() {
    let f = facts("sda", &[], &[]);
    let declared = Policy {
        hazard: Some(Sourced { value: Hazard::NoAnswer, from: "10-x.toml:1".to_owned() }),
        ..Policy::default()
    };
    let context = Context {
        shared: true,
        interrupted: Some(CutOff { text: "t".to_owned(), while_zeroing: true }),
        set_by_admin: vec!["k".to_owned()],
        ..Context::default()
    };
    let found = codes_with(&f, &[], &declared, &context);
    assert_eq!(
        found,
        [FindingCode::NoAnswer, FindingCode::IdentityShared, FindingCode::TestInterrupted, FindingCode::SetByAdmin]
    );
    let view = crate::verdict::decide(&f, &[], None, &declared, &context);
    assert_eq!(view.class, Class::Broken);
}

#[test]
fn a_discard_limit_beside_a_granularity_of_0() {
    let disk = |release: &str, granularity: &str| {
        let files = [
            ("proc/sys/kernel/osrelease", release),
            ("sys/block/sda/queue/discard_max_bytes", "4294966784\n"),
            ("sys/block/sda/queue/discard_granularity", granularity),
            ("sys/block/sda/queue/write_zeroes_max_bytes", "0\n"),
        ];
        let found = codes(&facts("sda", &files, &[]));
        (found.contains(&FindingCode::DiscardRefused), found.contains(&FindingCode::DiscardOnly))
    };
    assert_eq!(disk("6.1.0\n", "0\n"), (true, false));
    assert_eq!(disk("5.10.3\n", "0\n"), (true, false));
    assert_eq!(disk("6.7.1\n", "0\n"), (true, false));
    assert_eq!(disk("6.8.0\n", "0\n"), (true, true), "this kernel may take it");
    assert_eq!(disk("5.9.0\n", "0\n"), (true, true));
    assert_eq!(disk("6.1.0\n", "512\n"), (false, true));
}

#[test]
fn a_loop_on_a_disk_is_a_stack_of_one_member() {
    let disk = with("sda", &[("queue/write_zeroes_max_bytes", "33553920"), ("queue/discard_max_bytes", "0")]);
    let verdict = crate::verdict::decide(&disk, &[], None, &Policy::default(), &Context::default());
    let member = MemberView::new(&disk, &[], &verdict);
    let loop_on = |file: &str, discard: &str| {
        let files = [
            ("sys/block/sda/size", "8\n"),
            ("sys/block/loop0/loop/backing_file", file),
            ("sys/block/loop0/queue/discard_max_bytes", discard),
            ("sys/block/loop0/queue/write_zeroes_max_bytes", "33553920\n"),
        ];
        let f = facts("loop0", &files, &[]);
        codes_with(&f, std::slice::from_ref(&member), &Policy::default(), &Context::default())
    };
    assert!(loop_on("/dev/sda\n", "33553920\n").contains(&FindingCode::DiscardIsZeroing));
    assert!(!loop_on("/dev/sda\n", "0\n").contains(&FindingCode::DiscardIsZeroing));
    assert!(!loop_on("/var/img\n", "33553920\n").contains(&FindingCode::DiscardIsZeroing));
}

#[test]
fn the_provisioning_mode_that_sd_would_choose() {
    let forced = |mode: &str, lbpme: Fact<bool>| {
        let f = scsi(|s| {
            s.lbpme = lbpme.clone();
            s.thin_provisioning = Fact::ABSENT;
            s.max_unmap_lbas = Fact::Known(1);
            s.max_unmap_descriptors = Fact::Known(1);
            s.lbpu = Fact::Known(true);
            s.lbpws = Fact::Known(false);
            s.lbpws10 = Fact::Known(false);
            s.provisioning_mode = Fact::Known(mode.to_owned());
        });
        codes(&f).contains(&FindingCode::ProvisioningModeForced)
    };
    assert!(forced("writesame_16", Fact::Known(true)) && forced("unmap", Fact::Known(false)));
    assert!(!forced("unmap", Fact::Known(true)) && !forced("full", Fact::Known(false)));
    assert!(!forced("disabled", Fact::Known(true)), "sd turns discard off itself after a rejected command");
    assert!(!forced("writesame_16", Fact::NOT_ASKED), "the claim is not known");
}

#[test]
fn what_this_kernel_sends_decides_what_is_expected() {
    let expected = |f: &Facts, members: &[MemberView<'_>]| {
        crate::verdict::decide(f, members, None, &Policy::default(), &Context::default()).expected
    };
    let nvme = |release: &str| {
        let limit = ("sys/block/nvme0n1/queue/write_zeroes_max_bytes", "2097152\n");
        let mut f = facts("nvme0n1", &[("proc/sys/kernel/osrelease", release), limit], &[]);
        if let Bus::Nvme(n) = &mut f.bus {
            n.dlfeat = Fact::Known(9);
        }
        f
    };
    assert_eq!((expected(&nvme("5.15.0"), &[]), expected(&nvme("6.2.0"), &[])), (Class::Unknown, Class::Fast));
    let mode = |mode: &str| {
        scsi(|s| {
            (s.lbpme, s.lbprz, s.lbpws) = (Fact::Known(true), Fact::Known(true), Fact::Known(true));
            s.zeroing_mode = Fact::Known(mode.to_owned());
        })
    };
    assert_eq!(expected(&mode("writesame_16_unmap"), &[]), Class::Fast);
    assert_eq!(expected(&mode("writesame"), &[]), Class::Slow, "a rotating medium, and nothing is unmapped");
    // The stack's own limit does not follow its member's mode.
    let stack = with(
        "dm-0",
        &[("queue/write_zeroes_max_bytes", "33553920"), ("queue/write_zeroes_unmap_max_hw_bytes", "33553920")],
    );
    let of = |member: &Facts| {
        let verdict = crate::verdict::decide(member, &[], None, &Policy::default(), &Context::default());
        expected(&stack, &[MemberView::new(member, &[], &verdict)])
    };
    assert_eq!((of(&mode("writesame_16_unmap")), of(&mode("write"))), (Class::Fast, Class::Slow));
}
