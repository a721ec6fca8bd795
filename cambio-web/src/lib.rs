//! Cambio in a web page without a server.
//!
//! A [`Desk`] answers the requests of the pages of `cambio serve`: the same paths, the same JSON. It uses no network, threads,
//! clock or entropy, so it runs in a Web Worker: `scripts/website.py` compiles this crate to WebAssembly and builds a folder of static
//! files with the pages. On other targets the crate is an ordinary library.
//!
//! ```
//! use cambio_web::Desk;
//!
//! let mut desk = Desk::new(cambio_agents::roster(), 42);
//! let request = r#"{ "rules": "classic", "opponents": ["greedy"], "seed": "7" }"#;
//! assert_eq!(desk.request("api/tables", Some(request)).body, r#"{"table":1}"#);
//! while desk.work(&mut |_| {}) {}
//! assert!(desk.request("api/tables/1/events", None).body.starts_with(r#"{"hello":"#));
//! let refused = desk.request("api/tables/1/record", None);
//! assert_eq!(refused.status, 409);
//! ```
//!
//! # Networks
//! Without the feature `bundled` of `cambio-agents`, the program has no networks. If a request needs one, its status is
//! [`Desk::NEEDS_NETWORK`] and its error names the files. Pass each of them to [`cambio_agents::provide_network`] and repeat the
//! request.

#[cfg(target_arch = "wasm32")]
mod abi;
mod desk;

pub use desk::{Answer, Desk};
