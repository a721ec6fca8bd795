//! The loop of a learner: observe, write a tensor, write a mask, choose, step.
//!
//! `cargo run --release -p cambio-core --example learner -- classic 1000` plays a thousand matches and says how many decisions they
//! took. The policy here is a stand-in: weights that chance drew, of which the highest among the legal decisions wins.

use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{ActionSpace, Playing, RoundHistory, Rules, TensorSpace, View as _};

const SEATS: usize = 2;

/// How much the policy likes each decision: a sum of weights of what the tensor holds.
fn likes(tensor: &[u8], weights: &[i32], scores: &mut [i32]) {
    scores.fill(0);
    for (number, _) in tensor.iter().enumerate().filter(|(_, entry)| **entry > 0) {
        for (score, weight) in scores.iter_mut().zip(&weights[number..]) {
            *score += weight;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let rules = Rules::preset(&words.next().unwrap_or_else(|| "classic".to_owned()))?;
    let matches = words.next().map_or(Ok(10), |word| word.parse())?;

    // The layouts are fixed for rules and seats: made once, as are the buffers.
    let (tensors, actions) = (TensorSpace::new(&rules, SEATS), ActionSpace::new(&rules, SEATS));
    let (mut tensor, mut mask) = (vec![0_u8; tensors.len()], vec![false; actions.action_count()]);
    let mut scores = vec![0; mask.len()];
    let mut dice = Key::new(7, 0).stream(Purpose::Agent, 0);
    let weights: Vec<i32> = (0..tensor.len() + mask.len()).map(|_| dice.below(2001) as i32 - 1000).collect();

    let mut playing = Playing::new(&rules, SEATS, Key::new(1, 0))?;
    let (mut decisions, mut wins) = (0, [0; SEATS]);
    for deal in 0..matches {
        playing.redeal(Key::new(1, deal));
        // What everybody perceived, for the tensor: it hears every event from the deal on.
        let mut history = RoundHistory::new(&rules, SEATS);
        history.stands(&playing.standing());
        playing.events().iter().for_each(|event| history.notice(event));
        while let Some(seat) = playing.state().actor().filter(|_| !playing.is_over()) {
            // A view looks faces up and copies nothing; it has those alone that the seat has seen.
            let view = playing.state().view(seat);
            tensors.write(&view, &history, &mut tensor);
            actions.mask(&view.choices(), seat, &mut mask);

            likes(&tensor, &weights, &mut scores);
            let legal = (0..mask.len()).filter(|&index| mask[index]);
            let best = legal.max_by_key(|&index| scores[index]).expect("who is asked has a legal decision");
            let action = actions.from_index(best, seat).expect("the mask has the indices of the space");

            let rounds = playing.rounds();
            playing.act_observed(action, &mut history)?;
            if playing.rounds() != rounds {
                history.stands(&playing.standing());
            }
            decisions += 1;
        }
        if let Some(result) = playing.result() {
            for (seat, rank) in result.ranks.iter().enumerate() {
                wins[seat] += usize::from(*rank == 1);
            }
        }
    }
    println!("{matches} matches, {decisions} decisions; seat a was first in {}, seat b in {}", wins[0], wins[1]);
    Ok(())
}
