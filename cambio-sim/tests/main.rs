//! All integration tests in one program, so that only one is linked.

mod batches;
mod belief;
mod bytes;
mod faults;
mod focal;
mod hostile;
mod hypothesis;
mod luck;
#[path = "../../cambio-core/tests/play/mutate.rs"]
mod mutate;
mod quantities;
mod rows;

/// Plays a plan into a new folder.
fn play(path: &std::path::Path, plan: &cambio_sim::PlayablePlan) {
    let mut folder = cambio_sim::RunFolder::create(path, plan).unwrap();
    cambio_sim::Runner::new(&cambio_sim::Executor::new(2).unwrap()).run(plan, &mut folder).unwrap().outcome.unwrap();
}
