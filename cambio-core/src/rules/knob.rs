//! The value types of knobs, and how each is read from and written to a rule file.
//!
//! A *knob* is one setting of the rules. A reference such as 004:138 is line 138 of rule text 004; RULES.md lists the
//! texts.

use serde_json::Value;

/// The value type of a knob: reads and writes a value, and describes the valid values.
pub trait Knob: Sized {
    /// Reads the value; `None` if it is not valid.
    fn read(value: &Value) -> Option<Self>;
    /// Writes the value in a form that [`Knob::read`] accepts.
    fn write(&self) -> Value;
    /// The valid values, as the end of a sentence.
    fn allowed() -> String;
    /// A class of values, below [`ORDINALS`], for players that learn: values of one class have similar consequences.
    fn ordinal(&self) -> usize;
}

/// The number of classes of [`Knob::ordinal`].
pub const ORDINALS: usize = 16;

/// The class of a whole number: exact up to 8, then by size. Negative numbers have the class 15.
fn magnitude(number: i64) -> usize {
    const ENDS: [i64; 5] = [12, 16, 24, 40, 80];
    match number {
        0..=8 => number as usize,
        9.. => 9 + ENDS.iter().take_while(|&&end| number > end).count(),
        _ => ORDINALS - 1,
    }
}

impl Knob for bool {
    fn read(value: &Value) -> Option<bool> {
        value.as_bool()
    }

    fn write(&self) -> Value {
        Value::from(*self)
    }

    fn allowed() -> String {
        "true or false".to_owned()
    }

