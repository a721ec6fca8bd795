//! All integration tests are in one program, so that only one program is linked.

mod allocations;
mod chance_matches;
mod codes;
mod decisions;
mod examples;
mod fuzz;
mod goldens;
mod history;
mod knobs;
mod mini_games;
mod notation;
mod owning;
mod play;
mod playing;
mod properties;
mod records;
mod rounds;
mod rules_page;
mod sampling;
mod snaps;
mod table;
mod tensors;
mod turns;
mod windows;
