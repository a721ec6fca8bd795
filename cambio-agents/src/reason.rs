//! Why one decision is better than another: what happens more often in the games after it.

use std::collections::BTreeMap;

use cambio_core::engine::{Chance, Sink, SnapOutcome};
use cambio_core::play::RoundResult;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Rules, Seat, State};

use crate::policy::{Blueprint, BlueprintHistory, Policy as _, PublicHistory as _};

/// A reason needs this difference between the shares of games in which something happens.
const MIN_SHARE_DIFFERENCE: f64 = 0.05;

/// Something that happens in a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// The seat is the first that calls.
    Calls(Seat),
    /// The seat snaps a card of this kind, which belongs to the other seat.
    Snaps(Seat, Seat, Card),
    /// The seat gets a penalty card.
    IsPenalised(Seat),
}

impl Mark {
    pub(crate) fn text(self, rules: &Rules) -> String {
        match self {
            Mark::Calls(seat) => format!("{seat} calls first"),
            Mark::IsPenalised(seat) => format!("{seat} gets a penalty card"),
            Mark::Snaps(seat, owner, card) => {
                let rank = &rules.kinds()[card.kind()].rank;
                let whose = if owner == seat { "own".to_owned() } else { format!("{owner}'s") };
                let article = if owner == seat { "an " } else { "" };
                format!("{seat} snaps {article}{whose} {rank}")
            }
        }
    }
}

/// Collects the marks of a game, each of them once.
pub(crate) struct GameMarks {
    rules: Rules,
    /// Whether a seat had called before the game.
    has_called: bool,
    marks: Vec<Mark>,
    /// The number of decisions in the game.
    pub(crate) decisions: u64,
}

impl GameMarks {
    /// The marks of a game that begins in this world.
    pub(crate) fn of(world: &State) -> GameMarks {
        let table = world.table();
        GameMarks { rules: *table.rules(), has_called: !table.callers().is_empty(), marks: Vec::new(), decisions: 0 }
    }
}

impl Sink for GameMarks {
    fn event(&mut self, event: &Event<Card>) {
        let GameMarks { rules, has_called, marks, .. } = self;
        let mark = match *event {
            Event::Called { seat } if !*has_called && !marks.iter().any(|mark| matches!(mark, Mark::Calls(_))) => {
                Some(Mark::Calls(seat))
            }
            Event::Snapped { seat, spot, card, verdict: SnapOutcome::Right } => {
                // One card stands for its rank.
                let mut kinds = (0..rules.kinds().len()).filter_map(Card::new);
                kinds.find(|&kind| rules.same_rank(kind, card)).map(|kind| Mark::Snaps(seat, spot.seat(), kind))
            }
            Event::Penalised { seat, .. } => Some(Mark::IsPenalised(seat)),
            _ => None,
        };
        marks.extend(mark.filter(|mark| !marks.contains(mark)));
    }
}

/// Plays a world to the end of its round: a decision of `seat`, and then the decisions of the policies. The first policy
/// plays for the seat, and the last one for the other seats. `pasts` are the public histories of the policies.
pub(crate) fn play_game(
    mut world: State,
    action: Action,
    seat: Seat,
    policies: &mut [&mut Blueprint],
    mut pasts: Vec<BlueprintHistory>,
    chance: &mut impl Chance,
) -> (State, GameMarks) {
    let (mut marks, mut action) = (GameMarks::of(&world), Some(action));
    while let Some(actor) = world.actor() {
        let at = usize::from(actor != seat).min(pasts.len() - 1);
        let decision = action.take().unwrap_or_else(|| policies[at].decide(&world.view(actor), &pasts[at]));
        let mut sink = |event: &Event<Card>| {
            for past in &mut pasts {
                past.notice(event);
            }
            marks.event(event);
        };
        world.carry_out(decision, chance, &mut sink);
        marks.decisions += 1;
    }
    (world, marks)
}

/// What happened in the games after a decision.
#[derive(Clone, Default)]
pub(crate) struct Continuations {
    games: u32,
    points: [f64; MAX_SEATS],
    pub(crate) marks: BTreeMap<Mark, u32>,
}

impl Continuations {
    /// Adds a game that ended in this world.
    ///
    /// # Panics
    /// If the round is not over.
    pub(crate) fn add(&mut self, world: &State, game: GameMarks) {
        let result = RoundResult::of(world).expect("the round is over and settled");
        self.games += 1;
        self.points.iter_mut().zip(result.points()).for_each(|(sum, &own)| *sum += f64::from(own));
        game.marks.into_iter().for_each(|mark| *self.marks.entry(mark).or_default() += 1);
    }

    /// The mean points of each seat at the end of the round, seat a first.
    pub(crate) fn points(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|sum| sum / f64::from(self.games))
    }

    pub(crate) fn share(&self, mark: Mark) -> f64 {
        f64::from(self.marks.get(&mark).copied().unwrap_or(0)) / f64::from(self.games)
    }
}

/// The greatest difference between the games after the best decision and after another one, in a sentence.
pub(crate) fn reason(
    (action, best): (Action, &Continuations),
    (other, own): (Action, &Continuations),
    rules: &Rules,
    seats: usize,
) -> String {
    let difference = |mark: &Mark| best.share(*mark) - own.share(*mark);
    let by_size = |one: &Mark, other: &Mark| difference(one).abs().total_cmp(&difference(other).abs());
    let mark = best.marks.keys().chain(own.marks.keys()).copied().max_by(by_size);
    // Two standard errors of the difference of two shares, at most.
    let noise = (1.0 / f64::from(best.games) + 1.0 / f64::from(own.games)).sqrt();
    let Some(mark) = mark.filter(|mark| difference(mark).abs() >= MIN_SHARE_DIFFERENCE.max(noise)) else {
        let gaps: Vec<f64> = own.points().zip(best.points()).map(|(own, best)| own - best).take(seats).collect();
        let seat = (0..seats).max_by(|&one, &other| gaps[one].abs().total_cmp(&gaps[other].abs())).unwrap_or(0);
        let (points, more) = (gaps[seat].abs(), if gaps[seat] < 0.0 { "fewer" } else { "more" });
        let seat = Seat::ALL[seat];
        return format!("After `{other}`, {seat} has {points:.1} points {more} at the end than after `{action}`.");
    };
    let shares = |of: u32| [best, own].map(|games| (f64::from(of) * games.share(mark)).round() as u32);
    let [often, others] = shares(10);
    // Shares that agree in tenths differ in hundredths.
    let (of, [often, others]) = if often == others { (100, shares(100)) } else { (10, [often, others]) };
    let text = mark.text(rules);
    format!("After `{action}`, {text} in {often} of {of} games, and in {others} after `{other}`.")
}