    fn ordinal(&self) -> usize {
        (*self).into()
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WholeNumber<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> WholeNumber<MIN, MAX> {
    /// The number, if it is within the bounds.
    pub const fn new(number: i64) -> Option<Self> {
        if number >= MIN && number <= MAX { Some(Self(number)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The number as a count; 0 if it is negative.
    pub const fn count(self) -> usize {
        if self.0 < 0 { 0 } else { self.0 as usize }
    }
}

impl<const MIN: i64, const MAX: i64> Knob for WholeNumber<MIN, MAX> {
    fn read(value: &Value) -> Option<Self> {
        value.as_i64().and_then(Self::new)
    }

    fn write(&self) -> Value {
        Value::from(self.0)
    }

    fn allowed() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }

    fn ordinal(&self) -> usize {
        magnitude(self.0)
    }
}

/// Splits `name(number)` into its two parts.
fn call_form(text: &str) -> Option<(&str, i64)> {
    let (name, rest) = text.split_once('(')?;
    Some((name, rest.strip_suffix(')')?.trim().parse().ok()?))
}

/// Declares enums whose variants are words in a rule file. A word after `or` is an alias: it is read, but never written.
macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal $(or $other:literal)?,)+ })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl Knob for $name {
            fn read(value: &Value) -> Option<$name> {
                match value.as_str()? {
                    $($word $(| $other)? => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn write(&self) -> Value {
                Value::from(match self { $($name::$variant => $word,)+ })
            }

            fn allowed() -> String {
                one_of(&[$($word, $($other,)?)+])
            }

            fn ordinal(&self) -> usize {
                *self as usize
            }
        }
    )+};
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

words! {
    /// The direction of play around the table, for players only: the engine does not read it, because seats are
    /// lettered in playing order.
    Direction {
        /// Clockwise.
        Clockwise = "clockwise",
        /// Counterclockwise (003:14).
        CounterClockwise = "counter_clockwise",
    }
    /// Whether the top card of the stock starts the pile.
    Flip {
        /// The pile starts empty.
        None = "none",
        /// The top card of the stock starts the pile, and a snap window opens before the first turn (004:92–98).
        Window = "window",
        /// The top card of the stock starts the pile, and no window opens.
        Silent = "silent",
    }
    /// Which seat deals round 1.
    FirstDealer {
        /// Seat a.
        A = "a",
        /// A seat drawn from the seed.
        Drawn = "drawn",
    }
    /// Which seat has the first turn of a round.
    Starter {
        /// The dealer. The next seat deals the next round (000:20–21).
        Dealer = "dealer",
        /// The seat after the dealer. The next seat deals the next round (004:92).
        AfterDealer = "after_dealer",
        /// Seat a in round 1, then the previous round's first winner in playing order after the caller (003:18).
        Winner = "winner",
    }
    /// Whether a card taken from the pile may be dropped, and whether its power then applies.
    Redrop {
        /// The card must be kept (003:13).
        Forbidden = "forbidden",
        /// The card may be dropped without its power (000:59).
        NoPower = "no_power",
        /// The power applies unless a step of it was carried out when the card was last dropped.
        UnspentPower = "unspent_power",
        /// The power applies (004:138).
        Power = "power",
    }
    /// Whether a power must be used.
    PowerUse {
        /// A power must be used if it has a legal target (000:59).
        Must = "must",
        /// The player may decline each step.
        May = "may",
    }
    /// What a snapped card must share with the discard to match it.
    Matching {
        /// The rank (000:49, 004:96).
        Rank = "rank",
        /// The points (004:100).
        Points = "points",
        /// The rank for the seat's own cards, the points for cards of other seats.
        RankOwnPointsForeign = "rank_own_points_foreign",
    }
    /// Which cards a seat may snap.
    SnapTargets {
        /// The cards of any seat.
        Any = "any",
        /// Only the seat's own cards.
        Own = "own",
    }
    /// Whether the winner of a snap of another seat's card gives that seat a card.
    Gift {
        /// The winner may decline (000:53, 004:100).
        May = "may",
        /// The winner must give a card if it has one (003:9).
        Must = "must",
    }
    /// What happens to a matching card that is snapped after the winner's card.
    Late {
        /// The card is shown and goes back, and the seat gets a penalty card (000:124).
        Penalise = "penalise",
        /// The card is shown and goes back without a penalty (004:96).
        TakeBack = "take_back",
        /// The card stays face down: the other seats see that the seat was late, but not with which card.
        Abort = "abort",
    }
    /// When the snap window of a discard opens, relative to the card's power.
    Window {
        /// Never: no seat can snap.
        None = "none",
        /// When the card lands, before its power.
        Before = "before",
        /// Once, after the card's power if the card has one.
        After = "after",
        /// When the card lands, and again after its power if a step was carried out and no snap was correct.
        Both = "both",
    }
    /// How the order of several snapping seats is decided.
    Race {
        /// Every order is equally likely.
        Uniform = "uniform",
        /// By `race_weights`: each place in the order is drawn among the remaining seats, in proportion to the weights.
        Weighted = "weighted",
        /// In playing order from the seat whose turn it is.
        TurnOrder = "turn_order",
    }
    /// Which cards a caller may snap.
    CallerSnaps {
        /// None (000:135, 003:14).
        None = "none",
        /// Cards of other seats.
        Foreign = "foreign",
        /// The caller's own cards.
        Own = "own",
        /// Cards of other seats and the caller's own (004:117).
        OwnAndForeign = "own_and_foreign" or "any",
    }
    /// Whether seats that have not called may snap after a call.
    OthersAfterCall {
        /// All seats may snap.
        Yes = "yes",
        /// Only callers may snap (the strict reading of 004:117).
        No = "no",
    }
    /// When a seat may call.
    CallWhen {
        /// Instead of a turn (000:135, 004:113).
        InsteadOfTurn = "instead_of_turn",
        /// At the end of the seat's turn (003:14).
        AfterTurn = "after_turn",
    }
    /// How many seats may call in a round.
    Callers {
        /// One seat.
        One = "one",
        /// Several seats: in the last lap, other seats may call instead of taking their last turn (004:119).
        Several = "several",
    }
    /// What happens when a layout has no cards left.
    EmptyHand {
        /// The round ends at once (000:134).
        EndsRound = "ends_round",
        /// The round ends when the next turn would begin.
        EndsRoundAtTurn = "ends_round_at_turn",
        /// The seat is safe: its points are 0 at the end of the round (003:6).
        Safe = "safe",
        /// The round continues.
        Continues = "continues",
    }
    /// Whether later snaps in a window are fined after a snap that ends the round with an empty layout.
    EmptyHandFines {
        /// Later snaps are still resolved and fined.
        After = "after",
        /// The round is over at once (000:134): later cards are not turned up and cost no penalty.
        None = "none",
    }
    /// What happens when the stock is empty.
    StockEmpty {
        /// The pile without its top card is shuffled into a new stock (004:139).
        Reshuffle = "reshuffle",
        /// The round ends when the next turn would begin.
        EndRound = "end_round",
    }
    /// Whether the turn limit also ends the last lap after a call.
    LimitInLap {
        /// The round ends at the turn limit.
        Ends = "ends",
        /// The last lap is played to its end.
        Waits = "waits",
    }
    /// What a round adds to the totals.
    Score {
        /// The points of the layout; `call_success` or `call_failure` changes a caller's points.
        Points = "points",
        /// The seat's share of one win, which the winners divide (003:17).
        Share = "share",
        /// Zero-sum: the number of seats times the share of the win, minus 1. With two seats: 1 for the winner,
        /// −1 for the loser, 0 for a tie without a caller.
        WinLoss = "win_loss",
    }
    /// Whether a call succeeds if the caller ties for the fewest points.
    CallerTie {
        /// The call fails (003:17, 004:127).
        Fails = "fails",
        /// The call succeeds.
        Succeeds = "succeeds",
    }
    /// Which total wins a match.
    Best {
        /// The lowest total.
        Fewest = "fewest",
        /// The highest total.
        Most = "most",
    }
}

/// Which cards a seat sees before the first turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Peek {
    /// The cards in these slots: bit 0 is slot 1.
    Slots(u16),
    /// A number of cards, which the seat chooses.
    Choose(u8),
}

impl Knob for Peek {
    fn read(value: &Value) -> Option<Peek> {
        let text = value.as_str()?;
        if text == "none" {
            return Some(Peek::Slots(0));
        }
        if let Some(number) = text.strip_prefix("choose ") {
            return number.parse().ok().filter(|n| (1..=16).contains(n)).map(Peek::Choose);
        }
        let mut mask = 0;
        for word in text.strip_prefix("slots ")?.split(' ') {
            let slot: u16 = word.parse().ok().filter(|n| (1..=16).contains(n))?;
            mask |= 1 << (slot - 1);
        }
        Some(Peek::Slots(mask))
    }

