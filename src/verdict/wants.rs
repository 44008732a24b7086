//! The wanted values of the tunables (DESIGN 8, fieldguide 1.3, 4.3, 4.4). It is pure: the `tunable` room decides whether a
//! value is written.

use crate::device::display::escape_str;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::terms::{Class, FindingCode, ZeroingMode};
use crate::units::GIB;
use crate::verdict::member::MemberView;
use crate::verdict::{Measurement, Want, KNOB, MODE};

/// The wanted values, with reasons. `members`: of a stack.
pub fn wants(
    facts: &Facts,
    policy: &Policy,
    class: Class,
    measurement: Option<&Measurement>,
    members: &[MemberView<'_>],
) -> Vec<Want> {
    knob(facts, policy, class, measurement, members)
        .into_iter()
        .chain(mode(facts, policy, class, measurement))
        .collect()
}

fn knob(
    facts: &Facts,
    policy: &Policy,
    class: Class,
    measurement: Option<&Measurement>,
    members: &[MemberView<'_>],
) -> Option<Want> {
    let hw = facts.queue.unmap_hw.get().filter(|hw| *hw > 0)?;
    // Without the file there is nothing to write; with the offload withdrawn every limit write gives EINVAL.
    let now = facts.queue.unmap.get()?;
    if !policy.manage_knob || facts.queue.write_zeroes_max.is(0) {
        return None;
    }
    // The kernel compares with the limit modulo 4 GiB; where that is 0, a 0 could never be undone.
    let on = match accepted(hw) {
        // Of a device that is broken a way back is not wanted; of any other nothing is risked that cannot be undone.
        0 if class != Class::Broken => return None,
        _ if now == hw => hw,
        accepted => accepted,
    };
    // Where zero-filled writes are elided, zeroing is slow beside them and may be fast beside data: no reason to forbid it.
    let elided = |m: &&Measurement| m.findings.iter().any(|f| f.code == FindingCode::ZeroWritesElided);
    let high = measurement.filter(|m| !elided(m)).and_then(|m| m.speedup).and_then(|s| s.high);
    let (wanted, why) = match (class, high) {
        (Class::Broken, _) => (0, "zeroing is broken".to_owned()),
        // A pin of the class is a wish about the device, so the numbers do not overrule it.
        (Class::Slow | Class::Unknown, Some(high)) if high < policy.knob_off_below => {
            (0, format!("zeroing is at most {high:.2} times as fast as writing"))
        }
        // The gate of a member is not asked once a request has passed the stack's own.
        (Class::Slow | Class::Unknown, None) if members.iter().any(|m| m.knob_off) => {
            let off = members.iter().find(|m| m.knob_off).map_or(String::new(), |m| escape_str(&m.facts.device.name));
            (
                0,
                format!(
                    "0 is wanted for its member {off}, and the kernel does not check a member's value for requests \
                     through the stack"
                ),
            )
        }
        (Class::Fast, _) => (on, "zeroing is fast".to_owned()),
        _ => (on, "the kernel's default".to_owned()),
    };
    Some(Want { name: KNOB.to_owned(), path: format!("queue/{KNOB}"), wanted: wanted.to_string(), why })
}

/// What of a hardware limit the knob takes: `queue_max_wzeroes_unmap_sectors_store` compares with it modulo 4 GiB.
pub fn accepted(hw: u64) -> u64 {
    hw % (4 * GIB)
}

fn mode(facts: &Facts, policy: &Policy, class: Class, measurement: Option<&Measurement>) -> Option<Want> {
    let (mode, why) = wished_mode(policy, measurement)?;
    let scsi = facts.scsi()?;
    let dir = scsi.scsi_disk.as_ref()?;
    scsi.zeroing_mode.known()?;
    // Of a broken device no way of zeroing is to be preferred by numbers; an administrator may know one that works. A mode
    // that the device does not claim hangs or fails, whoever wishes it.
    if class == Class::Broken && policy.zeroing_mode.is_none() || mode_refused(facts, mode).is_some() {
        return None;
    }
    Some(Want { name: MODE.to_owned(), path: format!("{dir}/{MODE}"), wanted: mode.to_owned(), why })
}

/// The `zeroing_mode` that is wished for, whether or not it may be written, and why: the policy's, else the measured one.
pub fn wished_mode<'a>(policy: &Policy, measurement: Option<&'a Measurement>) -> Option<(&'a str, String)> {
    if let Some(wish) = &policy.zeroing_mode {
        return Some((wish.value.as_str(), format!("{} asks for it", wish.from)));
    }
    let m = measurement?;
    let why =
        if m.modes.is_empty() { "the mode that was measured" } else { "the best of the modes that were measured" };
    Some((m.zeroing_mode.as_deref()?, why.to_owned()))
}

/// Why a `zeroing_mode` must not be written, if it must not.
pub fn mode_refused(facts: &Facts, mode: &str) -> Option<String> {
    if mode.parse::<ZeroingMode>().is_err() {
        return Some(format!(
            "the kernel has only {}",
            ZeroingMode::ALL.iter().map(|m| m.as_str()).collect::<Vec<_>>().join(", ")
        ));
    }
    let lbpme = facts.scsi().and_then(|s| s.lbpme.get());
    (mode.ends_with("_unmap") && lbpme != Some(true))
        .then(|| "the device does not claim logical block provisioning (LBPME), so an unmap mode would fail".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Sourced;

    fn disk(lbpme: &str) -> Facts {
        let dir = "device/scsi_disk/0:0:0:0";
        crate::facts::testing::with(
            "sda",
            &[(&format!("{dir}/thin_provisioning"), lbpme), (&format!("{dir}/zeroing_mode"), "write\n")],
        )
    }

    #[test]
    fn a_policy_wishes_for_a_mode_and_no_unmap_mode_goes_to_a_disk_without_lbpme() {
        let wish = |value| Policy {
            zeroing_mode: Some(Sourced { value, from: "50-site.toml:3".to_owned() }),
            ..Policy::default()
        };
        let mode = |lbpme, policy: &Policy, class| {
            wants(&disk(lbpme), policy, class, None, &[])
                .into_iter()
                .find(|w| w.name == MODE)
                .map(|w| (w.wanted, w.why))
        };
        let wanted = Some(("writesame".to_owned(), "50-site.toml:3 asks for it".to_owned()));
        assert_eq!(mode("0\n", &wish(ZeroingMode::Writesame), Class::Unknown), wanted);
        assert_eq!(mode("0\n", &wish(ZeroingMode::Writesame), Class::Broken), wanted, "it may be the way around");
        assert_eq!(mode("0\n", &wish(ZeroingMode::Writesame16Unmap), Class::Unknown), None, "LBPME=0");
        assert!(mode("1\n", &wish(ZeroingMode::Writesame16Unmap), Class::Unknown).is_some());
        assert_eq!(mode("1\n", &Policy::default(), Class::Fast), None, "nobody wishes for one");
        let stack = crate::facts::testing::with(
            "dm-0",
            &[
                ("queue/write_zeroes_unmap_max_hw_bytes", "4096\n"),
                ("queue/write_zeroes_unmap_max_bytes", "4096\n"),
                ("queue/write_zeroes_max_bytes", "4096\n"),
            ],
        );
        let member = |knob_off| {
            let (facts, class) = (&stack, Class::Slow);
            MemberView {
                facts,
                class,
                findings: &[],
                reason: "",
                figures: crate::verdict::Figures::default(),
                expected: class,
                knob_off,
                rotating: None,
                unmaps: None,
            }
        };
        let knob = |members: &[MemberView<'_>]| {
            wants(&stack, &Policy::default(), Class::Slow, None, members).first().map(|w| w.wanted.clone())
        };
        assert_eq!(knob(&[member(false), member(true)]).as_deref(), Some("0"), "past the stack no gate is asked");
        assert_eq!(knob(&[member(false)]).as_deref(), Some("4096"));
        let nvme = crate::facts::testing::with("nvme0n1", &[]);
        assert!(wants(&nvme, &wish(ZeroingMode::Writesame), Class::Unknown, None, &[]).is_empty(), "no such file");
    }
}
