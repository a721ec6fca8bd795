//! Bytes as a rule file and the decisions of a match by it: refused with a sentence or played, never a panic.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets take the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // A refusal is as good as a match.
    let _ = bytes::rules(data);
});
