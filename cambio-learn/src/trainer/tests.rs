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

#[test]
fn it_learns_what_is_taken() {
    let (choices, mut trainer) = (TrainingData::Choices(choices()), Trainer::new(5, 1));
    let first = trainer.step(&choices, 0..300, 0.01);
    for _ in 0..100 {
        trainer.step(&choices, 0..300, 0.01);
    }
    let last = trainer.step(&choices, 0..300, 0.01);
    assert!((first.sum / 300.0 - 1.1).abs() < 0.4, "before training: {}", first.sum / 300.0);
    assert!(last.samples == 300 && last.sum / 300.0 < 0.05, "{}", last.sum / 300.0);
}

#[test]
fn the_gradient_of_a_choice_is_the_slope_of_its_loss() {
    let (choices, mut trainer) = (choices(), Trainer::new(5, 3));
    let base = trainer.clone();
    let loss_of = |trainer: &mut Trainer| -> f32 {
        (0..4).map(|number| trainer.imitate(pulp::Scalar::new(), &choices, number, &mut Vec::new())).sum()
    };
    let loss = loss_of(&mut trainer);
    let places = [0, WIDTH + 3, 2 * WIDTH + 7, trainer.parts.bias + 5, trainer.parts.second + 40];
    for place in places.into_iter().chain([trainer.parts.last + 2, trainer.parts.last_bias]) {
        let mut moved = base.clone();
        let by = 1e-2;
        moved.weights[place] += by;
        let slope = (loss_of(&mut moved) - loss) / by;
        let given = trainer.gradient[place];
        assert!((slope - given).abs() < 0.02 + 0.1 * given.abs(), "place {place}: {slope} for {given}");
    }
}

#[test]
fn it_learns_which_input_wins() {
    let (samples, mut trainer) = (TrainingData::Values(samples()), Trainer::new(5, 1));
    let first = trainer.step(&samples, 0..400, 0.01);
    for _ in 0..100 {
        trainer.step(&samples, 0..400, 0.01);
    }
    let last = trainer.step(&samples, 0..400, 0.01);
    assert!((first.sum / 400.0 - 0.69).abs() < 0.3, "before training: {}", first.sum / 400.0);
    assert!(last.sum / 400.0 < 0.05, "{}", last.sum / 400.0);
}

#[test]
fn the_gradient_is_the_slope_of_the_loss() {
    let samples = samples();
    let mut trainer = Trainer::new(5, 3);
    let base = trainer.clone();
    let mut loss = 0.0;
    for number in 0..4 {
        let (on, target) = samples.get(number);
        loss += trainer.learn(pulp::Scalar::new(), on, target);
    }
    let places = [0, WIDTH + 3, 2 * WIDTH + 7, trainer.parts.bias + 5, trainer.parts.second + 40];
    for place in places.into_iter().chain([trainer.parts.last + 2, trainer.parts.last_bias]) {
        let mut moved = base.clone();
        let by = 1e-2;
        moved.weights[place] += by;
        let mut other = 0.0;
        for number in 0..4 {
            let (on, target) = samples.get(number);
            other += moved.learn(pulp::Scalar::new(), on, target);
        }
        let slope = (other - loss) / by;
        let given = trainer.gradient[place];
        assert!((slope - given).abs() < 0.02 + 0.1 * given.abs(), "place {place}: {slope} for {given}");
    }
}

#[test]
fn a_restored_trainer_takes_the_same_steps() {
    let (samples, mut trainer) = (TrainingData::Values(samples()), Trainer::new(5, 1));
    for _ in 0..20 {
        trainer.step(&samples, 0..100, 0.01);
    }
    let (steps, parts) = trainer.state();
    let mut again = Trainer::restore(5, steps, parts.map(<[f32]>::to_vec)).unwrap();
    for _ in 0..20 {
        trainer.step(&samples, 100..400, 0.01);
        again.step(&samples, 100..400, 0.01);
    }
    assert_eq!(trainer.weights, again.weights);
    assert_eq!(trainer.average, again.average);
    assert!(Trainer::restore(6, steps, [(); 4].map(|()| vec![0.0; 9])).is_none());
}
