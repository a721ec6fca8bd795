//! The tests of the server, in one binary so that it is linked once.

mod abuse;
mod asking;
mod desks;
mod limits;
