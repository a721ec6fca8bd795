use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{Rules, Seat};

use super::*;

#[test]
fn a_computation_stops_between_two_decisions() {
    let deal = cambio_core::Deal::new(&Rules::preset("classic").unwrap(), Key::new(1, 0));
    let greedy = roster().parse("greedy").unwrap();
    let (notes, practice) = (true, true);
    let opponents = vec![greedy.clone()];
    let config = SessionConfig { notes, practice, ..SessionConfig::alone(deal, Seat::A, opponents) };
    let draw = ["draw".parse().unwrap()];
    assert!(hint(&config, &draw, &greedy, &|| true).is_ok());
    assert_eq!(hint(&config, &draw, &greedy, &|| false).unwrap_err().0, STOPPED);
}
