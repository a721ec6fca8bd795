//! A local web application: play Cambio against agents, replay finished matches, browse run folders.
//!
//! [`Server`] binds a port of the loopback address. [`App`] maps requests to responses, also without a network. The requests of a page are
//! answered by a [`Desk`](cambio_view::Desk); this crate is its transport. It adds files, limits, threads and run folders.
//!
//! # Desks
//! Each tab of a browser has its own desk, so a hint or a review of one tab never delays another one. The server keeps the desks in memory
//! and forgets the oldest. A page keeps its table itself and opens it again if the server has forgotten it or has started again.
//!
//! # Hidden information
//! A page receives the steps of a [`Session`](cambio_view::Session), which contain only observations, sightings and public information.
//! Only the part of an answer that the page keeps, to open its table again, contains the seed. `cambio-view/src/desk/tests.rs` replays matches from
//! decks that differ only in cards that the seat has not seen, and compares every other byte. A match can be replayed only when it is
//! over.
//!
//! # Access
//! The address contains a random token. The `Host` must be this machine and the `Origin` this server. The sizes of
//! requests, the numbers of connections and desks, and all times are limited. Specs that start programs or read files
//! are rejected unless the settings allow them.

mod answer;
mod app;
mod assets;
mod desks;
mod request_guard;
mod runs;
mod server;

pub use app::{App, Settings};
pub use server::{Server, fresh_token};
