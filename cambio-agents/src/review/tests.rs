//! The intervals of costs and the verdicts, compared with references from many more worlds.

use cambio_core::play::RoundResult;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{MatchSetup, Observer, play_match};

use super::*;
use crate::reason::Continuations;
use crate::roster;

/// What the reviews of some decisions say, and how often they agree with a reference and with each other.
#[derive(Debug, Default)]
struct Agreement {
    /// The number of reviewed decisions with an interval, and of intervals that contain the reference.
    intervals: u32,
    covered: u32,
    /// The number of decisions with too few different worlds.
    uncertain: u32,
    /// The number of repetitions of reviews that found a blunder, and of those that found it again.
    repeated: u32,
    again: u32,
    /// The number of reasons, and of those whose difference has the same direction in the reference.
    reasons: u32,
    hold: u32,
}

/// Whether the difference in this sentence has the same direction between other games after the best decision and after the other one:
/// a difference of shares by at least 1.96 standard errors of `worlds` games.
fn holds(reason: &str, games: &[Continuations], state: &State, worlds: u32) -> bool {
    let [best, own] = [0, 1].map(|number| &games[number]);
    let Some((text, shares)) = reason.split_once(" in ").filter(|_| reason.contains(" games, and in ")) else {
        let seat = Seat::ALL[..state.table().seats()].iter().find(|seat| reason.contains(&format!(", {seat} has ")));
        let gap = |games: &Continuations| games.points().nth(seat.unwrap().index()).unwrap();
        return (gap(own) > gap(best)) == reason.contains(" more ");
    };
    let text = text.split_once("`, ").unwrap().1;
    let mark = best.marks.keys().chain(own.marks.keys()).find(|mark| mark.text(state.table().rules()) == text);
    let number = |text: &str| text.split_whitespace().next().unwrap().parse::<u32>().unwrap();
    let said = number(shares) > number(shares.split_once(" and in ").unwrap().1);
    mark.is_some_and(|&mark| {
        let (after_best, after_own) = (best.share(mark), own.share(mark));
        let variance = |share: f64| share * (1.0 - share) / f64::from(worlds);
        let difference = if said { after_best - after_own } else { after_own - after_best };
        difference > 1.96 * (variance(after_best) + variance(after_own)).sqrt()
    })
}

/// Reviews every decision of a match, several times with other random numbers.
struct Checker {
    reviewer: Reviewer,
    repetitions: u64,
    /// The number of worlds of a reference.
    worlds: u32,
    found: Agreement,
}

impl Checker {
    /// The costs of decisions against the first one, and the games after them, in many independent worlds.
    fn reference(&mut self, state: &State, actions: &[Action]) -> (DecisionComparison, Vec<Continuations>) {
        let seat = state.actor().unwrap();
        let view = state.observe(seat);
        let number = self.worlds;
        let Reviewer { policy, seats, valuer, .. } = &mut self.reviewer;
        let inference = &seats[seat.index()];
        let policies = vec![(policy.clone(), inference.past().clone())];
        let mut draw = |block: u64, worlds: u32| {
            let (worlds, proposals) = (worlds as usize, 4 * worlds as usize);
            let settings = SamplingSettings { worlds, proposals, epsilon: DEVIATION, ..SamplingSettings::default() };
            inference.sample(&view, policy, &settings, (0.0, 0), 0x4d ^ block)
        };
        let effort =
            Effort { selection: 0, max_measured: actions.len(), worlds: number, precision: None, z: MeanEstimate::Z };
        let mut comparer = Comparer::new(&view, policies, valuer, &mut draw, effort, 78);
        let groups = actions.iter().map(|&action| vec![action]).collect();
        let measured = comparer.measure(groups, number);
        (comparer.comparison(&measured), measured.into_iter().map(|own| own.games).collect())
    }
}

impl Observer for Checker {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.reviewer.round_begins(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.reviewer.event(event);
    }

