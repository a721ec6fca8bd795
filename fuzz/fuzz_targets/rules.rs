//! Reads bytes as a rule file and as the decisions of a match with these rules.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // An error is a valid result too.
    let _ = bytes::rules(data);
});
