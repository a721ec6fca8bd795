//! Replays: a finished match as frames that a page steps through.

use cambio_core::engine::Setup;
use cambio_core::play::RoundResult;
use cambio_core::record::InvalidRecord;
use cambio_core::text::excerpt;
use cambio_core::{Action, Card, Event, Observer, Record, Rules, Score, Seat, Standing, State, replay};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::narrator::Narrator;
use crate::review::ReviewProgress;
use crate::scene::{CardMove, KindView, Scene};
use crate::session::PERSON;
use crate::words::{rules_in_short, scores_in_words};

/// A line of text about an event.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub(crate) enum EventLine {
    /// The same line for every viewer.
    Open(String),
    /// An event whose face only one seat saw: the line with the face, the seat, and the line for other viewers.
    Private(String, char, String),
}

/// The table after a decision, with the events that followed from it. The first frame of a round is the deal.
#[derive(Serialize, Debug)]
pub(crate) struct Frame {
    /// The seat that decided; `None` for the deal.
    by: Option<char>,
    /// The decision; `None` for the deal.
    action: Option<String>,
    /// Whether the decision was a secret declaration in a snap window.
    secret: bool,
    /// The events that followed, in words.
    lines: Vec<EventLine>,
    moves: Vec<CardMove>,
    /// The table after these events.
    scene: Scene,
}

/// The maximum number of frames of a replay. Matches of the presets have up to some 20,000.
const FRAMES: usize = 50_000;
/// The maximum number of characters of the names in a title.
const TITLE: usize = 1000;

/// The frames of a round.
#[derive(Serialize, Debug, Default)]
pub(crate) struct RoundReplay {
    /// The deal, and a [`Frame`] for each decision, as JSON: the many small parts of a frame need more memory than its
    /// text.
    frames: Vec<Box<RawValue>>,
    /// The scores in words, if the round ended.
    scores: Vec<String>,
    /// The totals after the round, seat a first; empty if the round did not end.
    totals: Vec<String>,
}

/// A replay: a finished match with every card, the seats that have seen it, and every event in words.
///
/// A replay is made from a [`Record`], so the match is over or was stopped and saved.
#[derive(Serialize, Debug)]
pub struct Replay {
    /// The players: "greedy against heuristic".
    pub(crate) title: String,
    /// The name of the rules.
    rules: &'static str,
    /// A summary of the rules in three lines.
    in_short: [String; 3],
    /// The number of cards that each seat is dealt.
    hand: i64,
    /// The kinds of the deck; scenes contain indices into this list.
    kinds: Vec<KindView>,
    /// The agents, seat a first; `person` for a person.
    pub agents: Vec<String>,
    /// The rounds.
    rounds: Vec<RoundReplay>,
    /// The ranks, seat a first; empty if the record has none.
    ranks: Vec<u64>,
    /// The error in the record, if it has one; the frames end before the error.
    flaw: Option<String>,
    /// The fault with which an agent stopped the match, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// Whether the match is longer than the replay, which has at most 50,000 frames.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

impl Replay {
    /// Makes the replay of a record. An error in the record ends the replay and is stored.
    ///
    /// # Errors
    /// If the error is before the first table that could be shown.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{MatchSetup, Recorder, Rules, play_match, rng::Key, testing::RandomAgent};
    /// use cambio_view::Replay;
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let match_setup = MatchSetup { rules, seats: 2, key: Key::new(42, 7) };
    /// let mut recorder = Recorder::new(&rules);
    /// let mut agents = [RandomAgent::default(), RandomAgent::default()];
    /// let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    /// let record = recorder.finish(match_setup.key, 0, &["ann", "\"bob\""], &result);
    ///
    /// let replay = Replay::of(&record).unwrap();
    /// assert!(replay.page(&[]).contains("ann against &quot;bob&quot;"));
    /// assert!(replay.widget().starts_with("<iframe title=\"ann against &quot;bob&quot;\" sandbox=\"allow-scripts\""));
    /// ```
    pub fn of(record: &Record) -> Result<Replay, InvalidRecord> {
        let mut builder = ReplayBuilder::default();
        let replayed = replay(record, &mut builder);
        builder.cut();
        let is_cut = builder.is_full();
        let flaw = match replayed {
            Err(flaw) if builder.rounds.is_empty() => return Err(flaw),
            Err(flaw) => Some(flaw.to_string()),
            Ok(_) => None,
        };
        let Some(ReplayStage { rules, seats, .. }) = builder.stage else {
            let fault = record.fault().map(|fault| format!("; the match stopped with a fault: {fault}"));
            let what = format!("the record has no rounds{}", fault.unwrap_or_default());
            return Err(InvalidRecord { what, ..InvalidRecord::default() });
        };
        let agents = record.fields.get("agents").and_then(Value::as_array);
        let agents: Vec<String> = agents.map_or_else(Vec::new, |agents| {
            agents.iter().map(|agent| agent.as_str().unwrap_or_default().to_owned()).collect()
        });
        let agents = if agents.len() == seats { agents } else { vec!["unnamed".to_owned(); seats] };
        let mut distinct: Vec<&str> = agents.iter().map(String::as_str).collect();
        distinct.dedup();
        let ranks = record.fields.get("ranks").and_then(Value::as_array);
        let is_practice = record.fields.get(PERSON).is_some_and(|person| person["practice"] == true);
        let title = match distinct.split_last() {
            Some((last, [first, middle @ ..])) if !middle.is_empty() => {
                format!("{first} against {} and {last}", middle.join(", "))
            }
            _ => distinct.join(" against "),
        };
        let title = excerpt(&title).up_to(TITLE).to_string() + if is_practice { " (practice)" } else { "" };
        Ok(Replay {
            title,
            rules: rules.name(),
            in_short: rules_in_short(&rules),
            hand: rules.spec().hand.get(),
            kinds: KindView::all(&rules),
            agents,
            rounds: builder.rounds,
            ranks: ranks.map_or_else(Vec::new, |ranks| ranks.iter().filter_map(Value::as_u64).collect()),
            flaw,
            fault: record.fault().map(str::to_owned),
            is_cut,
        })
    }

