//! Call or go on? The win share after a call and after the best other decision, by what the player can count.
//!
//! ```sh
//! cargo run --release -p cambio-cli --example call_chart -- --seats 2 --deals 20000
//! ```
//!
//! Copies of `learned` play each other. Wherever a seat may call before any other seat has called, the state is played out
//! many times from the call, and from the decision that the network prefers among the others. In each playout, the cards that
//! no seat has seen are dealt again. Single rounds are played, whatever the length of the preset's matches. Prints CSV with a row for each cell of the chart:
//!
//! | column | meaning |
//! |---|---|
//! | `turn` | the number of the seat's own turn, from 1; 3 stands for all later turns |
//! | `unknown` | the number of own cards that the seat does not know |
//! | `points` | the sum of the own known cards, rounded down to an even number |
//! | `decisions`, `deals` | the number of decisions in the cell, and of deals with one |
//! | `called` | the share of these decisions in which `learned` calls |
//! | `win_call`, `win_on` | the mean win share after a call, and after the other decision |
//! | `gain`, `low`, `high` | `win_call` − `win_on` with its 95 % interval, clustered by deal |

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;

use cambio_agents::{Learned, NetworkPolicy, Policy as _};
use cambio_core::engine::Dice;
use cambio_core::play::RoundResult;
use cambio_core::rng::{Key, Purpose};
use cambio_core::view::CardHistory;
use cambio_core::{Action, Card, Event, MatchSetup, Observer, Rules, Seat, State, View as _, play_match};
use cambio_exec::Executor;
use cambio_stats::{Moments, Support};
use clap::Parser;

/// Call or go on? The win share after a call and after the best other decision
#[derive(Parser)]
struct Args {
    /// The rules: a preset, of which single rounds are played
    #[arg(long, default_value = "classic")]
    rules: String,
    /// The number of seats
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(2..=8))]
    seats: u64,
    /// The number of deals
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(2..))]
    deals: u64,
    /// The number of playouts after each of the two decisions
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..))]
    playouts: u64,
    /// The seed of the deals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The turn, the number of unknown own cards, and the points of the known ones.
type Cell = (usize, usize, i32);

/// The sums of the decisions of one deal in a cell.
#[derive(Clone, Copy, Default)]
struct Sums {
    decisions: i64,
    called: i64,
    /// The win shares after a call and after the other decision, in units of 1 / `UNITS`.
    won: [i64; 2],
}

const UNITS: f64 = 1e6;

/// Plays out both decisions wherever a seat may call first.
struct Watch {
    policy: NetworkPolicy,
    past: CardHistory,
    key: Key,
    playouts: u64,
    /// The number of decisions so far, which makes the random numbers of each different.
    number: u64,
    cells: BTreeMap<Cell, Sums>,
}

impl Watch {
    /// The seat's mean win share after this decision.
    fn worth(&mut self, state: &State, seat: Seat, action: Action) -> f64 {
        let mut won = 0.0;
        for playout in 0..self.playouts {
            let stream = self.key.stream(Purpose::Deck, (self.number * self.playouts + playout) as u32);
            let (mut world, mut past, mut dice) = (state.clone(), self.past.clone(), Dice(stream));
            world.redeal_unseen(&mut dice);
            world.carry_out(action, &mut dice, &mut |event: &Event<Card>| past.notice(event));
            self.policy.play_out(&mut world, &mut past, &mut dice);
            let winners = RoundResult::of(&world).expect("the round is over").winners;
            won += if winners.contains(seat) { 1.0 / winners.len() as f64 } else { 0.0 };
        }
        won / self.playouts as f64
    }
}

impl Observer for Watch {
    fn event(&mut self, event: &Event<Card>) {
        self.past.notice(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let choices = state.choices();
        if !choices.contains(Action::Call) || choices.len() < 2 || !state.table().callers().is_empty() {
            return;
        }
        let view = state.view(seat);
        let (rules, table) = (view.rules(), state.table());
        let own = table.layout(seat);
        let known = own.intersection(view.known());
        let points =
            known.iter_from(seat).filter_map(|spot| view.face(spot)).map(|card| rules.points(card)).sum::<i32>();
        // `turns` includes the current turn.
        let turn = ((table.turns() - 1) / table.seats() + 1).min(3);
        self.policy.evaluate(&view, &self.past);
        let evaluation = self.policy.evaluation();
        let others = evaluation.actions().zip(evaluation.logits()).filter(|(other, _)| *other != Action::Call);
        let Some((other, _)) = others.max_by(|one, other| one.1.total_cmp(&other.1)) else { return };
        let won = [Action::Call, other].map(|action| (self.worth(state, seat, action) * UNITS).round() as i64);
        self.number += 1;
        let sums = self.cells.entry((turn, own.len() - known.len(), points.div_euclid(2) * 2)).or_default();
        sums.decisions += 1;
        sums.called += i64::from(action == Action::Call);
        sums.won[0] += won[0];
        sums.won[1] += won[1];
    }
}

/// The sums of a cell over all deals.
#[derive(Default)]
struct Tally {
    decisions: i64,
    called: i64,
    won: [i64; 2],
    gain: Moments,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let (rules, seats) = (Rules::preset(&args.rules)?.of_one_round(), args.seats as usize);
    let mut policy = NetworkPolicy::shipped();
    let past = policy.begin(&rules, seats)?;
    let play = |deal: u64| {
        let mut agents: Vec<Learned> = (0..seats).map(|_| Learned::shipped()).collect();
        // The playouts have another seed than the deals.
        let key = Key::new(args.seed ^ 0x7061_796f_7574, deal);
        let (policy, past) = (policy.clone(), past.clone());
        let mut watch = Watch { policy, past, key, playouts: args.playouts, number: 0, cells: BTreeMap::new() };
        let match_setup = MatchSetup { rules, seats, key: Key::new(args.seed, deal) };
        play_match(&match_setup, &mut agents, &mut watch).expect("`learned` commits no fault");
        watch.cells
    };
    let mut cells: BTreeMap<Cell, Tally> = BTreeMap::new();
    let add = |cells: &mut BTreeMap<Cell, Tally>, _, deal: BTreeMap<Cell, Sums>| {
        for (cell, sums) in deal {
            let tally = cells.entry(cell).or_default();
            tally.decisions += sums.decisions;
            tally.called += sums.called;
            tally.won = [tally.won[0] + sums.won[0], tally.won[1] + sums.won[1]];
            tally.gain.add(sums.decisions, sums.won[0] - sums.won[1]);
        }
        Ok::<(), Infallible>(())
    };
    let executor = Executor::new(0)?;
    executor.run_watched(0..args.deals, &mut cells, |deal, _| Some(play(deal)), add, |_, _| Ok(()))?;
    println!("turn,unknown,points,decisions,deals,called,win_call,win_on,gain,low,high");
    for ((turn, unknown, points), tally) in cells {
        let Some(gain) = tally.gain.interval(UNITS, Support::Line) else { continue };
        let (Some(low), Some(high)) = (gain.low(), gain.high()) else { continue };
        let share = |sum: i64| sum as f64 / tally.decisions as f64;
        let [call, on] = tally.won.map(|won| share(won) / UNITS);
        println!(
            "{turn},{unknown},{points},{},{},{:.6},{call:.6},{on:.6},{:.6},{low:.6},{high:.6}",
            tally.decisions,
            tally.gain.clusters,
            share(tally.called),
            gain.mean,
        );
    }
    Ok(())
}
