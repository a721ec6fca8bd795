//! The tests of the crate's interface, in one binary so that it is linked once.

mod bytes;
mod desk;
mod hidden;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
mod reaction;

/// The size of a random test: `small`, or `full` with `CAMBIO_FULL=1`.
fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}
