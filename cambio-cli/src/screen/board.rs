//! The table, drawn as lines of text.

use cambio_view::{KindView, Scene};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};

use crate::say::count;

/// The marks on the table, and the cards that are visible.
#[derive(Clone, Default, Debug)]
pub(super) struct Marks {
    /// The player's seat, which is shown last.
    pub(super) own: Option<char>,
    /// Cards that the player can choose.
    pub(super) offered: Vec<String>,
    /// The card that Enter chooses.
    pub(super) focus: Option<String>,
    /// Cards that the seat knows to match, or the first card of a swap.
    pub(super) matches: Vec<String>,
    /// Cards that are shown for a short time: spots and kinds.
    pub(super) glimpses: Vec<(String, usize)>,
    /// If set, only the cards that this seat has seen are visible.
    pub(super) view: Option<char>,
}

/// With more seats than this number, each seat has a single line, which does not show which seats have seen its cards.
const LOOSE: usize = 4;

/// The table. It fits 80 columns if no seat has more than eight cards.
pub(super) struct Board<'a> {
    pub(super) scene: &'a Scene,
    pub(super) kinds: &'a [KindView],
    pub(super) names: &'a [String],
    pub(super) marks: &'a Marks,
    pub(super) columns: usize,
}

impl Board<'_> {
    pub(super) fn lines(&self) -> Vec<Line<'static>> {
        let letters: Vec<char> = ('a'..='h').take(self.scene.layouts.len()).collect();
        let (own, others): (Vec<char>, Vec<char>) =
            letters.into_iter().partition(|&letter| Some(letter) == self.marks.own);
        let mut lines: Vec<Line<'static>> = others.into_iter().flat_map(|seat| self.seat(seat)).collect();
        lines.push(self.middle());
        lines.extend(own.into_iter().flat_map(|seat| self.seat(seat)));
        lines
    }

    /// The stock, the pile and the held card.
    fn middle(&self) -> Line<'static> {
        let scene = self.scene;
        let name = |kind: usize| self.kinds[kind].spoken();
        let [pile, stock] = [scene.pile, scene.stock].map(|cards| count(cards as u64, "card"));
        let pile = scene.top.map_or("empty".to_owned(), |kind| format!("{} ({pile})", name(kind)));
        let mut spans =
            vec![Span::raw("   discard pile: "), Span::from(pile).bold(), Span::raw(format!("   stock: {stock}"))];
        if let Some(held) = &scene.held {
            let sees = held.taken || self.marks.view.is_none_or(|view| view == held.by);
            let card = held.kind.filter(|_| sees).map_or("a card".to_owned(), name);
            let who =
                if Some(held.by) == self.marks.own { "you hold".to_owned() } else { format!("{} holds", held.by) };
            spans.push(Span::from(format!("   {who} {card}")).bold());
        }
        Line::from(spans)
    }

    fn seat(&self, seat: char) -> Vec<Line<'static>> {
        let index = seat as usize - 'a' as usize;
        let scene = self.scene;
        let is_loose = scene.layouts.len() <= LOOSE;
        let mut facts = Vec::new();
        if let Some(total) = scene.totals.get(index).filter(|_| is_loose) {
            facts.push(format!("total {}", total.replace('-', "−")));
        }
        let called = scene.callers.contains(seat).then_some("called");
        let safe = scene.safe.contains(seat).then_some("safe");
        facts.extend([called, safe].into_iter().flatten().map(str::to_owned));
        let name = if Some(seat) == self.marks.own { "you".to_owned() } else { cut(&self.names[index], 40) };
        let turn = if scene.turn == seat { "›" } else { " " };
        let cells: Vec<(Span<'static>, String)> =
            scene.layouts[index].iter().map(|lying| self.cell(seat, lying)).collect();
        let cards = |indent: usize| {
            let mut lines = vec![(vec![Span::raw(" ".repeat(indent))], " ".repeat(indent), indent)];
            for (cell, seen) in &cells {
                let width = cell.width();
                if lines.last().is_some_and(|line| line.2 + width > self.columns) {
                    lines.push((vec![Span::raw(" ".repeat(indent))], " ".repeat(indent), indent));
                }
                let Some(line) = lines.last_mut() else { continue };
                line.0.push(cell.clone());
                let padding = width.saturating_sub(seen.chars().count());
                line.1.push_str(seen);
                line.1.extend(std::iter::repeat_n(' ', padding));
                line.2 += width;
            }
            lines
        };
        if !is_loose {
            let called = if called.is_some() {
                "!"
            } else if safe.is_some() {
                "0"
            } else {
                " "
            };
            let head = format!("{turn}{seat}{called} {:<15}", cut(&name, 14));
            let mut rows = cards(19).into_iter().map(|(spans, ..)| spans).collect::<Vec<_>>();
            rows[0][0] = self.named(seat, head);
            return rows.into_iter().map(Line::from).collect();
        }
        let facts = if facts.is_empty() { String::new() } else { format!("   {}", facts.join(", ")) };
        let head = Line::from(vec![self.named(seat, format!(" {turn} {seat}  {name}")), Span::from(facts).dim()]);
        let mut lines = vec![head];
        for (spans, seen, _) in cards(5) {
            lines.push(Line::from(spans));
            lines.push(Line::from(Span::from(seen.trim_end().to_owned()).dim()));
        }
        lines
    }

    fn named(&self, seat: char, text: String) -> Span<'static> {
        let style =
            if Some(seat) == self.marks.own { Style::new().bold().fg(Color::Cyan) } else { Style::new().bold() };
        Span::styled(text, style)
    }

    /// A card, and the seats that have seen it.
    fn cell(&self, seat: char, lying: &cambio_view::TableCardView) -> (Span<'static>, String) {
        let spot = format!("{seat}{}", lying.0);
        let marks = self.marks;
        let glimpsed = marks.glimpses.iter().find(|(other, _)| *other == spot).map(|(_, kind)| *kind);
        let seen = lying.1.filter(|_| marks.view.is_none_or(|view| lying.2.contains(view)));
        let face = seen.or(glimpsed).map_or("··".to_owned(), |kind| self.kinds[kind].spoken());
        let mark = if marks.matches.contains(&spot) { "*" } else { "" };
        let is_offered = marks.offered.contains(&spot);
        let is_focus = marks.focus.as_deref() == Some(&*spot);
        let (open, close) = if is_focus {
            (">", "<")
        } else if is_offered {
            ("(", ")")
        } else {
            (" ", " ")
        };
        let mut style = Style::new();
        if is_offered {
            style = style.bold();
        }
        if !mark.is_empty() {
            style = style.fg(Color::Green);
        }
        if is_focus {
            style = style.reversed();
        }
        let who = if lying.2.is_empty() { String::new() } else { format!("   {}", lying.2) };
        (Span::styled(format!("{open}{mark}{spot} {face}{close} "), style), who)
    }
}

/// The text, truncated to at most `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}
