//! What a page shows of a table at one moment.

use std::fmt;

use cambio_core::{Card, Motion, Observation, Phase, Rules, Score, Seat, SeatSet, Source, Spot, State, Table};
use serde::Serialize;

/// The kinds of a deck, as pages name them: a card is an index into them.
#[derive(Serialize, Clone, Debug)]
pub struct KindView {
    /// How the card is written, such as `Kd`.
    pub label: String,
    /// What snaps compare.
    pub rank: String,
    /// The suit; empty in decks that have none.
    pub suit: String,
    /// Its points.
    pub points: i16,
    /// What it can do when it was drawn, in words; empty if nothing.
    pub power: String,
}

/// Points and power, and the cards that have both. A rank whose suits are all alike is listed once, without its suits.
#[derive(Serialize, Clone, Debug)]
pub struct Worth {
    /// The points.
    pub points: i16,
    /// The power of a drawn card, in words; empty if there is none.
    pub power: String,
    /// The names of the cards.
    pub cards: Vec<String>,
}

impl Worth {
    /// The cards of these rules, those with the fewest points first.
    ///
    /// ```
    /// let worth = cambio_view::Worth::all(&cambio_core::Rules::preset("classic").unwrap());
    /// assert_eq!(worth[0].to_string(), "  -3 points  6h");
    /// ```
    pub fn all(rules: &Rules) -> Vec<Worth> {
        let kinds = KindView::all(rules);
        let mut worth: Vec<Worth> = Vec::new();
        for kind in &kinds {
            let is_alike = |other: &&KindView| other.points == kind.points && other.power == kind.power;
            let (alike, all) = kinds
                .iter()
                .filter(|other| other.rank == kind.rank)
                .fold((0, 0), |(alike, all), other| (alike + usize::from(is_alike(&other)), all + 1));
            let name = if alike == all && all > 1 { kind.rank.clone() } else { kind.spoken() };
            match worth.iter_mut().find(|worth| worth.points == kind.points && worth.power == kind.power) {
                Some(worth) if worth.cards.contains(&name) => {}
                Some(worth) => worth.cards.push(name),
                None => worth.push(Worth { points: kind.points, power: kind.power.clone(), cards: vec![name] }),
            }
        }
        worth.sort_by_key(|worth| worth.points);
        worth
    }
}

impl fmt::Display for Worth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} points  {}", self.points, self.cards.join(" "))?;
        if self.power.is_empty() { Ok(()) } else { write!(f, "  power: {}", self.power) }
    }
}

impl KindView {
    /// The label for people who also write decisions: one that is a word, such as `swap`, has brackets.
    ///
    /// ```
    /// let kinds = cambio_view::KindView::all(&cambio_core::Rules::preset("original").unwrap());
    /// let spoken: Vec<String> = kinds[9..].iter().map(cambio_view::KindView::spoken).collect();
    /// assert_eq!(spoken, ["9", "[look]", "[spy]", "[swap]", "[energy]", "KR", "KB"]);
    /// ```
    pub fn spoken(&self) -> String {
        let is_word = self.label.len() > 2 && self.label.chars().all(char::is_alphabetic);
        if is_word { format!("[{}]", self.label) } else { self.label.clone() }
    }

    /// The kinds of the rules' deck.
    pub fn all(rules: &Rules) -> Vec<KindView> {
        let view = |kind: &cambio_core::Kind| KindView {
            label: kind.label.clone(),
            rank: kind.rank.clone(),
            suit: kind.suit.clone(),
            points: kind.points,
            power: kind.power.to_string(),
        };
        rules.kinds().iter().map(view).collect()
    }
}

/// A card in front of a seat: its slot, its kind where the page may show it, and who has seen it.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct Lying(pub usize, pub Option<usize>, pub String);

/// The card that is held.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// Who holds it.
    pub by: char,
    /// Its kind, where it may be shown.
    pub kind: Option<usize>,
    /// Whether it was taken from the pile, so that all know it.
    pub taken: bool,
}

/// A table at one moment, as a page shows it.
///
/// [`Scene::seen`] makes one of an [`Observation`], so it shows what that seat has legitimately seen and nothing else.
/// [`Scene::of_state`] shows every card, and for each card who has seen it: for matches that are over.
///
/// ```
/// use cambio_core::{Playing, Rules, Seat, rng::Key};
/// use cambio_view::Scene;
///
/// let playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// let mut seen = Scene::seen(&playing.state().observe(Seat::A), 1, playing.totals(), true);
/// let forgotten = Scene::seen(&playing.state().observe(Seat::A), 1, playing.totals(), false);
/// let whole = Scene::of_state(playing.state(), 1, playing.totals());
/// assert_eq!([seen.faces(), forgotten.faces(), whole.faces()], [2, 0, 8]);
///
/// let b1 = "b1".parse().unwrap();
/// seen.turn_up(b1, playing.state().face(b1).unwrap());
/// assert_eq!(seen.faces(), 3);
/// ```
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Scene {
    /// The number of the round, counted from 1.
    pub round: usize,
    /// How many turns have begun.
    pub turns: usize,
    /// Whose turn it is.
    pub turn: char,
    /// What the table waits for, in a word.
    pub phase: &'static str,
    /// Who is asked; nobody in a snap window, in which all declare in secret.
    pub asked: Option<char>,
    /// For each seat, the cards in front of it.
    pub layouts: Vec<Vec<Lying>>,
    /// The seats that have called.
    pub callers: String,
    /// The seats that are safe.
    pub safe: String,
    /// The kind of the open card.
    pub top: Option<usize>,
    /// How many cards lie on the pile.
    pub pile: usize,
    /// How many cards the stock has.
    pub stock: usize,
    /// The card that is held.
    pub held: Option<Held>,
    /// The spot that a snapped card left, until a card is given for it.
    pub gap: Option<String>,
    /// The totals of the match, seat a first.
    pub totals: Vec<String>,
}

