use cambio_core::Rules;
use cambio_core::rules::MAX_SEATS;

use super::Lesson as _;
use super::*;

fn samples() -> Samples {
    let mut samples = Samples::default();
    // The first input means a win, the second a loss; the third carries no information.
    for number in 0..400_u16 {
        let is_win = number % 2 == 0;
        samples.push(&[u16::from(!is_win), 2 + number % 3], f32::from(u8::from(is_win)));
    }
    samples
}

/// Decisions among three candidates, in which the candidate with the first input is chosen.
fn choices() -> ChoiceSamples {
    let mut choices = ChoiceSamples::default();
    for number in 0..300_u16 {
        for candidate in 0..3 {
            let is_taken = candidate == number % 3;
            choices.push(&[u16::from(!is_taken), 2 + candidate], is_taken);
        }
        choices.end();
    }
    choices
}

/// Compares the gradient that `learn` adds up with the slopes of a loss at some weights.
fn check_gradient(learn: impl FnOnce(&mut Trainer), mut loss: impl FnMut(&mut Trainer) -> f32) {
    let (base, by) = (Trainer::new(5, 3), 1e-2);
    let mut trainer = base.clone();
    learn(&mut trainer);
    let (first, parts) = (loss(&mut base.clone()), &trainer.parts);
    let hidden = [0, WIDTH + 3, 2 * WIDTH + 7, parts.bias + 5, parts.second + 40];
    for place in hidden.into_iter().chain([parts.last + 2, parts.last_bias]) {
        let mut moved = base.clone();
        moved.weights[place] += by;
        let slope = (loss(&mut moved) - first) / by;
        let given = trainer.gradient[place];
        assert!((slope - given).abs() < 0.02 + 0.1 * given.abs(), "place {place}: {slope} for {given}");
    }
}

#[test]
fn values_learn_the_winning_input() {
    let (samples, mut trainer) = (samples(), Trainer::new(5, 1));
    let first = trainer.step_values(&samples, 0..400, 0.01);
    for _ in 0..100 {
        trainer.step_values(&samples, 0..400, 0.01);
    }
    let last = trainer.step_values(&samples, 0..400, 0.01);
    assert!((first.sum / 400.0 - 0.69).abs() < 0.3, "before training: {}", first.sum / 400.0);
    assert!(last.sum / 400.0 < 0.05, "{}", last.sum / 400.0);
}

#[test]
fn the_gradient_is_the_slope_of_the_loss() {
    let samples = samples();
    let loss = |trainer: &mut Trainer| -> f32 {
        (0..4).map(|number| Values(&samples).learn(pulp::Scalar::new(), trainer, number)).sum()
    };
    check_gradient(|trainer| _ = loss(trainer), &loss);
}

#[test]
fn a_restored_trainer_takes_the_same_steps() {
    let (samples, mut trainer) = (samples(), Trainer::new(5, 1));
    for _ in 0..20 {
        trainer.step_values(&samples, 0..100, 0.01);
    }
    let (steps, parts) = trainer.state();
    let mut again = Trainer::restore(5, steps, parts.map(<[f32]>::to_vec));
    for _ in 0..20 {
        trainer.step_values(&samples, 100..400, 0.01);
        again.step_values(&samples, 100..400, 0.01);
    }
    assert_eq!(trainer.weights, again.weights);
    assert_eq!(trainer.average, again.average);
    assert_eq!(trainer.weights.len(), Trainer::len(5));
}

#[test]
fn the_first_weights_have_no_part_in_the_average() {
    let (samples, trainer) = (samples(), Trainer::new(5, 1));
    // The other trainer forgets other initial weights.
    let mut pair = [trainer.clone(), Trainer { average: vec![100.0; trainer.average.len()], ..trainer }];
    for step in 1..=64 {
        for trainer in &mut pair {
            trainer.step_values(&samples, 0..100, 0.01);
        }
        let [one, other] = &pair;
        assert_eq!(one.average, other.average);
        if step <= AVERAGE_EVERY {
            assert_eq!(one.average, one.weights);
        }
    }
    assert_ne!(pair[0].average, pair[0].weights);
}

#[test]
fn the_average_is_mostly_of_the_last_quarter() {
    for updates in [40, 400, 4000] {
        // The weight that the updates up to each one have in the average.
        let kept = |first: u64| (first + 1..=updates).map(|update| 1.0 - average_share(update)).product::<f32>();
        let window = updates.min(800);
        assert!(kept(updates - window / 4) < 0.4, "{updates}");
        assert!(kept(updates - window / 2) < 0.15, "{updates}");
    }
}

/// The decisions of [`choices`], drawn with probability 1/3 each.
fn policy() -> PolicySamples {
    PolicySamples { choices: choices(), chances: vec![1.0 / 3.0; 300], ..PolicySamples::default() }
}

const SURROGATE: Surrogate = Surrogate { clip: 0.2, entropy: 0.3 };

