//! A local web application: play Cambio against agents, replay finished matches, browse run folders.
//!
//! [`Server`] binds a port of the loopback address. [`App`] maps requests to responses, also without a network.
//!
//! # Hidden information
//! Each player's page receives the steps of a [`Session`](cambio_view::Session), which contain only observations,
//! sightings and public information. The state of the match stays in the server. `tests/hidden.rs` replays matches from
//! decks that differ only in cards that the seat has not seen, and compares every byte. A match can be replayed only
//! when it is over.
//!
//! # Access
//! The address contains a random token. The `Host` must be this machine and the `Origin` this server. The sizes of
//! requests, the numbers of connections and tables, and all times are limited. Specs that start programs or read files
//! are rejected unless the settings allow them.
//!
//! Several people can sit at one table. Each guest has a link with a token that reaches one seat of this table and nothing else. If the
//! settings have an address in a local network, only such links work there.
//!
//! # Restarts
//! A server can keep its token, its tables and its finished reviews in a [`TableFolder`]. The next server with this folder has the same
//! token, tables, links and reviews.

mod answer;
mod api;
mod app;
mod app_state;
mod assets;
mod match_index;
mod match_records;
mod matches;
mod request_guard;
mod reviews;
mod room;
mod runs;
mod searches;
mod server;
mod sessions;
mod settings;
mod table_folder;

pub use app::App;
pub use server::Server;
pub use settings::Settings;
pub use table_folder::TableFolder;
