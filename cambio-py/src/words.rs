//! Observations and rules in words, for language models and people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cambio_core::engine::OwnedObservation;
use cambio_core::{Action, Rules, Sighting, View as _};
use cambio_view::{Narrator, cards_in_short, power_in_words, rules_in_short};

/// The rules in short, the cards with their points, and the notation.
pub(crate) fn rules(rules: &Rules) -> String {
    let mut text = rules_in_short(rules).join("\n");
    let _ = write!(text, "\n{}\n", cards_in_short(rules));
    let mut points: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
    let mut powers: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (kind, card) in rules.kinds().iter().zip((0..).filter_map(cambio_core::Card::new)) {
        points.entry(rules.points(card)).or_default().push(&kind.label);
        if !rules.power(card).is_none() {
            powers.entry(power_in_words(rules.power(card))).or_default().push(&kind.label);
        }
    }
    let points = points.iter().map(|(points, labels)| format!("{points}: {}", labels.join(" ")));
    let _ = writeln!(text, "Points of the cards: {}.", points.collect::<Vec<_>>().join("; "));
    let powers: Vec<String> = powers.iter().map(|(power, labels)| format!("{}: {power}", labels.join(" "))).collect();
    if !powers.is_empty() {
        let _ = writeln!(text, "Powers of the cards: {}.", powers.join("; "));
    }
    text + "A spot is the letter of a seat and the number of a card: b3 is the third card of seat b.\n"
}

/// The last `most` events, the table and the question with the legal decisions.
pub(crate) fn observation(view: &OwnedObservation, sightings: &[Sighting], table: &str, most: usize) -> String {
    let (rules, seat) = (view.rules(), view.seat());
    let narrator = Narrator::for_players(rules);
    let mut text = format!("You are seat {seat}.\n");
    let lines = sightings.iter().filter_map(|sighting| narrator.line(sighting, |face| face));
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    let lines = &lines[lines.len().saturating_sub(most)..];
    if !lines.is_empty() {
        let _ = writeln!(text, "Events, oldest first:\n  {}", lines.join("\n  "));
    }
    let _ = write!(
        text,
        "The table (? is a card that you do not know; ' marks a card that its owner has not seen):\n{table}"
    );
    let choices = view.choices();
    if choices.is_empty() {
        return text + "You do not have to decide now.\n";
    }
    let _ = writeln!(text, "Your decision: {}.", narrator.question(&view.observation(), true));
    text += "Legal decisions:\n";
    for action in choices.iter() {
        let _ = writeln!(text, "  {action} – {}", meaning(action, view));
    }
    text
}

/// The meaning of a decision.
fn meaning(action: Action, view: &OwnedObservation) -> String {
    match action {
        Action::Peek(spot) => format!("peek at your card {spot}"),
        Action::Draw => "draw a card from the stock".to_owned(),
        Action::Take => "take the top card of the discard pile".to_owned(),
        Action::Call => "call: the others have one more turn, then the round ends".to_owned(),
        Action::End => "end your turn".to_owned(),
        Action::Drop => "discard the held card".to_owned(),
        Action::Keep(spot) => format!("put the held card into {spot} and discard the card that is there"),
        Action::Look(spot) if spot.seat() == view.seat() => format!("peek at your card {spot}"),
        Action::Look(spot) => format!("peek at {spot}, a card of seat {}", spot.seat()),
        Action::Swap(one, other) => format!("swap the cards {one} and {other} without looking"),
        Action::Show(spot) => format!("turn up {spot} for all"),
        Action::Skip => "do nothing".to_owned(),
        Action::Pass => "do not snap".to_owned(),
        Action::Snap(spot) => format!("snap: discard {spot} because it matches; if it does not, you get a penalty"),
        Action::Touch(spot) => format!("touch {spot} as a bluff"),
        Action::Give(spot) => format!("give away your card {spot}"),
        Action::Cheat(spot) => format!("peek at your card {spot} for a penalty"),
    }
}
