//! Cambio in a web page without a server: the [`Desk`](cambio_view::Desk) of `cambio serve` in a Web Worker.
//!
//! `scripts/website.py` compiles this crate to WebAssembly and builds a folder of static files with the pages. The crate contains only the
//! functions that the worker calls; on other targets it is empty.

#[cfg(target_arch = "wasm32")]
mod abi;
