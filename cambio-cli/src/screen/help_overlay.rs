//! Full-page help: the rules in short, the points and powers of the cards, the keys.

use cambio_core::Rules;
use cambio_view::{CardValue, cards_in_short, rules_in_short};
use ratatui::text::Line;

use super::wrapped;

/// A help overlay, which is shown until a key is pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HelpOverlay {
    Rules,
    Cards,
    Keys,
}

impl HelpOverlay {
    pub(super) fn lines(self, rules: &Rules, columns: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let mut say = |text: &str, indent: &str| {
            lines.extend(wrapped(text, columns - 2, indent).into_iter().map(|line| Line::from(format!(" {line}"))));
        };
        if self == HelpOverlay::Rules {
            for line in rules_in_short(rules) {
                say(&line, "");
                say("", "");
            }
            say(&cards_in_short(rules), "");
            say("", "");
            say("In the match, press k for the points and powers of the cards, ? for all keys.", "");
        } else if self == HelpOverlay::Cards {
            for worth in CardValue::all(rules) {
                say(&worth.to_string(), "             ");
            }
            say("", "");
            say(&cards_in_short(rules), "");
        } else {
            for line in [
                "1 to 9       choose your own card in that slot",
                "arrows       move between the cards that you can choose; Enter chooses",
                "Tab          switch to another action for the card, if there are several",
                "d t c e      draw, take the top of the discard pile, call, end the turn",
                "x s p        discard, skip, pass; the last line shows the possible keys",
                "m or Space   snap a card that you know matches",
                "Enter        take the only possible decision, or pass instead of snapping. If you know a match, press Enter twice to pass",
                "r, k         show the rules in short; the points and powers of the cards",
                "h, u         ask for a hint; undo your last decision (with --practice)",
                "q            leave the match; Ctrl-C leaves at once",
                "",
                "Seats are letters and cards are numbers: b1 is the first card of seat b. You can choose (b1 ··), and Enter chooses >b1 ··<. * marks a card that you know matches. The letters below a card show which seats have seen it.",
                "With some rules you may bluff (touch a card), or cheat (peek at one of your own cards and take a penalty card).",
            ] {
                say(line, "             ");
            }
        }
        lines
    }
}
