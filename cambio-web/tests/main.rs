//! Tests of the desk.

mod desk;
