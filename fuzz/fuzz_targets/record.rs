//! Bytes as lines of records: refused with a sentence or accepted, never a panic.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets take the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::records(data);
});
