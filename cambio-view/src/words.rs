//! Rules, powers and scores in words, for people who have not read RULES.md.

use std::fmt::Display;

use cambio_core::play::RoundResult;
use cambio_core::rules::knob::{
    Best, Bonus, CallWhen, CallerTie, Cap, EmptyHand, Gift, Late, MatchEnd, Matching, Peek, Redrop, Score as ScoreKnob,
    SnapTargets, Window,
};
use cambio_core::rules::{Power, PowerStep};
use cambio_core::{Rules, Score, Seat};

/// Summarizes rules in three lines: the aim, a turn, a snap. All lines are generated from the knobs of the rules.
///
/// ```
/// use cambio_core::Rules;
///
/// let [aim, turn, snap] = cambio_view::rules_in_short(&Rules::preset("classic").unwrap());
/// assert!(aim.starts_with("Goal: end the round with the fewest points."), "{aim}");
/// assert!(turn.contains("draw a card, or take the open card"), "{turn}");
/// assert!(snap.contains("the same rank"), "{snap}");
/// ```
pub fn rules_in_short(rules: &Rules) -> [String; 3] {
    [aim(rules), turn(rules), snap(rules)]
}

fn aim(rules: &Rules) -> String {
    let spec = rules.spec();
    let mut line = "Goal: end the round with the fewest points. ".to_owned();
    line += match spec.call {
        CallWhen::InsteadOfTurn => "Instead of taking a turn, you may call",
        CallWhen::AfterTurn => "At the end of your turn, you may call",
    };
    let from = match spec.first_call.get() {
        1 => ". ".to_owned(),
        first => format!(", but not before your turn {first}. "),
    };
    line += &from;
    line += "Each other player then has one more turn, and all cards are turned up.";
    match spec.empty_hand {
        EmptyHand::EndsRound | EmptyHand::EndsRoundAtTurn => line += " The round ends if a player has no cards.",
        EmptyHand::Safe => line += " If you have no cards left, you are safe and have 0 points.",
        EmptyHand::Continues => {}
    }
    if spec.empty_call {
        line += " A player without cards has called.";
    }
    if !spec.lock_caller {
        line += " Other players may still swap and snap the cards of a player who has called.";
    }
    line += match spec.score {
        ScoreKnob::Points => " You score the points of your cards",
        ScoreKnob::Share | ScoreKnob::WinLoss => {
            " If you call, you win only if every other player has more points. Otherwise, the other player with the fewest points wins"
        }
    };
    if spec.score == ScoreKnob::Points {
        let lowest = if spec.caller_tie == CallerTie::Fails { "lowest alone" } else { "lowest" };
        line += &bonus(&format!("; if you call and are {lowest}, "), spec.call_success);
        line += &bonus(&format!("; if you call and are not {lowest}, "), spec.call_failure);
        line += &bonus("; if you are lowest without a call, ", spec.lowest_bonus);
    }
    if spec.carry_over {
        line += ". If you call and are lowest, you peek at one more card in the next round; if you are not, you get an extra card";
    }
    if let Cap::Score(most) | Cap::Feasible(most) = spec.cap {
        line = format!("{line}. A call succeeds with at most {most} points");
    }
    let best = if spec.best == Best::Fewest { "lowest" } else { "highest" };
    line + &match spec.match_end {
        MatchEnd::Rounds(1) => ". The match is one round.".to_owned(),
        MatchEnd::Rounds(rounds) => format!(". After {rounds} rounds, the {best} total wins."),
        MatchEnd::Total(total) => format!(". When a total reaches {total}, the {best} total wins."),
    }
}

fn bonus(who: &str, bonus: Bonus) -> String {
    match bonus {
        Bonus::Add(0) => String::new(),
        Bonus::Add(number) if number < 0 => format!("{who}{} less", -number),
        Bonus::Add(number) => format!("{who}{number} more"),
        Bonus::Set(number) => format!("{who}{number} instead"),
        Bonus::Times(number) => format!("{who}{number} times the points"),
    }
}

fn turn(rules: &Rules) -> String {
    let spec = rules.spec();
    let mut line = match spec.peek {
        Peek::Slots(0) => format!("You have {} face-down cards. ", spec.hand.get()),
        Peek::Slots(mask) => {
            format!("You have {} face-down cards and peek at {} at the start. ", spec.hand.get(), mask.count_ones())
        }
        Peek::Choose(number) => format!("You have {} face-down cards and peek at {number} of them. ", spec.hand.get()),
    };
    line += "On your turn, draw a card";
    if spec.take {
        line += ", or take the open card (the top of the discard pile)";
    }
    line += ". Keep it and discard one of your cards, or discard the drawn card.";
    if rules.kinds().iter().any(|kind| kind.copies > 0 && !kind.power.is_none()) {
        line += " If the drawn card has a power, discarding it lets you use the power.";
    }
    if spec.replaced_power {
        line += " The power of a replaced card may be used too.";
    }
    if spec.take && spec.redrop == Redrop::Forbidden {
        line += " A taken card must be kept.";
    }
    line
}

