//! The tests of the server, in one binary so that it is linked once.

mod abuse;
mod asking;
mod friends;
mod hidden;
mod limits;
mod matches;
mod restart;
mod review;
