use super::*;
use cambio_core::State;
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Key, Purpose};
use cambio_core::rules::{MINI_GAMES, PRESETS};

/// The shared sums plus the sums of a candidate are equal to the sum over all inputs of the candidate. The rows of a general
/// network are so small that no sum of them is clamped.
#[test]
fn sharing_sums_changes_no_value() {
    let mut weighed = 0;
    for (deal, name) in (0..).zip(PRESETS.iter().chain(&MINI_GAMES[..5]).cycle().take(44)) {
        let rules = Rules::preset(name).unwrap();
        let seats = (2..=2 + deal as usize % 5).rev().find(|&seats| rules.covers(seats).is_ok()).unwrap();
        let key = Key::new(5, deal);
        let is_general = deal % 2 == 1;
        let inputs = if is_general { NetworkInputs::general(&rules) } else { NetworkInputs::new(&rules) };
        let mut floats = FloatNetwork::zero(inputs.count());
        let mut stream = key.stream(Purpose::Agent, 0);
        let mut next = |scale: f32| (stream.below(2001) as f32 / 1000.0 - 1.0) * scale;
        floats.rows.iter_mut().for_each(|weight| *weight = next(if is_general { 0.04 } else { 0.3 }));
        floats.second.iter_mut().for_each(|weight| *weight = next(0.3));
        floats.last.iter_mut().for_each(|weight| *weight = next(0.5));
        let network = Network::new(&inputs, &floats);
        let mut dice = Dice(key.stream(Purpose::Deck, 0));
        let mut deck = rules.deck().to_vec();
        stream.shuffle(&mut deck);
        let mut history = CardHistory::new(&rules, seats);
        let mut state = State::deal(&Setup::new(&rules, seats), &deck, &mut dice, &mut history).unwrap();
        let mut evaluation = NetworkEvaluation::default();
        while let Some(seat) = state.actor() {
            let view = state.view(seat);
            network.evaluate(&view, &history, &inputs.standing(&vec![Score::points(9); seats], seat), &mut evaluation);
            let actions: Vec<Action> = evaluation.actions().collect();
            for (index, &action) in actions.iter().enumerate() {
                assert!(view.allows(action), "{action}");
                if actions.len() > 1 {
                    let weights = network.general.as_ref().unwrap_or(&network.weights);
                    let mut sums = weights.bias;
                    let mut on = Vec::new();
                    inputs.on(&view, &evaluation, index, |input| on.push(input as u16));
                    network.vectors.add(weights, &mut sums, &on);
                    assert_eq!(
                        evaluation.values[index],
                        network.vectors.value(&network.weights, &sums, &[]),
                        "{action}"
                    );
                    assert_eq!(evaluation.index_of(&inputs, &view, action), Some(index), "{action}");
                    weighed += 1;
                }
            }
            let chosen = evaluation.choose(&inputs, &view);
            let pick = if stream.below(3) == 0 { actions[stream.below(actions.len() as u32) as usize] } else { chosen };
            state.apply(pick, &mut dice, &mut history).unwrap();
        }
    }
    assert!(weighed > 1000, "{weighed}");
}