fn snap(rules: &Rules) -> String {
    let spec = rules.spec();
    if spec.window == Window::None {
        return "This game is played without snaps.".to_owned();
    }
    let mut line = "When a card is discarded, you may snap a card of ".to_owned();
    line += match spec.matching {
        Matching::Rank => "the same rank",
        Matching::Points => "the same points",
        Matching::RankOwnPointsForeign => "the same rank, or of the same points if it is another player's",
    };
    line += match (spec.snap_targets, spec.gift) {
        (SnapTargets::Own, _) => " from your own cards.",
        (SnapTargets::Any, Gift::May) => {
            ", your own or another player's. For another player's card, you may give them one of yours."
        }
        (SnapTargets::Any, Gift::Must) => {
            ", your own or another player's. For another player's card, you give them one of yours."
        }
    };
    let cost = match spec.penalty.get() {
        0 => "nothing".to_owned(),
        1 => "a penalty card".to_owned(),
        cards => format!("{cards} penalty cards"),
    };
    line += " Only the first matching card counts";
    line += if spec.chain { ", and its player may then snap more, one after another." } else { "." };
    line += " A wrong card costs ";
    line += &cost;
    line += match spec.late {
        Late::Penalise => ", and so does a matching card that comes too late.",
        Late::TakeBack | Late::Abort => ".",
    };
    if !spec.discarder_snaps {
        line += " The player who discarded the card may not snap.";
    }
    if spec.touch {
        line += " You may also touch a card as a bluff.";
    }
    line
}

/// For each known deck, the letters at the end of its card labels, with the names of the suits.
const SUITS: [&[(&str, &str)]; 2] = [
    &[("c", "clubs"), ("d", "diamonds"), ("h", "hearts"), ("s", "spades")],
    &[("C", "Schilten (shields)"), ("E", "Eicheln (acorns)"), ("R", "Rosen (roses)"), ("S", "Schellen (bells)")],
];

/// Explains how to read the labels of the cards; empty if no card has a suit.
///
/// ```
/// use cambio_core::Rules;
///
/// let text = cambio_view::cards_in_short(&Rules::preset("classic").unwrap());
/// assert_eq!(text, "10h is the 10 of hearts. Suits: c clubs, d diamonds, h hearts, s spades. JK is a joker.");
/// ```
pub fn cards_in_short(rules: &Rules) -> String {
    let kinds: Vec<_> = rules.kinds().iter().filter(|kind| kind.copies > 0 && !kind.suit.is_empty()).collect();
    let known =
        SUITS.iter().find(|suits| kinds.iter().all(|kind| suits.iter().any(|(letter, _)| *letter == kind.suit)));
    let mut text = match (known, kinds.iter().find(|kind| kind.rank == "10").or(kinds.first())) {
        (_, None) => return String::new(),
        (Some(suits), Some(kind)) => {
            let of = suits.iter().find(|(letter, _)| *letter == kind.suit).map_or("", |(_, name)| name);
            let letters: Vec<String> = suits.iter().map(|(letter, name)| format!("{letter} {name}")).collect();
            format!("{} is the {} of {of}. Suits: {}", kind.label, kind.rank, letters.join(", "))
        }
        (None, Some(_)) => {
            let named: Vec<String> =
                kinds.iter().map(|kind| format!("{} is the {} {}", kind.label, kind.suit, kind.rank)).collect();
            named[..named.len().min(4)].join(", ")
        }
    };
    if kinds.iter().any(|kind| kind.label == "UR") {
        text += ". Ranks: U Under, O Ober, K König, F Fässler, A ace";
    }
    if rules.kinds().iter().any(|kind| kind.label == "JK" && kind.copies > 0) {
        text += ". JK is a joker";
    }
    text + "."
}

/// The power of a card in words; empty for no power.
///
/// ```
/// use cambio_core::rules::Power;
///
/// let power: Power = "look any then swap".parse().unwrap();
/// assert_eq!(cambio_view::power_in_words(power), "peek at any card, then swap two cards");
/// ```
pub fn power_in_words(power: Power) -> String {
    let steps: Vec<String> = (0..).map_while(|number| power.step(number)).map(step_in_words).collect();
    match &steps[..] {
        [one, other] if one == other => format!("twice: {one}"),
        steps => steps.join(", then ").replace("then peek at another card", "then another"),
    }
}

