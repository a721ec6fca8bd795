//! Tests of links, and of the program in WebAssembly.

mod links;
mod wasm;
