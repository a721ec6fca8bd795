//! Describes events and questions in words, for transcripts of records and for a person who plays.

use cambio_core::{Action, Card, Event, Observation, Phase, Rules, SpotSet, Verdict};

use crate::scene::KindView;

/// Describes events with the labels of one deck.
///
/// ```
/// use cambio_core::{Event, Playing, Rules, Seat, rng::Key};
/// use cambio_view::Narrator;
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
/// let narrator = Narrator::new(&rules);
/// assert_eq!(narrator.question(&playing.turn().unwrap().view, true), "your turn");
///
/// playing.act("draw".parse().unwrap()).unwrap();
/// let told = |seat| playing.sightings(seat).filter_map(|sighting| narrator.line(&sighting, |face| face)).last();
/// assert_eq!(told(Seat::B).as_deref(), Some("    a draws a card"));
/// let Event::Drew { face: Some(card), .. } = playing.sightings(Seat::A).last().unwrap() else { panic!() };
/// assert_eq!(told(Seat::A), Some(format!("    a draws {}", narrator.label(card))));
/// ```
#[derive(Debug)]
pub struct Narrator {
    labels: Vec<String>,
}

impl Narrator {
    /// A narrator of matches by these rules.
    pub fn new(rules: &Rules) -> Narrator {
        Narrator { labels: rules.kinds().iter().map(|kind| kind.label.clone()).collect() }
    }

    /// A narrator for people who play: labels that are words have brackets, so that nobody takes them for decisions.
    ///
    /// ```
    /// use cambio_core::{Card, Event, Rules};
    ///
    /// let rules = Rules::preset("original").unwrap();
    /// let swap = rules.deck().iter().copied().find(|card| rules.kinds()[card.kind()].label == "swap").unwrap();
    /// assert_eq!(cambio_view::Narrator::for_players(&rules).label(swap), "[swap]");
    /// ```
    pub fn for_players(rules: &Rules) -> Narrator {
        Narrator { labels: KindView::all(rules).iter().map(KindView::spoken).collect() }
    }

    /// The label of a card.
    pub fn label(&self, card: Card) -> &str {
        &self.labels[card.kind()]
    }

    /// An event as one line, indented by the turn and the action that it is part of; `None` if there is nothing to say. `seen`
    /// returns a face if the reader may see it.
    pub fn line<F: Copy>(&self, event: &Event<F>, seen: impl Fn(F) -> Option<Card>) -> Option<String> {
        let name = |card: Card| self.label(card);
        let behind = |face: F| seen(face).map_or(String::new(), |card| format!(": {}", name(card)));
        Some(match *event {
            Event::Dealt { extra, .. } if extra.is_empty() => return None,
            Event::Dealt { starter, extra } => {
                let seats: Vec<String> = extra.iter_from(starter).map(|seat| seat.to_string()).collect();
                format!("  an extra card for {}", seats.join(", "))
            }
            Event::Peeked { seat, spot, face } => format!("  {seat} peeks at {spot}{}", behind(face)),
            Event::Flipped { card } => format!("  {} is flipped", name(card)),
            Event::TurnBegan { seat } => format!("  turn of {seat}"),
            Event::Drew { seat, face } => format!("    {seat} draws {}", seen(face).map_or("a card", name)),
            Event::Took { seat, card } => format!("    {seat} takes {}", name(card)),
            Event::Dropped { seat, card } => format!("    {seat} drops {}", name(card)),
            Event::Kept { seat, spot, replaced } => format!("    {seat} keeps it in {spot}, {} goes", name(replaced)),
            Event::Looked { seat, spot, face } => format!("    {seat} looks at {spot}{}", behind(face)),
            Event::Swapped { seat, one, other } => format!("    {seat} swaps {one} and {other}"),
            Event::Shown { spot, card } => format!("    {spot} is shown: {}", name(card)),
            Event::Skipped { seat } => format!("    {seat} declines"),
            Event::Touched { seat, spot } => format!("    {seat} touches {spot}"),
            Event::Snapped { seat, spot, card, verdict } => {
                let verdict = match verdict {
                    Verdict::Right => "right",
                    Verdict::Wrong => "wrong",
                    Verdict::Late => "late",
                };
                format!("    {seat} snaps {spot}: {}, {verdict}", name(card))
            }
            Event::Aborted { seat } => format!("    {seat} reaches too late"),
            Event::Penalised { seat, spot } => format!("    {seat} gets a penalty card in {spot}"),
            Event::PenaltyWaived { seat } => format!("    a penalty card for {seat} is waived"),
            Event::Gave { seat, from, to } => format!("    {seat} gives {from} into {to}"),
            Event::Called { seat } => format!("    {seat} calls"),
            Event::BecameSafe { seat } => format!("    {seat} is safe"),
            Event::Reshuffled { cards } => format!("    the pile becomes a stock of {cards}"),
            Event::Ended { reason } => format!("  the round ends: {}", reason.word()),
            Event::TurnedUp { spot, card } => format!("    {spot}: {}", name(card)),
        })
    }

    /// What the seat that is asked has to decide, as a clause. With `notes` it names the cards that the seat knows to match.
    pub fn question(&self, view: &Observation<'_>, notes: bool) -> String {
        let (table, rules) = (view.table(), view.rules());
        let may = if view.choices().contains(Action::Skip) { "you may" } else { "you have to" };
        match table.phase() {
            Phase::Peek => "look at one of your cards".to_owned(),
            Phase::Start => "your turn".to_owned(),
            Phase::Held(_) => view.held().map_or("you hold a card".to_owned(), |card| {
                let (points, power) = (rules.points(card), rules.power(card));
                let power = if power.is_none() { String::new() } else { format!(", power: {power}") };
                format!("you hold {} ({points} points{power})", self.label(card))
            }),
            Phase::Window | Phase::Chain => {
                let shown = table.opener().filter(|_| table.phase() == Phase::Window).or(table.top());
                let shown = shown.map_or("a card".to_owned(), |card| self.label(card).to_owned());
                let known = if notes { view.known_matches() } else { SpotSet::EMPTY };
                let known: Vec<String> = known.iter_from(view.seat()).map(|spot| spot.to_string()).collect();
                let known = if known.is_empty() { String::new() } else { format!("; {} would match", known.join(" ")) };
                format!("{shown} lies open{known}")
            }
            Phase::Gift => format!("{may} give a card for the one that you snapped"),
            Phase::Power => table.step().map_or("the card has a power".to_owned(), |step| format!("{may} {step}")),
            Phase::Show => "name a card that is shown to all".to_owned(),
            Phase::Close => "your turn ends".to_owned(),
            Phase::Over => "the round is over".to_owned(),
        }
    }
}
