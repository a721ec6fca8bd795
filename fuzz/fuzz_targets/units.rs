//! Reads bytes as one file of a store of units, and merges the units.
#![no_main]

#[path = "../../cambio-sim/tests/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::units(data);
});
