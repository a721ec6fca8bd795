//! How often a call on the first turn wins, by the sum of the two known cards.
//!
//! ```sh
//! cargo run --release -p cambio-cli --example first_turn -- --rules experiments/house.toml --deals 200000
//! ```
//!
//! There are two seats. The caller calls at its first turn; the other seat never calls first, and takes its last turn.
//! Each deal is played twice: with the caller in seat a, which starts, and in seat b, which calls after the other
//! seat's first turn. In each table a deal counts once, so the matches of a row are independent, and its interval is
//! Wilson's (1927).

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use cambio_agents::AgentSpec;
use cambio_core::play::RoundResult;
use cambio_core::rng::Key;
use cambio_core::{
    Action, Agent, AgentError, Card, MatchSetup, Observation, Observer, Phase, Rules, Seat, State, play_match,
};
use cambio_sim::read_rules;
use clap::Parser;

/// How often a call on the first turn wins, by the sum of the two known cards.
#[derive(Parser)]
struct Args {
    /// Presets, or rule files; their matches have one round
    #[arg(long, num_args = 1.., default_values = ["experiments/house.toml"])]
    rules: Vec<String>,
    /// The opponents, which never call first; `plain` draws, and keeps the card if one of its known cards is higher
    #[arg(long, num_args = 1.., default_values = ["greedy(call_at=-20)", "plain"])]
    opponent: Vec<String>,
    /// The number of deals
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    deals: u64,
    /// The seed of the deals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Calls as soon as possible; otherwise takes the first legal decision, which draws, drops and never snaps.
struct CallsAtOnce;

impl Agent for CallsAtOnce {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        let call = choices.contains(Action::Call).then_some(Action::Call);
        Ok(call.or(choices.nth(0)).expect("a seat that decides has a choice"))
    }
}

/// Draws, and replaces its highest known card if that saves points. Uses no power, never snaps and takes no card from
/// the pile, like the last turn in a simple simulation.
struct Plain;

impl Agent for Plain {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        let points = |card: Option<Card>| card.map(|card| view.rules().points(card));
        let own = view.known().intersection(view.table().layout(view.seat())).iter_from(view.seat());
        let worst = own.max_by_key(|&spot| points(view.face(spot)));
        let keep = worst.filter(|&spot| points(view.held()) < points(view.face(spot))).map(Action::Keep);
        let idle = [Action::Draw, Action::Drop, Action::Pass, Action::Skip, Action::End];
        let action = keep.into_iter().chain(idle).find(|&action| choices.contains(action));
        Ok(action.or_else(|| choices.nth(0)).expect("a seat that decides has a choice"))
    }
}

/// The results of one match.
struct MatchObserver {
    caller: Seat,
    /// The sum of the caller's known cards when play begins.
    known: Option<i32>,
    /// Both layouts as they were dealt, seat a first.
    dealt: [i32; 2],
    /// Both layouts at the end.
    points: [i32; 2],
    /// Whether the caller's seat called first.
    called: bool,
}

impl Observer for MatchObserver {
    fn asks(&mut self, state: &State, _: Seat) {
        if self.known.is_none() && state.table().phase() != Phase::Peek {
            let view = state.observe(self.caller);
            let faces = view.known().intersection(view.table().layout(self.caller)).iter_from(self.caller);
            let points = faces.filter_map(|spot| view.face(spot)).map(|card| view.rules().points(card));
            self.known = Some(points.sum());
            self.dealt = [Seat::A, Seat::B].map(|seat| state.points(seat).expect("a dealt deck has no latent face"));
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.points = [result.points()[0], result.points()[1]];
        self.called = result.first_caller == Some(self.caller);
    }
}

/// The results of the matches in which the known cards have the same sum.
#[derive(Clone, Copy, Default)]
struct Tally {
    matches: u64,
    wins: u64,
    ties: u64,
    /// The number of wins if the layouts were scored as they were dealt.
    wins_as_dealt: u64,
}

impl Tally {
    fn add(&mut self, watch: &MatchObserver) {
        let (own, other) = (watch.caller.index(), 1 - watch.caller.index());
        self.matches += 1;
        self.wins += u64::from(watch.points[own] < watch.points[other]);
        self.ties += u64::from(watch.points[own] == watch.points[other]);
        self.wins_as_dealt += u64::from(watch.dealt[own] < watch.dealt[other]);
    }

    fn share(count: u64, of: u64) -> f64 {
        count as f64 / of as f64
    }

    /// Wilson's 95 % interval of the share of wins (Wilson 1927, "Probable inference").
    fn interval(&self) -> (f64, f64) {
        let (z, n, p) = (1.959_963_984_540_054_f64, self.matches as f64, Self::share(self.wins, self.matches));
        let centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (centre - half, centre + half)
    }

    fn row(&self, name: &str) {
        let percent = |count: u64| 100.0 * Self::share(count, self.matches);
        let (low, high) = self.interval();
        println!(
            "| {name} | {} | {:.1} [{:.1}, {:.1}] | {:.1} | {:.1} |",
            self.matches,
            percent(self.wins),
            100.0 * low,
            100.0 * high,
            percent(self.wins) + 0.5 * percent(self.ties),
            percent(self.wins_as_dealt),
        );
    }
}

/// Plays the deals with the caller in one seat.
fn play(
    rules: &Rules,
    opponent: &AgentSpec,
    caller: Seat,
    args: &Args,
) -> Result<BTreeMap<i32, Tally>, Box<dyn Error>> {
    let mut by_sum: BTreeMap<i32, Tally> = BTreeMap::new();
    for deal in 0..args.deals {
        let mut agents: Vec<Box<dyn Agent>> = vec![Box::new(CallsAtOnce), opponent.make()];
        agents.rotate_right(caller.index());
        let mut watch = MatchObserver { caller, known: None, dealt: [0; 2], points: [0; 2], called: false };
        let match_setup = MatchSetup { rules: *rules, seats: 2, key: Key::new(args.seed, deal) };
        let result = play_match(&match_setup, &mut agents, &mut watch).map_err(|error| error.to_string())?;
        if result.rounds != 1 || !watch.called {
            return Err(format!("deal {deal}: the match has {} rounds, or the other seat called", result.rounds).into());
        }
        by_sum.entry(watch.known.ok_or("no seat has decided")?).or_default().add(&watch);
    }
    Ok(by_sum)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let roster = cambio_agents::roster().with("plain", "Replaces its highest known card.", || Plain);
    for (name, spec) in args.rules.iter().flat_map(|name| args.opponent.iter().map(move |spec| (name, spec))) {
        let (rules, opponent) = (read_rules(name, Path::new("."))?, roster.parse(spec)?);
        for (caller, when) in [(Seat::A, "starts"), (Seat::B, "is second")] {
            let by_sum = play(&rules, &opponent, caller, &args)?;
            println!("\n{name} against {spec}, {} deals, the caller {when}\n", args.deals);
            println!(
                "| known sum | matches | caller wins, % | with half of the ties | as dealt |\n|---|---|---|---|---|"
            );
            let mut all = Tally::default();
            for (sum, tally) in &by_sum {
                tally.row(&sum.to_string());
                all.matches += tally.matches;
                all.wins += tally.wins;
                all.ties += tally.ties;
                all.wins_as_dealt += tally.wins_as_dealt;
            }
            all.row("any");
        }
    }
    Ok(())
}
