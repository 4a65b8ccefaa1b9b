//! How failures are told, and the codes they end with.

use super::*;

#[test]
fn exit_codes_are_the_documented_numbers() {
    let codes = Exit::ALL.map(Exit::code);
    assert_eq!(codes, [0, 1, 2, 65, 66, 69, 70, 73, 74, 75, 76, 77, 78, 124]);
}

#[test]
fn a_failure_without_a_remedy_names_none_as_data() {
    let failure = Failure::new(Exit::Missing, "gone");
    assert_eq!(failure.data(), json!({ "error": "gone", "code": 66 }));
    let data = json!({ "error": "gone", "code": 66, "try": "dh" });
    assert_eq!(failure.remedy("dh").data(), data);
}

#[test]
fn a_panic_at_the_top_ends_as_an_internal_failure() {
    assert_eq!(guarded(|| panic!("told")), Exit::Internal);
    assert_eq!(guarded(|| Exit::TryAgain), Exit::TryAgain);
}

#[test]
fn what_a_panic_said_is_told_in_one_line() {
    let payload: Box<dyn Any + Send> = Box::new("left: 1\nright: 2".to_owned());
    assert_eq!(message(payload.as_ref()), "left: 1 / right: 2");
    assert_eq!(message(&7_u8), "no message");
}
