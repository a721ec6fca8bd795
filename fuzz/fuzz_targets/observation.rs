//! Reads bytes as an exact position and the sightings of its seat.
#![no_main]

#[path = "../../cambio-core/tests/play/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::observation(data);
});
