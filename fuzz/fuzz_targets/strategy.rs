//! Reads bytes as a strategy file.
#![no_main]

#[path = "../../cambio-solve/tests/bytes.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::strategy(data);
});
