//! Reads bytes as an experiment file and plans the experiment.
#![no_main]

#[path = "../../cambio-sim/tests/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::experiment(data);
});