    /// The replay as one self-contained HTML page, which works from disk, offline, and in print. `reviews` are the finished reviews of the
    /// rounds, or an empty slice.
    pub fn page(&self, reviews: &[ReviewProgress]) -> String {
        let (replay, analysis) = (script_data(self), script_data(&reviews));
        let (title, script) = (quoted(&self.title), script(!reviews.is_empty()));
        let parts = include_str!("../viewer/page.html").split("{{").map(|part| match part.split_once("}}") {
            Some(("title", rest)) => [&title, rest],
            Some(("style", rest)) => [VIEWER_CSS, rest],
            Some(("script", rest)) => [&script, rest],
            Some(("reviews", rest)) => [&analysis, rest],
            Some((_, rest)) => [&replay, rest],
            None => ["", part],
        });
        parts.flatten().collect()
    }

    /// The replay as an element for another page, such as a notebook: a sandboxed frame that contains [`Replay::page`].
    pub fn widget(&self) -> String {
        let (title, page) = (quoted(&self.title), quoted(&self.page(&[])));
        let style = "width: 100%; height: 760px; border: 0";
        format!("<iframe title=\"{title}\" sandbox=\"allow-scripts\" style=\"{style}\" srcdoc=\"{page}\"></iframe>")
    }
}

/// The names and texts of the files of the viewer: the modules, each of which imports only those before it, and the style sheet. The last
/// two modules show the analysis of a replay.
pub const VIEWER_FILES: [(&str, &str); 7] = [
    ("cards.js", include_str!("../viewer/cards.js")),
    ("story.js", include_str!("../viewer/story.js")),
    ("table.js", include_str!("../viewer/table.js")),
    ("watch.js", include_str!("../viewer/watch.js")),
    ("parts.js", include_str!("../viewer/parts.js")),
    ("chances.js", include_str!("../viewer/chances.js")),
    ("viewer.css", VIEWER_CSS),
];

const VIEWER_CSS: &str = include_str!("../viewer/viewer.css");

/// Escapes a text for HTML.
fn quoted(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// Data as JSON for a script element. `<` is escaped, because a name that contains `</script>` would end the element.
fn script_data(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("a replay and its reviews are plain data").replace('<', "\\u003c")
}

/// The modules as one self-contained script, with the module of the analysis if there is one.
fn script(has_analysis: bool) -> String {
    let modules = &VIEWER_FILES[..if has_analysis { 6 } else { 4 }];
    let lines = modules.iter().flat_map(|(_, module)| module.lines()).filter(|line| !line.starts_with("import "));
    let text = lines.fold(String::new(), |text, line| text + line + "\n");
    let panel =
        if has_analysis { "chances: (viewer) => chances(film, viewer, { reviews: data(\"reviews\") })" } else { "" };
    format!(
        "{text}const data = (id) => JSON.parse(document.getElementById(id).textContent);\nconst film = data(\"film\");\n\
         watch(document.querySelector(\"main\"), film, {{ {panel} }});\n"
    )
}

struct ReplayStage {
    rules: Rules,
    seats: usize,
    narrator: Narrator,
    totals: Vec<Score>,
}

/// Collects the frames while a record is replayed.
#[derive(Default)]
struct ReplayBuilder {
    stage: Option<ReplayStage>,
    rounds: Vec<RoundReplay>,
    /// The number of frames.
    frames: usize,
    lines: Vec<EventLine>,
    moves: Vec<CardMove>,
    /// The decision whose events are being collected.
    decision: Option<(Seat, Action, bool)>,
    last: Option<Scene>,
}

impl ReplayBuilder {
    fn frame(&mut self, scene: Scene) {
        let round = self.rounds.last_mut().expect("a round has begun");
        let (by, action, secret) = match self.decision.take() {
            Some((seat, action, secret)) => (Some(seat.letter()), Some(action.to_string()), secret),
            None => (None, None, false),
        };
        let (lines, moves) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.moves));
        let frame = Frame { by, action, secret, lines, moves, scene };
        round.frames.push(to_raw_value(&frame).expect("a frame is plain data"));
        self.frames += 1;
        self.last = Some(frame.scene);
    }

