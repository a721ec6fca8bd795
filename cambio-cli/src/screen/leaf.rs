//! Texts over the whole page: the rules in short, what the cards are worth, the keys.

use cambio_core::Rules;
use cambio_view::{KindView, cards_in_short, rules_in_short};
use ratatui::text::Line;

use super::wrapped;

/// A text over the whole page, until a key is pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaf {
    Rules,
    Cards,
    Keys,
}

impl Leaf {
    pub(super) fn lines(self, rules: &Rules, kinds: &[KindView], columns: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut say = |text: &str, indent: &str| {
            lines.extend(wrapped(text, columns - 2, indent).into_iter().map(|line| Line::from(format!(" {line}"))));
        };
        if self == Leaf::Rules {
            for line in rules_in_short(rules) {
                say(&line, "");
                say("", "");
            }
            say(&cards_in_short(rules), "");
            say("", "");
            say("Press k to see what the cards are worth and can do, ? for all keys.", "");
        } else if self == Leaf::Cards {
            for (points, power, labels) in worth(kinds) {
                let power = if power.is_empty() { String::new() } else { format!("  power: {power}") };
                say(&format!("{points:>4} points  {}{power}", labels.join(" ")), "             ");
            }
            say("", "");
            say(&cards_in_short(rules), "");
        } else {
            for line in [
                "1 to 9       your own card in that slot",
                "arrows       go from card to card that may be chosen; Enter chooses it",
                "Tab          what the card is chosen for, where there is more than one thing",
                "d t c e      draw, take, call, end the turn,",
                "x s p        drop, do without, pass, as the last line offers",
                "m or Space   snaps a card that you know to match",
                "Enter        the only decision there is; in a snap window, passes. If a card would match, it asks first",
                "r, k         the rules in short; what the cards are worth and can do",
                "h, u         a hint; take your last decision back (with --practice)",
                "q            leaves the table; Ctrl-C at once",
                "",
                "Seats have letters, their cards numbers: b1 is the first card of seat b. (b1 ··) may be chosen, >b1 ··< is chosen by Enter, and * marks a card that matches. The letters below a card tell who has seen it.",
                "To touch a card is a bluff, and to cheat is to look at an own card for a penalty card, where the rules have it.",
            ] {
                say(line, "             ");
            }
        }
        lines
    }
}

/// Points, power and labels of cards that are alike.
type Worth<'a> = (i16, &'a str, Vec<String>);

/// What the cards are worth, the fewest points first. A rank whose suits are all alike is named by itself.
fn worth(kinds: &[KindView]) -> Vec<Worth<'_>> {
    let mut worth: Vec<Worth<'_>> = Vec::new();
    for kind in kinds {
        let is_alike = |other: &&KindView| other.points == kind.points && other.power == kind.power;
        let (alike, all) = kinds
            .iter()
            .filter(|other| other.rank == kind.rank)
            .fold((0, 0), |(alike, all), other| (alike + usize::from(is_alike(&other)), all + 1));
        let name = if alike == all && all > 1 { kind.rank.clone() } else { kind.spoken() };
        match worth.iter_mut().find(|(points, power, _)| *points == kind.points && *power == kind.power) {
            Some((.., labels)) if labels.contains(&name) => {}
            Some((.., labels)) => labels.push(name),
            None => worth.push((kind.points, &kind.power, vec![name])),
        }
    }
    worth.sort_by_key(|(points, ..)| *points);
    worth
}
