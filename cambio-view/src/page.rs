//! The messages to the page of a playing seat.
//!
//! The messages are built only from [`Observation`]s, [`Sighting`]s and public information. This module receives no
//! state and no referee's event, so it cannot reveal a hidden card.

use std::collections::VecDeque;
use std::sync::Arc;

use cambio_core::engine::Motion;
use cambio_core::play::RoundResult;
use cambio_core::{Event, Observation, Phase, Rules, Score, Seat, Sighting};
use serde::Serialize;

use crate::config::{PERSON_NAME, SessionConfig};
use crate::narrator::{NarratedLine, Narrator};
use crate::scene::{CardMove, CardValue, KindView, Scene};
use crate::words::{counted_points, rules_in_short, scores_in_words};

/// The number of recent steps that are kept for pages that fell behind.
const KEPT: usize = 64;
/// The maximum number of lines about the current round that a newly opened page receives.
const LINES: usize = 200;

/// The part of a page that stays the same during a match: rules, cards, players and the person's options.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct PageSetup {
    pub(crate) rules: &'static str,
    pub(crate) in_short: [String; 3],
    pub(crate) kinds: Vec<KindView>,
    /// The number of cards that each seat is dealt.
    pub(crate) hand: i64,
    pub(crate) worth: Vec<CardValue>,
    /// Whether the rules have snap windows.
    pub(crate) snaps: bool,
    pub(crate) names: Vec<String>,
    pub(crate) seat: char,
    /// Whether faces that the seat has seen stay visible.
    pub(crate) notes: bool,
    /// Whether hints and undo are allowed.
    pub(crate) practice: bool,
    /// The median of the agents' reaction times in milliseconds, if speed decides snap races.
    pub(crate) reaction: Option<u32>,
}

impl PageSetup {
    pub(crate) fn new(config: &SessionConfig) -> PageSetup {
        let rules = config.deal.rules();
        PageSetup {
            rules: rules.name(),
            in_short: rules_in_short(rules),
            kinds: KindView::all(rules),
            hand: rules.spec().hand.get(),
            worth: CardValue::all(rules),
            snaps: rules.spec().window != cambio_core::rules::knob::Window::None,
            names: config.names(PERSON_NAME),
            seat: config.person.letter(),
            notes: config.notes,
            practice: config.practice,
            reaction: config.reaction,
        }
    }
}

/// A question to the person.
#[derive(Serialize, Clone, Debug)]
pub struct Prompt {
    /// The question as a clause, without a final full stop.
    pub question: String,
    /// The legal decisions.
    pub choices: Vec<String>,
    /// The spots of the cards that the seat knows to match; empty if notes are off.
    pub matches: Vec<String>,
    /// Whether this is a snap window, in which the page may run a clock.
    pub window: bool,
}

/// How a round ended.
#[derive(Serialize, Clone, Debug)]
pub struct RoundEnd {
    /// A sentence about the score of each seat, seat a first.
    pub scores: Vec<String>,
    /// The points of each seat with the bonus of its call, seat a first.
    points: Vec<i32>,
    /// What became of each seat's call, and its bonus; empty for no remark.
    remarks: Vec<String>,
    /// The totals of the match, seat a first.
    pub totals: Vec<String>,
    /// The letters of the seats that won the round.
    pub winners: String,
    /// The ranks, seat a first, if the match is over.
    pub ranks: Option<Vec<usize>>,
}

impl RoundEnd {
    pub(crate) fn new(rules: &Rules, result: &RoundResult, totals: &[Score], ranks: Option<Vec<usize>>) -> RoundEnd {
        let seats = &Seat::ALL[..result.seats];
        let (points, remarks) = seats.iter().map(|&seat| counted_points(rules, result, seat)).unzip();
        RoundEnd {
            scores: scores_in_words(rules, result),
            points,
            remarks,
            totals: totals.iter().map(ToString::to_string).collect(),
            winners: result.winners.iter_from(Seat::A).map(Seat::letter).collect(),
            ranks,
        }
    }

    /// The winners in words: "a wins the round".
    pub fn winners_in_words(&self) -> String {
        let winners: Vec<String> = self.winners.chars().map(String::from).collect();
        format!("{} {} the round", winners.join(" and "), if winners.len() == 1 { "wins" } else { "share" })
    }

    /// The totals with their seats: "a 3, b 0".
    pub fn totals_in_words(&self) -> String {
        let totals: Vec<String> =
            self.totals.iter().zip('a'..).map(|(total, seat)| format!("{seat} {total}")).collect();
        totals.join(", ")
    }
}

/// One step of the match as a seat perceives it.
#[derive(Serialize, Clone, Debug)]
pub struct PageStep {
    /// The number of the step. A page sends it with a decision, so that a decision for an outdated table is rejected.
    pub n: u64,
    /// The events in words. If notes are off, these lines do not name cards that only this seat saw.
    pub lines: Vec<NarratedLine>,
    moves: Vec<CardMove>,
    /// Cards that the seat has just seen: their spots and kinds.
    pub glimpses: Vec<(String, usize)>,
    /// The table after the events.
    pub scene: Scene,
    /// The question to the person, if there is one.
    pub ask: Option<Prompt>,
    /// The end of the round, if it has just ended.
    pub end: Option<RoundEnd>,
    /// Why the match has stopped, if it has.
    pub trouble: Option<String>,
}

