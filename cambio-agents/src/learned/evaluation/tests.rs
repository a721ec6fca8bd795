use super::*;
use cambio_core::State;
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Key, Purpose};
use cambio_core::rules::PRESETS;

/// The shared sums plus the sums of a candidate are equal to the sum over all inputs of the candidate.
#[test]
fn sharing_sums_changes_no_value() {
    let mut weighed = 0;
    for (deal, name) in (0..).zip(PRESETS.iter().cycle().take(36)) {
        let rules = Rules::preset(name).unwrap();
        let (key, seats) = (Key::new(5, deal), 2 + deal as usize % 5);
        let inputs = NetworkInputs::new(&rules);
        let mut floats = FloatNetwork::zero(inputs.count());
        let mut stream = key.stream(Purpose::Agent, 0);
        let mut next = |scale: f32| (stream.below(2001) as f32 / 1000.0 - 1.0) * scale;
        floats.rows.iter_mut().for_each(|weight| *weight = next(0.3));
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
                    let mut sums = network.weights.bias;
                    let mut on = Vec::new();
                    inputs.on(&view, &evaluation, index, |input| on.push(input as u16));
                    network.vectors.add(&network.weights, &mut sums, &on);
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
