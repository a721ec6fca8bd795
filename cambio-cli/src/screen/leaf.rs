//! Texts over the whole page: the rules in short, what the cards are worth, the keys.

use cambio_core::Rules;
use cambio_view::{Worth, cards_in_short, rules_in_short};
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
    pub(super) fn lines(self, rules: &Rules, columns: usize) -> Vec<Line<'static>> {
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
            for worth in Worth::all(rules) {
                say(&worth.to_string(), "             ");
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
