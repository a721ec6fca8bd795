//! Tests of the desk, and of the program in WebAssembly.

mod desk;
mod wasm;
