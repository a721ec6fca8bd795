//! Reads bytes as a position, and writes it and reads it again.
#![no_main]

use cambio_core::Position;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(position) = text.parse::<Position>() {
        assert_eq!(position.to_string().parse(), Ok(position));
    }
});
