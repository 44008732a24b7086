//! The findings: one row for each finding {code, severity, what it is about, rule}. It is pure.
//!
//! **A rule does not fire if a value that it needs is not known**: a missing value is not 0, not "no", and not a
//! contradiction. The rules are in `claim_rules`, `limit_rules` and `kept_rules`; the table is that of DESIGN 2.

use crate::terms::{FindingCode, Hazard, Severity};
use crate::verdict::context::Ctx;
use crate::verdict::{claim_rules as claims, kept_rules as kept, limit_rules as limits, Finding};
use FindingCode as Code;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Claims and limits: a warning among these takes the claims' credit.
    Claims,
    /// The state of the machine, a test, a kept measurement.
    Rest,
}

/// One finding.
#[derive(Debug)]
pub struct Row {
    /// The code.
    pub code: FindingCode,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub about: About,
    /// The text with the values where the rule holds.
    pub rule: fn(&Ctx<'_>) -> Option<String>,
}

const fn row(code: FindingCode, severity: Severity, about: About, rule: fn(&Ctx<'_>) -> Option<String>) -> Row {
    Row { code, severity, about, rule }
}

use About::{Claims, Rest};
use Severity::{Error, Notice, Warning};

/// Every finding, in the order in which they are shown: errors and warnings of one kind stand together.
pub const TABLE: &[Row] = &[
    row(Code::OldDataLeft, Error, Rest, |c| kept::hazard(c, Hazard::OldDataLeft)),
    row(Code::ZeroingError, Error, Rest, |c| kept::hazard(c, Hazard::ZeroingError)),
    row(Code::NoAnswer, Error, Rest, |c| kept::hazard(c, Hazard::NoAnswer)),
    row(Code::LbprzConflict, Warning, Claims, claims::lbprz_conflict),
    row(Code::UnmapWithoutLbpme, Warning, Claims, claims::unmap_without_lbpme),
    row(Code::DeacWithoutReadZero, Warning, Claims, claims::deac_without_read_zero),
    row(Code::DlfeatReserved, Warning, Claims, claims::dlfeat_reserved),
    row(Code::OffloadWithdrawn, Warning, Claims, limits::offload_withdrawn),
    row(Code::StackLimitsConflict, Warning, Claims, limits::stack_limits_conflict),
    row(Code::LimitNotBlockMultiple, Warning, Claims, limits::limit_not_block_multiple),
    row(Code::IdentityShared, Warning, Rest, kept::identity_shared),
    row(Code::MeasurementStale, Warning, Rest, kept::measurement_stale),
    row(Code::NotSustained, Warning, Rest, |c| kept::of_test(c, Code::NotSustained)),
    row(Code::VerdictChanged, Warning, Rest, |c| kept::of_test(c, Code::VerdictChanged)),
    row(Code::StallDominated, Warning, Rest, |c| kept::of_test(c, Code::StallDominated)),
    row(Code::DeferredCost, Warning, Rest, |c| kept::of_test(c, Code::DeferredCost)),
    row(Code::MethodsDisagree, Warning, Rest, |c| kept::of_test(c, Code::MethodsDisagree)),
    row(Code::LimitsChangedByTest, Warning, Rest, |c| kept::of_test(c, Code::LimitsChangedByTest)),
    row(Code::AllocationChanged, Notice, Rest, |c| kept::of_test(c, Code::AllocationChanged)),
    row(Code::NotStationary, Notice, Rest, |c| kept::of_test(c, Code::NotStationary)),
    row(Code::OtherIo, Notice, Rest, |c| kept::of_test(c, Code::OtherIo)),
    row(Code::MovedByFilesystem, Notice, Rest, |c| kept::of_test(c, Code::MovedByFilesystem)),
    row(Code::ShortScratch, Notice, Rest, |c| kept::of_test(c, Code::ShortScratch)),
    row(Code::ZeroWritesElided, Notice, Rest, |c| kept::of_test(c, Code::ZeroWritesElided)),
    row(Code::TestInterrupted, Notice, Rest, kept::test_interrupted),
    row(Code::ReadZeroWithoutDeac, Notice, Claims, claims::read_zero_without_deac),
    row(Code::QuirkedOff, Notice, Claims, claims::quirked_off),
    row(Code::KernelSendsNoDeac, Notice, Claims, claims::kernel_sends_no_deac),
    row(Code::LimitTiny, Notice, Claims, limits::limit_tiny),
    row(Code::LimitBeyondNlb, Notice, Claims, limits::limit_beyond_nlb),
    row(Code::GranularityLarge, Notice, Claims, limits::granularity_large),
    row(Code::DiscardOnly, Notice, Claims, limits::discard_only),
    row(Code::DiscardRefused, Notice, Claims, limits::discard_refused),
    row(Code::DiscardIsZeroing, Notice, Claims, limits::discard_is_zeroing),
    row(Code::ProvisioningModeForced, Notice, Claims, claims::provisioning_mode_forced),
    row(Code::RotationalOffload, Notice, Claims, limits::rotational_offload),
    row(Code::KnobOff, Notice, Claims, limits::knob_off),
    row(Code::KnobPartial, Notice, Claims, limits::knob_partial),
    row(Code::KnobStuck4Gib, Notice, Claims, limits::knob_stuck_4gib),
    row(Code::NoKnob, Notice, Claims, limits::no_knob),
    row(Code::ZeroingModeOverridden, Notice, Claims, claims::zeroing_mode_overridden),
    row(Code::PinWithoutOffload, Notice, Rest, kept::pin_without_offload),
    row(Code::SetByAdmin, Notice, Rest, kept::set_by_admin),
    row(Code::LimitsChangedSinceMeasured, Notice, Rest, kept::limits_changed),
    row(Code::KernelChangedSinceMeasured, Notice, Rest, kept::kernel_changed),
];

/// How much a finding matters.
pub fn severity(code: FindingCode) -> Severity {
    // The table holds every code (a test holds that); a code without a row would be of no known weight.
    TABLE.iter().find(|row| row.code == code).map_or(Severity::Warning, |row| row.severity)
}

/// Every finding that holds.
pub fn all(ctx: &Ctx<'_>) -> Vec<Finding> {
    let finding = |row: &Row| (row.rule)(ctx).map(|text| Finding { code: row.code, severity: row.severity, text });
    TABLE.iter().filter_map(finding).collect()
}

/// Whether a warning from claims and limits stands against the claims.
pub fn claims_are_doubtful(findings: &[Finding]) -> bool {
    let doubts = |f: &Finding| TABLE.iter().any(|r| r.code == f.code && r.about == Claims && r.severity == Warning);
    findings.iter().any(doubts)
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
