//! Matches: the sequence of rounds, the deal, the agents at the table, the observers and the referee.

pub(crate) mod agent;
pub(crate) mod chance_match;
pub(crate) mod deal;
pub(crate) mod matches;
pub(crate) mod observer;
pub(crate) mod players;
pub(crate) mod playing;
pub(crate) mod referee;
pub(crate) mod round;
