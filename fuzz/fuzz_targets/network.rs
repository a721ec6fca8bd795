//! Reads bytes as a network file and plays with the network.
#![no_main]

#[path = "../../cambio-agents/tests/bytes.rs"]
#[allow(dead_code, reason = "the other targets use the rest")]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::network(data);
});