    fn decides(&mut self, state: &State, _: Seat, action: Action) {
        let review = self.reviewer.clone().review(state, action);
        self.found.uncertain += u32::from(review.is_uncertain);
        let blunder = self.reviewer.blunder();
        if let Some(known) = &review.known {
            // A full test has enough decisions that cost something.
            let is_checked =
                |value: &&DecisionValue| value.cost.is_some() && (value.action == action || self.repetitions < 5);
            let checked: Vec<&DecisionValue> = known.decisions.iter().filter(is_checked).collect();
            let actions: Vec<Action> =
                std::iter::once(known.best()).chain(checked.iter().map(|value| value.action)).collect();
            if !checked.is_empty() {
                let (reference, games) = self.reference(state, &actions);
                for (number, value) in (1..).zip(checked) {
                    let [own, expected] = [value.cost, reference.of(value.action).unwrap().cost].map(Option::unwrap);
                    self.found.intervals += 1;
                    self.found.covered +=
                        u32::from((own.mean - expected.mean).abs() <= libm::hypot(own.half, expected.half));
                    let is_wrong = matches!(review.grade(blunder), Some(Grade::Mistake | Grade::Blunder));
                    let reason = value.reason.as_deref().filter(|reason| reason.starts_with("After"));
                    if let Some(reason) = reason.filter(|_| is_wrong && value.action == action) {
                        let pair = [games[0].clone(), games[number].clone()];
                        let holds = holds(reason, &pair, state, self.worlds);
                        eprintln!("{holds}: {reason} Cost {:.3}", own.mean);
                        self.found.reasons += 1;
                        self.found.hold += u32::from(holds);
                    }
                }
            }
            if review.grade(blunder) == Some(Grade::Blunder) {
                for seed in 0..self.repetitions {
                    let again = self.reviewer.clone().with_seed(1 + seed).review(state, action);
                    self.found.repeated += 1;
                    self.found.again += u32::from(again.grade(blunder) == Some(Grade::Blunder));
                }
            }
        }
        self.reviewer.decides(state);
    }

    fn round_ends(&mut self, _: &State, _: &RoundResult) {}
}

/// With `CAMBIO_FULL=1`: about 300 intervals against references with 10,000 worlds.
#[test]
fn cost_intervals_cover_a_reference_and_find_blunders() {
    let is_full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let (deals, worlds, playouts, repetitions) = if is_full { (32, 10_000, 200, 5) } else { (3, 400, 40, 1) };
    let mut found = Agreement::default();
    for (number, (preset, agents)) in [
        ("classic", vec!["greedy", "heuristic"]),
        ("original", vec!["heuristic", "learned"]),
        ("classic", vec!["greedy", "sharp", "learned", "heuristic"]),
    ]
    .into_iter()
    .enumerate()
    .take(if is_full { 3 } else { 1 })
    {
        let rules = Rules::preset(preset).unwrap();
        let mut table = rules.spec().clone();
        table.match_end = MatchEnd::Rounds(if preset == "original" { 2 } else { 1 });
        let rules = table.validate().unwrap();
        for deal in 0..deals {
            let setup = MatchSetup { rules, seats: agents.len(), key: Key::new(number as u64, deal) };
            let mut seated: Vec<_> = agents.iter().map(|spec| roster().parse(spec).unwrap().make()).collect();
            let reviewer = Reviewer::new(&rules, agents.len(), playouts);
            let mut checker = Checker { reviewer, repetitions, worlds, found: std::mem::take(&mut found) };
            play_match(&setup, &mut seated, &mut checker).unwrap();
            found = checker.found;
        }
    }
    eprintln!("{found:?}");
    let covered = f64::from(found.covered) / f64::from(found.intervals);
    let again = f64::from(found.again) / f64::from(found.repeated.max(1));
    if is_full {
        assert!(found.intervals >= 300 && (0.93..=0.98).contains(&covered), "{covered} of {found:?}");
        assert!(found.repeated >= 100 && again >= 0.8, "{again} of {found:?}");
    } else {
        assert!(found.intervals >= 4 && covered >= 0.75, "{covered} of {found:?}");
    }
}

/// With `CAMBIO_FULL=1`: more than 200 reasons.
#[test]
fn differences_in_reasons_hold_in_other_worlds() {
    let is_full = std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1");
    let (deals, playouts, worlds) = if is_full { (60, 200, 1000) } else { (2, 120, 500) };
    let rules = Rules::preset("classic").unwrap().of_one_round();
    let mut found = Agreement::default();
    for deal in 0..deals {
        let setup = MatchSetup { rules, seats: 3, key: Key::new(9, deal) };
        let mut seated = ["random", "greedy", "heuristic"].map(|spec| roster().parse(spec).unwrap().make());
        let reviewer = Reviewer::new(&rules, 3, playouts);
        let mut checker = Checker { reviewer, repetitions: 0, worlds, found: std::mem::take(&mut found) };
        play_match(&setup, &mut seated, &mut checker).unwrap();
        found = checker.found;
    }
    eprintln!("{found:?}");
    assert!(found.reasons >= if is_full { 200 } else { 4 }, "{found:?}");
    assert!(f64::from(found.hold) >= 0.8 * f64::from(found.reasons), "{found:?}");
}
