//! A local web application: play Cambio against agents, watch matches that are over, look into run folders.
//!
//! [`Server`] binds a port of the loopback address. [`App`] is what answers: a function from requests to answers, which tests ask
//! without a network.
//!
//! # What a browser may know
//! A page for a player is sent the steps of a [`Sitting`](cambio_view::Sitting), made of observations, sightings and public
//! information. The state of the match stays here. `tests/hidden.rs` plays matches again from decks that differ only where the seat cannot look, and compares
//! every byte. A match can be watched when it is over.
//!
//! # Who may ask
//! The address has a random token; the `Host` has to be this machine's, the `Origin` ours. Bodies, heads, connections, tables and
//! times are bounded. Specs that start programs or read files are refused unless the settings name them.

mod answer;
mod api;
mod app;
mod appraisals;
mod assets;
mod desk;
mod gate;
mod matches;
mod rooms;
mod runs;
mod server;
mod settings;

pub use app::App;
pub use server::Server;
pub use settings::Settings;