fn letters(seats: SeatSet) -> String {
    seats.iter_from(Seat::A).map(Seat::letter).collect()
}

impl Scene {
    /// What a seat may see now. With `notes` it shows every card in front of the seats that this one has seen; without, none.
    /// `round` is counted from 1.
    pub fn seen(view: &Observation<'_>, round: usize, totals: &[Score], notes: bool) -> Scene {
        Scene::new(view.table(), |spot| view.face(spot).filter(|_| notes), view.held(), round, totals)
    }

    /// Everything, for a match that is over.
    pub fn of_state(state: &State, round: usize, totals: &[Score]) -> Scene {
        Scene::new(state.table(), |spot| state.face(spot), state.held(), round, totals)
    }

    fn new(
        table: &Table,
        face: impl Fn(Spot) -> Option<Card>,
        held: Option<Card>,
        round: usize,
        totals: &[Score],
    ) -> Scene {
        let lying = |spot: Spot| Lying(spot.number(), face(spot).map(Card::kind), letters(table.seen_by(spot)));
        let layout = |&seat: &Seat| table.layout(seat).iter_from(seat).map(lying).collect();
        let held = match table.phase() {
            Phase::Held(source) => Some(Held {
                by: table.turn().letter(),
                kind: held.map(Card::kind),
                taken: matches!(source, Source::Pile(_)),
            }),
            _ => None,
        };
        Scene {
            round,
            turns: table.turns(),
            turn: table.turn().letter(),
            phase: word(table.phase()),
            asked: table.asked().filter(|_| table.phase() != Phase::Window).map(Seat::letter),
            layouts: Seat::ALL[..table.seats()].iter().map(layout).collect(),
            callers: letters(table.callers()),
            safe: letters(table.safe()),
            top: table.top().map(Card::kind),
            pile: table.pile_len(),
            stock: table.stock_len(),
            held,
            gap: table.gap().map(|spot| spot.to_string()),
            totals: totals.iter().map(ToString::to_string).collect(),
        }
    }

    /// Turns a card up, as all cards are at the end of a round. An observation does not show what was turned up then.
    pub fn turn_up(&mut self, spot: Spot, card: Card) {
        let layout = self.layouts.get_mut(spot.seat().index()).into_iter().flatten();
        for lying in layout.filter(|lying| lying.0 == spot.number()) {
            lying.1 = Some(card.kind());
        }
    }

    /// The number of cards in front of the seats whose faces it shows.
    pub fn faces(&self) -> usize {
        self.layouts.iter().flatten().filter(|lying| lying.1.is_some()).count()
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Peek => "peek",
        Phase::Start => "start",
        Phase::Held(_) => "held",
        Phase::Window => "window",
        Phase::Gift => "gift",
        Phase::Chain => "chain",
        Phase::Power => "power",
        Phase::Show => "show",
        Phase::Close => "close",
        Phase::Over => "over",
    }
}

/// A card that a page moves: from where, to where, and its kind if all see it. Places are `stock`, `pile`, `hand` and spots.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub struct Move(String, String, Option<usize>);

impl Move {
    /// The moves of a motion. They tell no face that one seat alone sees.
    ///
    /// ```
    /// use cambio_core::{Card, Event};
    /// use cambio_view::Move;
    ///
    /// let swap: Event<Card> =
    ///     Event::Swapped { seat: cambio_core::Seat::A, one: "a1".parse().unwrap(), other: "b2".parse().unwrap() };
    /// assert_eq!(Move::of(&swap.motion()).len(), 2);
    /// ```
    pub fn of<Face: Copy>(motion: &Motion<Face>) -> Vec<Move> {
        let go = |from: &str, to: &str, card: Option<Card>| Move(from.to_owned(), to.to_owned(), card.map(Card::kind));
        let name = |spot: Spot| spot.to_string();
        match *motion {
            Motion::Flipped { card } => vec![go("stock", "pile", Some(card))],
            Motion::Drawn { .. } => vec![go("stock", "hand", None)],
            Motion::Taken { card } => vec![go("pile", "hand", Some(card))],
            Motion::Dropped { card } => vec![go("hand", "pile", Some(card))],
            Motion::Kept { spot, replaced } => {
                vec![go(&name(spot), "pile", Some(replaced)), go("hand", &name(spot), None)]
            }
            Motion::Discarded { spot, card } => vec![go(&name(spot), "pile", Some(card))],
            Motion::Exchanged { one, other } => {
                vec![go(&name(one), &name(other), None), go(&name(other), &name(one), None)]
            }
            Motion::Moved { from, to } => vec![go(&name(from), &name(to), None)],
            Motion::Added { spot } => vec![go("stock", &name(spot), None)],
            Motion::Reshuffled { .. } => vec![go("pile", "stock", None)],
            Motion::Dealt { .. } | Motion::Seen { .. } | Motion::Shown { .. } | Motion::Nothing => Vec::new(),
        }
    }
}
