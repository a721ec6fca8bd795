//! Searches use only the information of their seat, decide the same on every machine, and beat their blueprint.

use cambio_agents::{Arm, Ismcts, Rollout, roster};
use cambio_core::engine::{Dice, Setup};
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::{
    Action, Agent, Briefing, Event, Knowledge, MatchSetup, Observer as _, Players, Rules, Seat, Standing, State,
    play_match,
};

/// A search with public root statistics.
trait Search: Agent + Clone {
    fn arms(&self) -> &[Arm];
}

impl Search for Rollout {
    fn arms(&self) -> &[Arm] {
        Rollout::arms(self)
    }
}

impl Search for Ismcts {
    fn arms(&self) -> &[Arm] {
        Ismcts::arms(self)
    }
}

fn rollout(spec: &str) -> Rollout {
    Rollout::new(roster().parse(spec).unwrap().params().unwrap())
}

fn ismcts(spec: &str) -> Ismcts {
    Ismcts::new(roster().parse(spec).unwrap().params().unwrap())
}

/// Lets a search in seat a watch a round of heuristic players, and passes it to `each` at each decision of seat a.
fn watch<S: Search>(
    rules: &Rules,
    seats: usize,
    key: Key,
    search: &S,
    mut each: impl FnMut(&mut S, &State, &Knowledge),
) {
    let mut stream = key.stream(Purpose::Deck, 0);
    let mut deck = rules.deck().to_vec();
    stream.shuffle(&mut deck);
    let streams = Seat::ALL.map(|seat| key.agent(seat));
    let briefing = |seat: Seat| Briefing { rules, seats, seat, stream: &streams[seat.index()] };
    let heuristic = roster().parse("heuristic").unwrap();
    let mut players = Players::all((0..seats).map(|_| heuristic.make()));
    let mut searching = Players::only(search.clone(), Seat::A, seats);
    searching.brief(&briefing(Seat::A)).unwrap();
    Seat::ALL[..seats].iter().for_each(|&seat| players.brief(&briefing(seat)).unwrap());
    let setup = Setup::new(rules, seats);
    searching.round_begins(&Standing { round: 0, setup, totals: &vec![cambio_core::Score::default(); seats] }, &deck);
    let mut knowledge = Knowledge::new(rules, seats, Seat::A);
    let mut dice = Dice(stream);
    let told = |event: &Event<_>, players: &mut Players<_>, searching: &mut Players<S>, knowledge: &mut Knowledge| {
        (players, searching).event(event);
        knowledge.notice(&event.seen_from(Seat::A));
    };
    let mut sink = |event: &Event<_>| told(event, &mut players, &mut searching, &mut knowledge);
    let mut state = State::deal(&setup, &deck, &mut dice, &mut sink).unwrap();
    while let Some(seat) = state.actor() {
        if seat == Seat::A {
            each(searching.agents_mut()[0].as_mut().unwrap(), &state, &knowledge);
        }
        let action = players.ask(&state.observe(seat)).unwrap().unwrap();
        let mut sink = |event: &Event<_>| told(event, &mut players, &mut searching, &mut knowledge);
        state.apply(action, &mut dice, &mut sink).unwrap();
    }
}

fn bits(arms: &[Arm]) -> Vec<(Action, u32, u64)> {
    arms.iter().map(|arm| (arm.action, arm.visits, arm.sum.to_bits())).collect()
}

/// Deals again all cards that seat a cannot know, including the order of the stock, and expects the same decision and
/// bit-identical root statistics.
fn is_invariant<S: Search>(presets: &[&str], search: &S, states: usize) {
    for &preset in presets {
        let rules = Rules::preset(preset).unwrap();
        let mut compared = 0;
        for deal in 0.. {
            let key = Key::new(31, deal);
            let mut stream = key.stream(Purpose::Race, 9);
            watch(&rules, 2 + deal as usize % 3, key, search, |search, state, knowledge| {
                let (mut one, mut other) = (search.clone(), search.clone());
                let world = knowledge.sample(&state.observe(Seat::A), &mut stream);
                let decided =
                    (one.decide(&state.observe(Seat::A)).unwrap(), other.decide(&world.observe(Seat::A)).unwrap());
                assert_eq!(decided.0, decided.1, "{preset}, deal {deal}");
                assert_eq!(bits(one.arms()), bits(other.arms()), "{preset}, deal {deal}");
                compared += usize::from(one.arms().iter().any(|arm| arm.visits > 0));
            });
            if compared >= states {
                break;
            }
        }
    }
}

