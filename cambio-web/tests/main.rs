//! Tests of the desk, and of the program in WebAssembly.

mod bytes;
mod desk;
mod links;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
mod wasm;
