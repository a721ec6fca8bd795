//! Reviews: the win chance of each seat over a round of a finished match, and the cost of each decision.

use cambio_agents::{Appraisal, Appraiser, Estimate, Regret};
use cambio_core::{Action, Card, Event, Observer, Record, RoundResult, Seat, Standing, State, replay, shown};
use serde::Serialize;

/// A mean and half the width of its 95 % interval.
#[derive(Serialize, Clone, Copy, PartialEq, Debug)]
struct Measured {
    mean: f64,
    half: f64,
}

impl From<Estimate> for Measured {
    fn from(estimate: Estimate) -> Measured {
        Measured { mean: estimate.mean, half: estimate.half() }
    }
}

/// The best decision found, and how much better it was.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Cost {
    best: String,
    #[serde(flatten)]
    cost: Measured,
}

impl From<Regret> for Cost {
    fn from(regret: Regret) -> Cost {
        Cost { best: regret.best.to_string(), cost: regret.cost.into() }
    }
}

/// A decision of the round.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Decided {
    by: char,
    action: String,
    /// The costs given the seat's knowledge, and against an oracle; `None` if there was no other legal decision.
    known: Option<Cost>,
    open: Option<Cost>,
    blunder: bool,
}

/// The progress of a review of one round.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Progress {
    decisions: Vec<Decided>,
    /// The win chance of each seat after the deal and after each decision. The last entry is the actual outcome.
    chances: Vec<Vec<Measured>>,
    of: usize,
    /// The policy of the playouts, and the number of playouts for each chance.
    player: &'static str,
    playouts: u32,
    /// Whether the chance is to win the round; otherwise to win the match.
    one_round: bool,
    /// The smallest cost of a blunder.
    least: f64,
    /// Whether the review is finished.
    pub over: bool,
    /// The flaw of the record, if it has one.
    pub trouble: Option<String>,
}

impl Progress {
    /// The progress before the first of `of` decisions, with `playouts` playouts for each chance.
    pub fn new(of: usize, playouts: u32) -> Progress {
        Progress {
            decisions: Vec::new(),
            chances: Vec::new(),
            of,
            player: "learned",
            playouts,
            one_round: true,
            least: 0.0,
            over: false,
            trouble: None,
        }
    }
}

/// Reviews one round while its record is replayed.
struct Watcher<'a> {
    round: usize,
    playouts: u32,
    at: usize,
    appraiser: Option<Appraiser>,
    progress: Progress,
    /// Receives the progress after each decision, and returns whether to continue.
    tell: &'a mut dyn FnMut(&Progress) -> bool,
    stopped: bool,
}

impl Watcher<'_> {
    fn is_done(&self) -> bool {
        self.stopped || self.at > self.round
    }
}

impl Observer for Watcher<'_> {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.at += 1;
        if self.is_done() {
            return;
        }
        let (setup, playouts) = (standing.setup, self.playouts);
        let appraiser = self.appraiser.get_or_insert_with(|| Appraiser::new(&setup.rules, setup.seats, playouts));
        // A deal resets the knowledge, so the events of earlier rounds are not needed.
        if self.at == self.round {
            appraiser.round_begins(standing);
            self.progress.player = appraiser.player();
            self.progress.one_round = appraiser.is_of_a_round();
            self.progress.least = appraiser.blunder();
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some(appraiser) = self.appraiser.as_mut().filter(|_| self.at == self.round && !self.stopped) {
            appraiser.event(event);
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.at != self.round || self.stopped {
            return;
        }
        let Some(appraiser) = &mut self.appraiser else { return };
        let appraisal = appraiser.appraise(state, action);
        let blunder = appraisal.is_blunder(self.progress.least);
        let Appraisal { chances, known, open } = appraisal;
        self.progress.chances.push(chances.into_iter().map(Measured::from).collect());
        self.progress.decisions.push(Decided {
            by: seat.letter(),
            action: action.to_string(),
            known: known.map(Cost::from),
            open: open.map(Cost::from),
            blunder,
        });
        self.stopped = !(self.tell)(&self.progress);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        if let Some(appraiser) = self.appraiser.as_ref().filter(|_| self.at == self.round && !self.stopped) {
            let last = appraiser.outcome(state).into_iter().map(|mean| Measured { mean, half: 0.0 });
            self.progress.chances.push(last.collect());
        }
    }
}