/// The number of states for each preset and search.
fn states() -> usize {
    crate::play::amount(30, 1000)
}

#[test]
fn rollouts_do_not_depend_on_cards_that_the_seat_cannot_know() {
    is_invariant(&PRESETS, &rollout("rollout(n=16)"), states());
}

#[test]
fn trees_ignore_hidden_cards() {
    for spec in [
        "ismcts(iterations=24,mode=so)",
        "ismcts(iterations=24,mode=mo,playout=blueprint,epsilon=0.2)",
        "ismcts(iterations=48,expand=4,utility=match)",
    ] {
        is_invariant(&PRESETS, &ismcts(spec), states());
    }
}

/// A snapshot of the root statistics of a few decisions.
#[test]
fn root_statistics_do_not_depend_on_the_machine() {
    let mut all = String::new();
    let rules = ["classic", "original", "faessler"].map(|preset| Rules::preset(preset).unwrap());
    let mut note = |spec: &str, arms: &[Arm]| {
        if arms.iter().any(|arm| arm.visits > 0) {
            use std::fmt::Write as _;
            let arms = arms.iter().map(|arm| format!("{} {} {:016x}", arm.action, arm.visits, arm.sum.to_bits()));
            writeln!(all, "{spec}: {}", arms.collect::<Vec<_>>().join(", ")).unwrap();
        }
    };
    for (number, rules) in rules.iter().enumerate() {
        let key = Key::new(4, number as u64);
        let mut asked = 0;
        for spec in ["rollout(n=64)", "rollout(n=64,utility=match)"] {
            watch(rules, 2, key, &rollout(spec), |search, state, _| {
                asked += 1;
                if asked % 3 == 0 {
                    search.decide(&state.observe(Seat::A)).unwrap();
                    note(spec, search.arms());
                }
            });
        }
        for spec in ["ismcts(iterations=200)", "ismcts(iterations=200,mode=so)", "ismcts(iterations=200,mode=mo)"] {
            watch(rules, 3, key, &ismcts(spec), |search, state, _| {
                asked += 1;
                if asked % 4 == 0 {
                    search.decide(&state.observe(Seat::A)).unwrap();
                    note(spec, search.arms());
                }
            });
        }
    }
    insta::assert_snapshot!("root_statistics", all);
}

#[test]
fn separate_call_trials_get_an_eighth_of_the_budget() {
    let rules = Rules::preset("original").unwrap();
    let mut tried = 0;
    watch(&rules, 2, Key::new(5, 1), &ismcts("ismcts(iterations=800)"), |search, state, _| {
        if state.choices().contains(Action::Call) {
            let decided = search.decide(&state.observe(Seat::A)).unwrap();
            let (call, others) = search.arms().split_last().unwrap();
            assert_eq!((call.action, call.visits), (Action::Call, 100));
            assert!(others.iter().all(|arm| arm.action != Action::Call));
            assert_eq!(others.iter().map(|arm| arm.visits).sum::<u32>(), 700);
            assert!(decided == Action::Call || others.iter().any(|arm| arm.action == decided));
            tried += 1;
        }
    });
    assert!(tried > 2, "{tried}");
}

/// The share of matches that `search` wins against `other` at two seats of `classic`.
fn share(search: &str, other: &str, deals: u64) -> f64 {
    let rules = Rules::preset("classic").unwrap();
    let roster = roster();
    let mut won = 0.0;
    for deal in 0..deals {
        for seat in 0..2 {
            let mut specs = vec![other];
            specs.insert(seat, search);
            let mut agents: Vec<_> = specs.iter().map(|spec| roster.parse(spec).unwrap().make()).collect();
            let match_setup = MatchSetup { rules, seats: 2, key: Key::new(77, deal) };
            let result = play_match(&match_setup, &mut agents, &mut ()).unwrap();
            won += if result.ranks == [1, 1] { 0.5 } else { f64::from(u8::from(result.ranks[seat] == 1)) };
        }
    }
    won / (2 * deals) as f64
}

/// The deals are fixed, so each win share is a constant. The threshold is 0.53, because a share near one half shows
/// nothing.
#[test]
fn search_over_a_blueprint_beats_the_blueprint() {
    let deals = crate::play::amount(60, 1000);
    for (search, is_better) in
        [("rollout(n=200)", true), ("ismcts(iterations=400)", true), ("ismcts(iterations=400,mode=so)", false)]
    {
        let share = share(search, "heuristic", deals);
        println!("{search}: {share:.3}");
        assert_eq!(share > 0.53, is_better, "{search}: {share:.3}");
    }
}
