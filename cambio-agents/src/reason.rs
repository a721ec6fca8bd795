//! Why one decision is better than another: what happens more often in the games after it.

use std::collections::BTreeMap;

use cambio_core::engine::{Sink, SnapOutcome};
use cambio_core::play::RoundResult;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Action, Card, Event, Rules, Seat, State, Table};

/// A reason needs this difference between the shares of games in which something happens.
const MIN_SHARE_DIFFERENCE: f64 = 0.05;
/// Otherwise it needs this difference between the mean points of a seat at the end.
const MIN_POINT_DIFFERENCE: f64 = 0.05;
/// What happens in at least this share of the games after a decision is the decision itself, such as the snap that wins its race.
const SHARE_OF_CONSEQUENCES: f64 = 0.95;

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
}

impl GameMarks {
    /// The marks of a game that begins in this world.
    pub(crate) fn of(world: &State) -> GameMarks {
        let table = world.table();
        GameMarks { rules: *table.rules(), has_called: !table.callers().is_empty(), marks: Vec::new() }
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

/// What happened in the games after a decision.
#[derive(Clone, Default)]
pub(crate) struct Continuations {
    games: f64,
    /// The sum of the values of all games for the seat that decides.
    value: f64,
    points: [f64; MAX_SEATS],
    /// For each mark, the number of games with it, and the sum of their values.
    pub(crate) marks: BTreeMap<Mark, (f64, f64)>,
}

impl Continuations {
    /// Adds a game that ended in this world, with its value for the seat that decides.
    ///
    /// # Panics
    /// If the round is not over.
    pub(crate) fn add(&mut self, world: &State, game: GameMarks, value: f64) {
        let result = RoundResult::of(world).expect("the round is over and settled");
        self.games += 1.0;
        self.value += value;
        self.points.iter_mut().zip(result.points()).for_each(|(sum, &own)| *sum += f64::from(own));
        for mark in game.marks {
            let (games, sum) = self.marks.entry(mark).or_default();
            (*games, *sum) = (*games + 1.0, *sum + value);
        }
    }

    /// The mean points of each seat at the end of the round, seat a first.
    pub(crate) fn points(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|sum| sum / self.games)
    }

    pub(crate) fn share(&self, mark: Mark) -> f64 {
        self.marks.get(&mark).map_or(0.0, |(games, _)| games / self.games)
    }

    /// The value of games with the mark minus the value of games without it, and the weight of this difference.
    fn effect(&self, mark: Mark) -> Option<(f64, f64)> {
        let &(with, sum) = self.marks.get(&mark)?;
        let without = self.games - with;
        (without > 0.0).then(|| (sum / with - (self.value - sum) / without, with * without / self.games))
    }
}

/// Why the best decision of a seat is better than another one, in a sentence: what happens more, or less, often in the games after
/// it. Of all events, it names the one that explains most of the difference in value: the difference of its shares, times its effect
/// on the value in games after the same decision.
pub(crate) fn reason(
    (action, best): (Action, &Continuations),
    (other, own): (Action, &Continuations),
    table: &Table,
    seat: Seat,
) -> String {
    let difference = |mark: Mark| best.share(mark) - own.share(mark);
    let explained = |mark: Mark| {
        let effects = [best, own].into_iter().filter_map(|games| games.effect(mark));
        let (sum, weight) = effects.fold((0.0, 0.0), |sums, (effect, by)| (sums.0 + effect * by, sums.1 + by));
        if weight > 0.0 { difference(mark) * sum / weight } else { 0.0 }
    };
    // Two standard errors of the difference of two shares, at most.
    let least = MIN_SHARE_DIFFERENCE.max((1.0 / best.games + 1.0 / own.games).sqrt());
    let is_event = |mark: &Mark| {
        difference(*mark).abs() >= least && best.share(*mark).max(own.share(*mark)) < SHARE_OF_CONSEQUENCES
    };
    let events = best.marks.keys().chain(own.marks.keys()).copied().filter(is_event);
    let mark = events.max_by(|&one, &other| explained(one).total_cmp(&explained(other)));
    let Some(mark) = mark.filter(|&mark| explained(mark) > 0.0) else {
        // The points that the seat has less, or another seat more, after the best decision.
        let gap = |(of, (own, best)): (Seat, (f64, f64))| (if of == seat { own - best } else { best - own }, of);
        let gaps = Seat::ALL[..table.seats()].iter().copied().zip(own.points().zip(best.points())).map(gap);
        let (points, of) = gaps.max_by(|(one, _), (other, _)| one.total_cmp(other)).expect("there are seats");
        if points < MIN_POINT_DIFFERENCE {
            return "No single event explains the difference.".to_owned();
        }
        let more = if of == seat { "more" } else { "fewer" };
        return format!("After `{other}`, {of} has {points:.1} points {more} at the end than after `{action}`.");
    };
    let shares = |of: f64| [best, own].map(|games| (of * games.share(mark)).round() as u32);
    let [often, others] = shares(10.0);
    // Shares that agree in tenths differ in hundredths.
    let (of, [often, others]) = if often == others { (100, shares(100.0)) } else { (10, [often, others]) };
    let text = mark.text(table.rules());
    format!("After `{action}`, {text} in {often} of {of} games, and in {others} after `{other}`.")
}