#[test]
fn the_gradient_of_a_policy_is_the_slope_of_its_objective() {
    let samples = policy();
    // The objective, computed from the outputs alone. No ratio is clipped with these advantages.
    let advantages = [0.5, -0.7, 0.2, -0.1];
    let objective = |trainer: &Trainer| -> f32 {
        let one = |(number, advantage): (usize, f32)| {
            let logits: Vec<f32> = samples
                .choices
                .get(number)
                .map(|(on, _)| {
                    let mut forward = Activations::NONE;
                    trainer.forward(pulp::Scalar::new(), on, &mut forward);
                    forward.logit
                })
                .collect();
            let sum: f32 = logits.iter().map(|&logit| libm::expf(logit)).sum();
            let chances: Vec<f32> = logits.iter().map(|&logit| libm::expf(logit) / sum).collect();
            let entropy: f32 = -chances.iter().map(|&chance| chance * libm::logf(chance)).sum::<f32>();
            3.0 * chances[number % 3] * advantage + SURROGATE.entropy * entropy
        };
        (0..4).zip(advantages).map(one).sum()
    };
    let free = Surrogate { clip: 1e9, ..SURROGATE };
    let mut lesson = Policy { samples: &samples, advantages: &advantages, surrogate: free, forward: Vec::new() };
    let mut learn = |trainer: &mut Trainer| {
        for number in 0..advantages.len() {
            lesson.learn(pulp::Scalar::new(), trainer, number);
        }
    };
    check_gradient(&mut learn, |trainer| -objective(trainer));
}

#[test]
fn policies_follow_advantages_until_the_clip() {
    let (samples, mut trainer) = (policy(), Trainer::new(5, 1));
    let chance = |trainer: &Trainer| {
        let (mut all, mut forward) = (Vec::new(), Activations::NONE);
        for (on, _) in samples.choices.get(0) {
            trainer.forward(pulp::Scalar::new(), on, &mut forward);
            all.push(libm::expf(forward.logit));
        }
        all[0] / all.iter().sum::<f32>()
    };
    let mut free = trainer.clone();
    let greedy = Surrogate { entropy: 0.0, ..SURROGATE };
    for _ in 0..400 {
        trainer.step_policy(&samples, &[1.0; 300], 0..300, 0.001, greedy);
        free.step_policy(&samples, &[1.0; 300], 0..300, 0.001, Surrogate { clip: 1e9, ..greedy });
    }
    // The ratio to 1/3 is clipped at 1.2; the momentum carries it a little further.
    let (clipped, free) = (chance(&trainer), chance(&free));
    assert!((0.39..0.6).contains(&clipped) && free > 0.95, "{clipped} and {free}");
    for _ in 0..400 {
        trainer.step_policy(&samples, &[0.0; 300], 0..300, 0.003, SURROGATE);
    }
    assert!((chance(&trainer) - 1.0 / 3.0).abs() < 0.02, "entropy alone leads back to equal chances");
}

#[test]
fn advantages_are_those_of_a_round_computed_by_hand() {
    let at = |seat_0, seat_1| {
        let mut values = [0.0; MAX_SEATS];
        values[..2].copy_from_slice(&[seat_0, seat_1]);
        values
    };
    let samples = PolicySamples {
        seats: vec![0, 1, 0, 1],
        rounds: vec![(3, at(1.0, 0.0)), (4, at(1.0, 0.0))],
        ..PolicySamples::default()
    };
    let (advantages, returns) = samples.advantages(&[0.5, 0.4, 0.7, 0.6], 0.5);
    // Seat 0: 1 - 0.7 at its last decision; 0.7 - 0.5 plus half of that at its first. Seat 1 loses both rounds.
    for (found, wanted) in advantages.iter().zip([0.35, -0.4, 0.3, -0.6]) {
        assert!((found - wanted).abs() < 1e-6, "{advantages:?}");
    }
    for (found, wanted) in returns.iter().zip([0.85, 0.0, 1.0, 0.0]) {
        assert!((found - wanted).abs() < 1e-6, "{returns:?}");
    }
}

#[test]
fn a_general_network_learns_in_the_rows_of_its_rules() {
    let inputs = NetworkInputs::general(&Rules::preset("mini-m1").unwrap());
    let embedding = inputs.embedding().unwrap();
    let (mut own, mut general) = (Samples::default(), Samples::default());
    own.begin(&inputs);
    for number in 0..40_u16 {
        let (on, target) = ([number % 7, 9 + number % 3, 20 + number % 5], f32::from(number % 2));
        own.push(&on, target);
        let on = on.iter().flat_map(|&input| embedding.of(input.into())).chain(embedding.always());
        general.push(&on.copied().collect::<Vec<_>>(), target);
    }
    let mut trainers = [Trainer::new(inputs.count(), 1), Trainer::new(inputs.count(), 1)];
    for (trainer, samples) in trainers.iter_mut().zip([&own, &general]) {
        trainer.step_values(samples, 0..20, 1e-3);
        trainer.step_values(samples, 20..40, 1e-3);
    }
    let [one, other] = &trainers;
    // Adam divides by the size of the gradient, so only weights with a gradient that is not rounding can be compared.
    let far = one.weights.iter().zip(&other.weights).filter(|(one, other)| (*one - *other).abs() > 1e-4).count();
    let moved = one
        .weights
        .iter()
        .zip(&Trainer::new(inputs.count(), 1).weights)
        .filter(|(one, old)| one.to_bits() != old.to_bits())
        .count();
    assert!(moved > 5_000 && far * 1000 < moved, "{far} of {moved} weights");
}