pub(crate) fn step_in_words(step: PowerStep) -> String {
    let words = |action: &str| match action {
        "look own" => "peek at one of your cards",
        "look other" => "peek at an opponent's card",
        "look any" => "peek at any card",
        "look another" => "peek at another card",
        "swap" => "swap two cards",
        "swap own" => "swap one of your cards with an opponent's card",
        "swap looked" => "swap a card that you peeked at with another one",
        _ => "turn up one card of each opponent",
    };
    step.to_string().split(" or ").map(words).collect::<Vec<_>>().join(", or ")
}

/// Explains the scores of a round: a sentence for each seat, seat a first.
pub(crate) fn scores_in_words(rules: &Rules, result: &RoundResult) -> Vec<String> {
    Seat::ALL[..result.seats].iter().map(|&seat| score_of(rules, result, seat)).collect()
}

fn score_of(rules: &Rules, result: &RoundResult, seat: Seat) -> String {
    let verdict = verdict(rules, result, seat).map(|verdict| verdict + ": ").unwrap_or_default();
    let sum = sum(rules, result, seat);
    if rules.spec().score == ScoreKnob::Points {
        return format!("{seat} {verdict}{sum}");
    }
    let score = result.scores()[seat.index()];
    let won = if result.winners.contains(seat) { wins(result, score) } else { format!("no win: score {score}") };
    format!("{seat} {verdict}{sum}, {won}")
}

/// The points that a seat's row of a result shows, and why they differ from the points of its cards: "called and was
/// lowest: 12 − 5 = 7".
pub(crate) fn counted_points(rules: &Rules, result: &RoundResult, seat: Seat) -> (i32, String) {
    let (points, score) = (result.points()[seat.index()], result.scores()[seat.index()]);
    let counts = rules.spec().score == ScoreKnob::Points;
    let sum = (counts && result.bonus(rules, seat) != Bonus::Add(0)).then(|| sum(rules, result, seat));
    let remark: Vec<String> = [verdict(rules, result, seat), sum].into_iter().flatten().collect();
    (if counts { score.units() / Score::UNITS } else { points }, remark.join(": "))
}

/// What became of a call, or why a seat has a bonus without one.
fn verdict(rules: &Rules, result: &RoundResult, seat: Seat) -> Option<String> {
    let spec = rules.spec();
    let points = result.points()[seat.index()];
    if !result.callers.contains(seat) {
        let has_bonus = spec.score == ScoreKnob::Points && result.bonus(rules, seat) != Bonus::Add(0);
        return has_bonus.then(|| "was lowest".to_owned());
    }
    Some(if result.succeeded.contains(seat) {
        "called and was lowest".to_owned()
    } else if let Cap::Score(most) = spec.cap
        && points > i32::from(most)
    {
        format!("called with more than {most} points")
    } else if result.points().iter().all(|&other| points <= other) {
        "called, but tied for lowest".to_owned()
    } else {
        "called, but was not lowest".to_owned()
    })
}

/// The points of a seat's cards, with the bonus that turns them into its score, if the rules count points.
fn sum(rules: &Rules, result: &RoundResult, seat: Seat) -> String {
    let (points, score) = (result.points()[seat.index()], result.scores()[seat.index()]);
    let bonus = if rules.spec().score == ScoreKnob::Points { result.bonus(rules, seat) } else { Bonus::Add(0) };
    match bonus {
        Bonus::Add(0) => counted(points),
        Bonus::Add(number) if number < 0 => format!("{} − {} = {}", minus(points), -number, minus(score)),
        Bonus::Add(number) => format!("{} + {number} = {}", minus(points), minus(score)),
        Bonus::Set(number) => format!("{} become {}", counted(points), minus(i32::from(number))),
        Bonus::Times(number) => format!("{} × {number} = {}", minus(points), minus(score)),
    }
}

fn wins(result: &RoundResult, score: Score) -> String {
    if result.winners.len() == 1 { format!("wins: score {score}") } else { format!("shares the win: score {score}") }
}

/// A number with a typographic minus sign.
fn minus(number: impl Display) -> String {
    number.to_string().replace('-', "−")
}

fn counted(points: i32) -> String {
    format!("{} {}", minus(points), if points.abs() == 1 { "point" } else { "points" })
}

#[cfg(test)]
mod tests;
