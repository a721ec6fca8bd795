//! Reads bytes as the body of a request of a page: a record, a table or a saved table.
#![no_main]

#[path = "../../cambio-view/tests/bytes.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    bytes::request(data);
});
