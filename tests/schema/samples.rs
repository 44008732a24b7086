//! The samples of a test: what is written fits its definition, and every name stands on the page.

use super::*;
use verdict_format::samples::{Call, Calls, Edge, Length, Pair, Part, Samples, Screened, Stretch};

/// Samples with something in every list.
fn full() -> Samples {
    let pair = Pair {
        at_nanoseconds: 1,
        zero_first: true,
        write_nanoseconds: 2,
        zero_nanoseconds: 3,
        data_over_zeroed_nanoseconds: 4,
        data_over_written_nanoseconds: 5,
    };
    let part = Part { data: Calls::of(&[1]), zeroes: Calls::of(&[2]), flushes: Calls::of(&[3]) };
    let [d1, w, d2, z, r] = [(); 5].map(|()| part.clone());
    Samples {
        identity: Some("naa.5000000000000001".to_owned()),
        diskseq: Some(7),
        trials: 1,
        segment_bytes: 16 << 20,
        pairs: vec![pair],
        screened: vec![Screened { method: Some(Method::WriteZeroes), bytes: 1, pairs: vec![pair] }],
        first_writes: vec![Call { bytes: 1, nanoseconds: 1 }],
        first_zeroings: vec![Call { bytes: 1, nanoseconds: 1 }],
        lengths: vec![Length { bytes: 1, zero_nanoseconds: vec![1], write_nanoseconds: vec![1] }],
        edges: vec![Edge { offset_bytes: 1, length_bytes: 1, zero_nanoseconds: None, held: false }],
        stretches: vec![Stretch { bytes: 1, passes: 1, d1, w, d2, z, r }],
        ..Samples::none("2026-11-30T08:00:00Z")
    }
}

#[test]
fn samples_fit_their_definition_and_stand_on_the_page() {
    let (schema, samples) = (schema(), serde_json::to_value(full()).unwrap());
    let definition = &schema["$defs"]["samples"];
    let wrong = |value: &Value| {
        let mut out = Vec::new();
        faults(&schema, definition, value, "", &mut out);
        out
    };
    assert_eq!(wrong(&samples), [""; 0]);
    let (mut of_schema, mut of_value) = (BTreeSet::new(), BTreeSet::new());
    names_of_schema(&schema, definition, "", &mut of_schema);
    names_of_value(&samples, "", &mut of_value);
    assert_eq!(of_schema, of_value);
    let section = PAGE.split(".SH THE SAMPLES").nth(1).unwrap().split("\n.SH ").next().unwrap().replace('\\', "");
    for name in &of_value {
        let last = name.rsplit('.').next().unwrap();
        assert!(section.contains(last), "{name} is not on the page");
        let mut without = samples.clone();
        let pointer = format!("/{}", name.replace('.', "/").replace("[]", "/0"));
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        without.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(field).unwrap();
        assert!(!wrong(&without).is_empty(), "{name} missing");
    }
    assert_eq!(serde_json::from_value::<Samples>(samples).unwrap(), full());
}
