//! Describes events in words, for transcripts of records and for a person who plays.

use cambio_core::{Card, Event, Rules, Verdict};

/// Describes events with the labels of one deck.
pub(super) struct Narrator {
    labels: Vec<String>,
}

impl Narrator {
    pub(super) fn new(rules: &Rules) -> Narrator {
        Narrator { labels: rules.kinds().iter().map(|kind| kind.label.clone()).collect() }
    }

    /// The label of a card.
    pub(super) fn label(&self, card: Card) -> &str {
        &self.labels[card.kind()]
    }

    /// An event as one line, indented by the turn and the action that it is part of; `None` if there is nothing to say. `seen`
    /// returns a face if the reader may see it.
    pub(super) fn line<F: Copy>(&self, event: &Event<F>, seen: impl Fn(F) -> Option<Card>) -> Option<String> {
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
}