    fn write(&self) -> Value {
        match *self {
            Peek::Slots(0) => Value::from("none"),
            Peek::Slots(mask) => {
                let slots = (0..16).filter(|slot| mask >> slot & 1 == 1);
                let words: Vec<String> = slots.map(|slot| (slot + 1).to_string()).collect();
                Value::from(format!("slots {}", words.join(" ")))
            }
            Peek::Choose(number) => Value::from(format!("choose {number}")),
        }
    }

    fn allowed() -> String {
        "`none`, slots such as `slots 3 4`, or a number of cards to choose such as `choose 2`".to_owned()
    }

    fn ordinal(&self) -> usize {
        // Up to eight cards.
        match *self {
            Peek::Slots(mask) => (mask.count_ones() as usize).min(7),
            Peek::Choose(number) => 7 + usize::from(number.min(8)),
        }
    }
}

/// A limit on the points of a caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cap {
    /// No limit.
    None,
    /// Agents may read the limit; the engine does not enforce it.
    Advisory(i16),
    /// A call is legal only if the cards that the caller has seen do not rule out a sum at or below the limit.
    Feasible(i16),
    /// A call fails at scoring if the caller has more points than the limit.
    Score(i16),
}

impl Knob for Cap {
    fn read(value: &Value) -> Option<Cap> {
        let text = value.as_str()?;
        if text == "none" {
            return Some(Cap::None);
        }
        let (name, number) = call_form(text)?;
        let number = i16::try_from(number).ok().filter(|n| (-1000..=1000).contains(n))?;
        match name {
            "advisory" => Some(Cap::Advisory(number)),
            "feasible" => Some(Cap::Feasible(number)),
            "score" => Some(Cap::Score(number)),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::from(match self {
            Cap::None => "none".to_owned(),
            Cap::Advisory(n) => format!("advisory({n})"),
            Cap::Feasible(n) => format!("feasible({n})"),
            Cap::Score(n) => format!("score({n})"),
        })
    }

    fn allowed() -> String {
        "`none`, `advisory(5)`, `feasible(5)` or `score(5)` with a number from -1000 to 1000".to_owned()
    }

    fn ordinal(&self) -> usize {
        let fifths = |points: i16| (points.max(0) / 5).min(3) as usize;
        match *self {
            Cap::None => 0,
            Cap::Advisory(points) => 1 + fifths(points),
            Cap::Feasible(points) => 5 + fifths(points),
            Cap::Score(points) => 9 + fifths(points),
        }
    }
}

/// How a call changes the points of its caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bonus {
    /// The number is added (000:141).
    Add(i16),
    /// The points are set to the number.
    Set(i16),
    /// The points are multiplied by the number.
    Times(u8),
}

impl Bonus {
    /// The caller's points after the change.
    pub(crate) const fn of(self, points: i32) -> i32 {
        match self {
            Bonus::Add(number) => points + number as i32,
            Bonus::Set(number) => number as i32,
            Bonus::Times(number) => points * number as i32,
        }
    }

    /// The largest absolute value of the points after the change, if it was at most `points` before.
    pub(crate) fn most(self, points: usize) -> usize {
        match self {
            Bonus::Add(number) => points + usize::from(number.unsigned_abs()),
            Bonus::Set(number) => points.max(usize::from(number.unsigned_abs())),
            Bonus::Times(number) => points * usize::from(number.max(1)),
        }
    }
}