impl PageStep {
    /// Creates the step from these sightings and from the table as the seat sees it after them.
    pub(crate) fn new(
        narrator: &Narrator,
        sightings: &[Sighting],
        view: &Observation<'_>,
        round: usize,
        totals: &[Score],
        notes: bool,
    ) -> PageStep {
        // Without notes the lines must not repeat a face: only the glimpse shows it.
        let mut lines: Vec<NarratedLine> = Vec::new();
        for sighting in sightings {
            if !narrator.continues(lines.last_mut().map(|line| &mut line.text), sighting) {
                lines.extend(narrator.line(sighting, |face| face.filter(|_| notes)));
            }
        }
        let glimpse = |sighting: &Sighting| match sighting.motion() {
            Motion::Seen { spot, face, .. } => Some((spot.to_string(), face?.kind())),
            Motion::Shown { spot, card } => Some((spot.to_string(), card.kind())),
            _ => None,
        };
        let choices: Vec<String> = view.choices().iter().map(|action| action.to_string()).collect();
        let ask = (!choices.is_empty()).then(|| Prompt {
            question: narrator.question(view, notes),
            choices,
            matches: if notes {
                view.known_matches().iter_from(view.seat()).map(|spot| spot.to_string()).collect()
            } else {
                Vec::new()
            },
            window: view.table().phase() == Phase::Window,
        });
        PageStep {
            n: 0,
            lines,
            moves: sightings.iter().flat_map(|sighting| CardMove::of(&sighting.motion())).collect(),
            glimpses: sightings.iter().filter_map(glimpse).collect(),
            scene: Scene::seen(view, round, totals, notes),
            ask,
            end: None,
            trouble: None,
        }
    }

    /// Makes this step the last of a round: shows every card that was turned up, and asks no question.
    pub(crate) fn ending(mut self, end: RoundEnd, sightings: &[Sighting]) -> PageStep {
        for sighting in sightings {
            if let Event::TurnedUp { spot, card } = *sighting {
                self.scene.turn_up(spot, card);
            }
        }
        PageStep { end: Some(end), ask: None, ..self }
    }

    /// Adds a line before the lines of the events.
    pub(crate) fn saying(mut self, line: &str) -> PageStep {
        self.lines.insert(0, line.to_owned().into());
        self
    }

    /// Adds a line after the lines of the events, if there is one.
    pub(crate) fn adding(mut self, line: Option<String>) -> PageStep {
        self.lines.extend(line.map(NarratedLine::from));
        self
    }

    /// If the match has stopped for this reason, adds the reason and removes the question.
    pub(crate) fn in_trouble(self, trouble: Option<String>) -> PageStep {
        PageStep { ask: if trouble.is_some() { None } else { self.ask }, trouble, ..self }
    }

    pub(crate) fn is_worth_showing(&self) -> bool {
        !self.lines.is_empty() || !self.moves.is_empty() || self.ask.is_some() || self.trouble.is_some()
    }
}

/// The steps of a match, serialized.
#[derive(Debug)]
pub(crate) struct Feed {
    setting: PageSetup,
    next: u64,
    lines: VecDeque<String>,
    recent: VecDeque<Arc<str>>,
    last: Option<PageStep>,
}

impl Feed {
    pub(crate) fn new(setting: PageSetup) -> Feed {
        Feed { setting, next: 0, lines: VecDeque::new(), recent: VecDeque::new(), last: None }
    }

    /// The number of the last step.
    pub(crate) fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// Numbers a step and adds it.
    pub(crate) fn push(&mut self, step: PageStep) {
        let step = PageStep { n: self.next, ..step };
        self.next += 1;
        self.lines.extend(step.lines.iter().map(|line| line.text.clone()));
        while self.lines.len() > LINES {
            self.lines.pop_front();
        }
        let text = serde_json::to_string(&step).expect("a step is plain data");
        self.recent.push_back(text.into());
        if self.recent.len() > KEPT {
            self.recent.pop_front();
        }
        self.last = Some(step);
    }

    pub(crate) fn last_step(&self) -> &PageStep {
        self.last.as_ref().expect("a match begins with a step")
    }

    /// Drops the lines of the previous round.
    pub(crate) fn new_round(&mut self) {
        self.lines.clear();
    }

    /// The first message to a page: the setting, the lines of the round so far and the last step.
    pub(crate) fn hello(&self) -> String {
        let setting = serde_json::to_string(&self.setting).expect("a setting is plain data");
        let lines = serde_json::to_string(&self.lines).expect("lines are texts");
        let step = self.recent.back().map_or("null", |step| step);
        format!(r#"{{"setting":{setting},"lines":{lines},"step":{step}}}"#)
    }

    /// The steps from this number on; `None` if some of them are no longer kept, or the number is too large.
    pub(crate) fn since(&self, from: u64) -> Option<Vec<Arc<str>>> {
        let behind = usize::try_from(self.next.checked_sub(from)?).ok()?;
        (behind <= self.recent.len()).then(|| self.recent.iter().skip(self.recent.len() - behind).cloned().collect())
    }
}
