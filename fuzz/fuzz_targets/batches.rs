//! Commits bytes as a batch of a run.
#![no_main]

#[path = "../../cambio-sim/tests/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::batches(data);
});