    /// Whether the replay has the maximum number of frames. Then everything that follows is ignored.
    fn is_full(&self) -> bool {
        self.frames >= FRAMES
    }

    /// Adds the last frame of a record that stops in the middle, because no later decision triggers it.
    fn cut(&mut self) {
        if let (Some(scene), true) = (self.last.clone(), self.decision.is_some() || !self.lines.is_empty()) {
            self.frame(scene);
        }
        // Drops a round whose deal could not be replayed.
        self.rounds.retain(|round| !round.frames.is_empty());
    }

    fn scene(&self, state: &State) -> Scene {
        let totals = self.stage.as_ref().map_or(&[][..], |stage| &stage.totals);
        Scene::of_state(state, self.rounds.len(), totals)
    }
}

impl Observer for ReplayBuilder {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        if self.is_full() {
            return;
        }
        let Setup { rules, seats, .. } = standing.setup;
        let narrator = || Narrator::for_players(&rules);
        let stage =
            self.stage.get_or_insert_with(|| ReplayStage { rules, seats, narrator: narrator(), totals: Vec::new() });
        stage.totals = standing.totals.to_vec();
        self.rounds.push(RoundReplay::default());
    }

    fn event(&mut self, event: &Event<Card>) {
        let Some(stage) = self.stage.as_ref().filter(|_| !self.is_full()) else { return };
        let last = self.lines.last_mut().and_then(|line| match line {
            EventLine::Open(text) => Some(text),
            EventLine::Private(..) => None,
        });
        if !stage.narrator.continues(last, event)
            && let Some(line) = stage.narrator.line(event, Some)
        {
            self.lines.push(match event.private() {
                Some((seat, _)) => {
                    let blind = stage.narrator.line(&event.public(), |face| face);
                    EventLine::Private(line.text, seat.letter(), blind.map_or_else(String::new, |line| line.text))
                }
                None => EventLine::Open(line.text),
            });
        }
        self.moves.extend(CardMove::of(&event.motion()));
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.is_full() {
            return;
        }
        let scene = self.scene(state);
        self.frame(scene);
        self.decision = Some((seat, action, state.table().phase() == cambio_core::Phase::Window));
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        if self.is_full() {
            return;
        }
        let scene = self.scene(state);
        self.frame(scene);
        if let (Some(stage), Some(round)) = (&mut self.stage, self.rounds.last_mut()) {
            for (total, &score) in stage.totals.iter_mut().zip(result.scores()) {
                *total = stage.rules.total_after(*total, score);
            }
            round.scores = scores_in_words(&stage.rules, result);
            round.totals = stage.totals.iter().map(Score::to_string).collect();
        }
    }
}

#[cfg(test)]
mod tests;
