//! The figures of a verdict that a caller uses: what was verified, by which method, in which units. For a measured device
//! they are those of the measurement; for a stack that only passes zeroing on they follow from the members. It is pure.

use crate::terms::{Basis, Method};
use crate::verdict::Measurement;

/// See the module. What is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Whether every byte that was zeroed was read back as zero.
    pub zeroes_verified: Option<bool>,
    /// The method that the class is about.
    pub method: Option<Method>,
    /// Offsets and lengths should be multiples of this.
    pub alignment_bytes: Option<u64>,
    /// Bytes a call.
    pub chunk_bytes: Option<u64>,
}

impl Figures {
    /// Those of a class with this basis, and with this measurement where it has one.
    /// `members` are those of a stack's members.
    pub fn of_answer(
        basis: Option<Basis>,
        measurement: Option<&Measurement>,
        members: impl Iterator<Item = Figures> + Clone,
    ) -> Figures {
        match (measurement, basis) {
            (Some(m), _) => Figures {
                zeroes_verified: (!m.is_without_test()).then_some(m.zeroes_verified),
                method: m.method,
                alignment_bytes: m.hints.alignment_bytes,
                chunk_bytes: m.hints.chunk_bytes,
            },
            (None, Some(Basis::Derived)) => Figures::of_members(members),
            (None, _) => Figures::default(),
        }
    }

    /// Those of a stack of such members: as good as the least of them, and null as soon as one is not known.
    fn of_members(members: impl Iterator<Item = Figures> + Clone) -> Figures {
        let verified = members.clone().map(|m| m.zeroes_verified);
        let same_method = |a: Option<Method>, b: Option<Method>| a.filter(|_| a == b);
        let both = |a: Option<u64>, b: Option<u64>, how: fn(u64, u64) -> Option<u64>| how(a?, b?);
        Figures {
            // One member whose zeroes were not there outweighs another that nobody looked at.
            zeroes_verified: if verified.clone().any(|v| v == Some(false)) {
                Some(false)
            } else {
                verified.reduce(|a, b| a.zip(b).map(|(a, b)| a && b)).flatten()
            },
            method: members.clone().map(|m| m.method).reduce(same_method).flatten(),
            alignment_bytes: members
                .clone()
                .map(|m| m.alignment_bytes)
                .reduce(|a, b| both(a, b, least_common_multiple))
                .flatten(),
            chunk_bytes: members.map(|m| m.chunk_bytes).reduce(|a, b| both(a, b, |a, b| Some(a.min(b)))).flatten(),
        }
    }
}

/// `None` where there is none that fits, and for 0, which is no unit.
fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a.checked_div(x)?.checked_mul(b).filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Figures = Figures {
        zeroes_verified: Some(true),
        method: Some(Method::PunchHole),
        alignment_bytes: Some(4096),
        chunk_bytes: Some(8 << 20),
    };

    fn of(members: &[Figures]) -> Figures {
        Figures::of_members(members.iter().copied())
    }

    #[test]
    fn a_stack_is_as_good_as_the_least_of_its_members() {
        assert_eq!(of(&[ONE]), ONE);
        let other = Figures { alignment_bytes: Some(6144), chunk_bytes: Some(1 << 20), ..ONE };
        assert_eq!(of(&[ONE, other]), Figures { alignment_bytes: Some(12288), chunk_bytes: Some(1 << 20), ..ONE });
        let unverified = Figures { zeroes_verified: Some(false), method: Some(Method::WriteZeroes), ..ONE };
        assert_eq!(of(&[ONE, unverified]), Figures { zeroes_verified: Some(false), method: None, ..ONE });
    }

    #[test]
    fn what_is_not_known_of_one_member_is_not_known_of_the_stack() {
        assert_eq!(of(&[ONE, Figures::default()]), Figures::default());
        assert_eq!(of(&[Figures::default(), ONE]), Figures::default());
        assert_eq!(of(&[]), Figures::default());
        let lied = Figures { zeroes_verified: Some(false), ..Figures::default() };
        assert_eq!(of(&[lied, Figures::default()]).zeroes_verified, Some(false), "that one lied is known");
        assert_eq!(of(&[Figures::default(), lied]).zeroes_verified, Some(false));
    }

    #[test]
    fn a_common_multiple_that_overflows_is_none() {
        assert_eq!(least_common_multiple(0, 4096), None);
        assert_eq!(least_common_multiple(u64::MAX, u64::MAX - 1), None);
        assert_eq!(least_common_multiple(512, 4096), Some(4096));
    }
}
