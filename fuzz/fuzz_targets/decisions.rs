//! Bytes as the decisions of a match: never a panic, and the engine keeps its promises.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets take the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::decisions(data);
});