/// Reviews a round of a record, counted from 1. `tell` receives the progress after each decision, and returns whether
/// to continue; if not, the result is `None`. A flaw of the record ends the review; [`Progress::trouble`] reports it.
///
/// # Panics
/// If the record has no such round.
pub fn appraise(
    record: &Record,
    round: usize,
    playouts: u32,
    tell: &mut dyn FnMut(&Progress) -> bool,
) -> Option<Progress> {
    let of = record.rounds[round - 1].decisions.len();
    let progress = Progress::new(of, playouts);
    let mut watcher = Watcher { round, playouts, at: 0, appraiser: None, progress, tell, stopped: false };
    // A flaw in a later round does not matter here.
    let flaw = replay(record, &mut watcher).err().filter(|_| watcher.progress.decisions.len() < of);
    let Watcher { mut progress, stopped, .. } = watcher;
    progress.trouble = flaw.map(|flaw| shown(&flaw.to_string()).up_to(500).to_string());
    progress.over = true;
    (!stopped).then_some(progress)
}

#[cfg(test)]
mod tests {
    use cambio_agents::roster;
    use cambio_core::rng::Key;
    use cambio_core::{Pairing, Recorder, Rules, play_match};

    use super::*;

    fn record(preset: &str, seed: u64) -> Record {
        let pairing = Pairing { rules: Rules::preset(preset).unwrap(), seats: 2, key: Key::new(seed, 0) };
        let mut recorder = Recorder::new(&pairing.rules);
        let mut agents = ["greedy", "heuristic"].map(|spec| roster().parse(spec).unwrap().make());
        let result = play_match(&pairing, &mut agents, &mut recorder).unwrap();
        recorder.finish(pairing.key, 0, &["greedy", "heuristic"], &result)
    }

    #[test]
    fn every_decision_of_the_round_is_appraised_and_only_of_that() {
        let record = record("original", 3);
        assert!(record.rounds.len() > 1);
        for round in [1, record.rounds.len()] {
            let mut told = 0;
            let mut tell = |progress: &Progress| {
                told += 1;
                assert_eq!((progress.decisions.len(), progress.over), (told, false));
                true
            };
            let progress = appraise(&record, round, 8, &mut tell).unwrap();
            let decisions = &record.rounds[round - 1].decisions;
            assert_eq!((told, progress.of), (decisions.len(), decisions.len()));
            assert_eq!(progress.chances.len(), decisions.len() + 1);
            for (decided, text) in progress.decisions.iter().zip(decisions) {
                assert!(text.starts_with(&format!("{} {}", decided.by, decided.action)), "{text}: {decided:?}");
            }
            assert!(!progress.one_round && progress.over && progress.trouble.is_none(), "{progress:?}");
            assert_eq!(
                appraise(&record, round, 8, &mut |_| true),
                Some(progress),
                "the same record gives the same numbers"
            );
        }
        // After the last round only the winners of the match have a chance above 0.
        let last = appraise(&record, record.rounds.len(), 8, &mut |_| true).unwrap().chances.pop().unwrap();
        let ranks: Vec<u64> = serde_json::from_value(record.fields["ranks"].clone()).unwrap();
        assert!(
            last.iter().zip(&ranks).all(|(chance, &rank)| (chance.mean > 0.0) == (rank == 1)),
            "{last:?} {ranks:?}"
        );
    }

    #[test]
    fn an_appraisal_stops_when_it_is_told_to_and_at_a_flaw() {
        let mut record = record("classic", 1);
        let mut told = 0;
        let mut tell = |_: &Progress| {
            told += 1;
            told < 3
        };
        assert_eq!(appraise(&record, 1, 8, &mut tell), None);
        assert_eq!(told, 3);
        record.rounds[0].decisions[2] = "b call".to_owned();
        let progress = appraise(&record, 1, 8, &mut |_| true).unwrap();
        assert_eq!((progress.decisions.len(), progress.over), (2, true));
        assert!(progress.trouble.is_some_and(|trouble| trouble.contains("decision 3")));
    }
}