impl Knob for Bonus {
    fn read(value: &Value) -> Option<Bonus> {
        let (name, number) = match value.as_i64() {
            Some(number) => ("add", number),
            None => call_form(value.as_str()?)?,
        };
        let number = i16::try_from(number).ok().filter(|n| (-100..=100).contains(n))?;
        match name {
            "add" => Some(Bonus::Add(number)),
            "set" => Some(Bonus::Set(number)),
            "times" if (0..=10).contains(&number) => Some(Bonus::Times(number as u8)),
            _ => None,
        }
    }

    /// Writes `Add` as a plain number.
    fn write(&self) -> Value {
        match self {
            Bonus::Add(number) => Value::from(*number),
            Bonus::Set(number) => Value::from(format!("set({number})")),
            Bonus::Times(number) => Value::from(format!("times({number})")),
        }
    }

    fn allowed() -> String {
        "a whole number from -100 to 100, which is added, or `add(5)` or `set(0)` with such a number, \
         or `times(2)` with a number from 0 to 10"
            .to_owned()
    }

    fn ordinal(&self) -> usize {
        match *self {
            Bonus::Add(0) => 0,
            Bonus::Add(number) => {
                let size = [5, 10, 20].iter().take_while(|&&end| number.unsigned_abs() >= end).count();
                if number > 0 { 1 + size } else { 5 + size }
            }
            Bonus::Set(0) => 9,
            Bonus::Set(number) => 10 + usize::from(number < 0),
            Bonus::Times(factor) => 12 + usize::from(factor.min(3)),
        }
    }
}

/// A total that is changed to another one when a seat reaches it exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reset {
    /// No total is changed.
    None,
    /// A total of exactly the first number is changed to the second.
    To(i16, i16),
}

impl Knob for Reset {
    fn read(value: &Value) -> Option<Reset> {
        let text = value.as_str()?;
        if text == "none" {
            return Some(Reset::None);
        }
        let number = |text: &str| text.trim().parse().ok().filter(|n| (-10_000..=10_000).contains(n));
        let (from, to) = text.split_once("->")?;
        Some(Reset::To(number(from)?, number(to)?))
    }

    fn write(&self) -> Value {
        Value::from(match self {
            Reset::None => "none".to_owned(),
            Reset::To(from, to) => format!("{from} -> {to}"),
        })
    }

    fn allowed() -> String {
        "`none`, or two totals such as `50 -> 25`, each from -10000 to 10000".to_owned()
    }

    fn ordinal(&self) -> usize {
        usize::from(*self != Reset::None)
    }
}

/// When a match ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MatchEnd {
    /// When a total reaches this many points.
    Total(u16),
    /// After this many rounds.
    Rounds(u16),
}

impl Knob for MatchEnd {
    fn read(value: &Value) -> Option<MatchEnd> {
        let (name, number) = call_form(value.as_str()?)?;
        let number = u16::try_from(number).ok().filter(|n| (1..=10_000).contains(n))?;
        match name {
            "total" => Some(MatchEnd::Total(number)),
            "rounds" => Some(MatchEnd::Rounds(number)),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::from(match self {
            MatchEnd::Total(n) => format!("total({n})"),
            MatchEnd::Rounds(n) => format!("rounds({n})"),
        })
    }

    fn allowed() -> String {
        "`total(50)` or `rounds(1)` with a number from 1 to 10000".to_owned()
    }

    fn ordinal(&self) -> usize {
        match *self {
            MatchEnd::Rounds(number) => usize::from(number > 1) + usize::from(number > 4),
            MatchEnd::Total(points) => 3 + [20, 40, 60, 80, 120].iter().take_while(|&&end| points > end).count(),
        }
    }
}

/// Race weights by seat, `a` first. A seat that is not listed has weight 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RaceWeights(Vec<u32>);

impl RaceWeights {
    /// The weight of a seat.
    pub fn of(&self, seat: crate::Seat) -> u32 {
        self.0.get(seat.index()).copied().unwrap_or(1)
    }
}

impl Knob for RaceWeights {
    fn read(value: &Value) -> Option<RaceWeights> {
        let list = value.as_array().filter(|list| list.len() <= crate::rules::MAX_SEATS)?;
        let weight = |value: &Value| value.as_u64().filter(|n| (1..=1000).contains(n)).map(|n| n as u32);
        list.iter().map(weight).collect::<Option<_>>().map(RaceWeights)
    }

    fn write(&self) -> Value {
        Value::from(self.0.clone())
    }

    fn allowed() -> String {
        "a list of at most eight whole numbers from 1 to 1000, seat a first".to_owned()
    }

    fn ordinal(&self) -> usize {
        usize::from(!self.0.is_empty())
    }
}
