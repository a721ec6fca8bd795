//! Reads bytes as the decisions of a match, and checks invariants of the engine.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::decisions(data);
});
