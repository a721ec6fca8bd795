//! The messages of the protocol that PROTOCOL.md describes.

use cambio_core::encode::EventParts;
use cambio_core::play::RoundResult;
use cambio_core::record::{results, scores};
use cambio_core::rng::Stream;
use cambio_core::text::without_mark;
use cambio_core::{
    Action, Briefing, Card, Event, Observation, Rules, Score, Seat, SeatSet, Sighting, SpotSet, Standing,
};
use rand::Rng as _;
use serde_json::{Map, Value, json};

use super::process::shown;

/// The version of the protocol that this crate implements.
const PROTOCOL: u32 = 1;

pub(super) fn hello() -> Value {
    json!({"type": "hello", "protocol": PROTOCOL})
}

pub(super) fn begin(briefing: &Briefing<'_>) -> Value {
    let rules = briefing.rules;
    let card = |card: Card| {
        let kind = rules.kind(card);
        json!({
            "label": kind.label, "rank": kind.rank, "suit": kind.suit, "points": kind.points,
            "power": kind.power.to_string(), "copies": rules.copies_of(card),
        })
    };
    let cards: Value = (0..rules.kinds().len()).filter_map(Card::new).map(card).collect();
    json!({
        "type": "begin", "rules": rules.spec().to_json(), "cards": cards, "seats": briefing.seats,
        "seat": briefing.seat.to_string(), "seed": seed(briefing.stream.clone()),
    })
}

/// A seed for the bot's own random numbers. It is below 2⁵³, so that JSON parsers that use doubles read it exactly.
fn seed(mut stream: Stream) -> u64 {
    stream.next_u64() >> 11
}

pub(super) fn round(standing: &Standing<'_>) -> Value {
    let setup = standing.setup;
    let seats = |set: SeatSet| seats(set.iter_from(setup.starter));
    json!({
        "type": "round", "round": standing.round + 1, "starter": setup.starter.to_string(),
        "extra_cards": seats(setup.carry.extra_card), "extra_peeks": seats(setup.carry.extra_peek),
        "totals": scores(standing.totals),
    })
}

pub(super) fn event(rules: &Rules, sighting: Sighting) -> Value {
    let EventParts { kind, seat, spots, card } = sighting.parts();
    let mut message = json!({"type": "event", "event": kind.replace(' ', "_")});
    if let Some(seat) = seat {
        message[if kind == "dealt" { "starter" } else { "seat" }] = seat.to_string().into();
    }
    match (sighting, spots) {
        (Event::Dealt { starter, extra }, _) => message["extra_cards"] = seats(extra.iter_from(starter)),
        (Event::Swapped { one, other, .. }, _) => message["spots"] = json!([one.to_string(), other.to_string()]),
        (Event::Gave { from, to, .. }, _) => {
            message["from"] = from.to_string().into();
            message["to"] = to.to_string().into();
        }
        (_, [Some(spot), _]) => message["spot"] = spot.to_string().into(),
        _ => {}
    }
    let has_face = matches!(sighting, Event::Peeked { .. } | Event::Drew { .. } | Event::Looked { .. });
    if has_face || card.is_some() {
        let card = card.map_or(Value::Null, |card| rules.label(card).into());
        message[if kind == "kept" { "replaced" } else { "card" }] = card;
    }
    match sighting {
        Event::Snapped { verdict, .. } => message["verdict"] = verdict.word().into(),
        Event::Reshuffled { cards } => message["cards"] = cards.into(),
        Event::Ended { reason } => message["reason"] = reason.word().into(),
        _ => {}
    }
    message
}

pub(super) fn decide(round: usize, view: &Observation<'_>) -> Value {
    let (rules, table) = (view.rules(), view.table());
    let label = |card: Option<Card>| card.map_or(Value::Null, |card| rules.label(card).into());
    let known: Map<String, Value> =
        view.known().iter_from(view.seat()).map(|spot| (spot.to_string(), label(view.face(spot)))).collect();
    let spots = |set: SpotSet| set.iter_from(view.seat()).map(|spot| spot.to_string()).collect::<Value>();
    let legal: Value = view.choices().iter().map(|action| action.to_string()).collect();
    json!({
        "type": "decide", "round": round, "turn": table.turns(), "phase": table.phase().word(), "legal": legal,
        "spots": spots(table.occupied()), "known": known, "matches": spots(view.known_matches()),
        "held": label(view.held()), "top": label(table.top()), "stock": table.stock_len(),
    })
}

pub(super) fn round_end(result: &RoundResult) -> Value {
    let mut message = json!({"type": "round_end"});
    for (name, value) in results(result) {
        message[name] = value;
    }
    message
}

pub(super) fn end(totals: &[Score]) -> Value {
    json!({"type": "end", "totals": scores(totals)})
}

fn seats(seats: impl Iterator<Item = Seat>) -> Value {
    seats.map(|seat| seat.to_string()).collect()
}

/// Reads an answer as a JSON object.
fn read(question: &str, answer: &[u8]) -> Result<Map<String, Value>, String> {
    let refuse = |what: &str| format!("the bot answered `{question}` with {what}: {}", shown(answer));
    let text = std::str::from_utf8(answer).map_err(|_| refuse("what is not UTF-8"))?;
    match serde_json::from_str(without_mark(text)) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(refuse("JSON that is no object")),
        Err(_) => Err(refuse("what is not JSON")),
    }
}

pub(super) fn read_hello(answer: &[u8]) -> Result<(), String> {
    let fields = read("hello", answer)?;
    let field = |name: &str| fields.get(name).map_or("missing".to_owned(), Value::to_string);
    if fields.get("protocol").and_then(Value::as_u64) != Some(u64::from(PROTOCOL)) {
        let found = shown(field("protocol").as_bytes());
        return Err(format!("the bot answered `hello` with the field `protocol` {found}; allowed is {PROTOCOL}"));
    }
    for name in ["name", "version"] {
        if !fields.get(name).is_some_and(Value::is_string) {
            let found = shown(field(name).as_bytes());
            return Err(format!("the bot answered `hello` with the field `{name}` {found}; allowed is a text"));
        }
    }
    Ok(())
}

pub(super) fn read_decision(answer: &[u8]) -> Result<Action, String> {
    let fields = read("decide", answer)?;
    match fields.get("decision") {
        Some(Value::String(text)) => text.parse().map_err(|_| {
            format!("the bot answered `decide` with {}, which is no decision in any phase", shown(text.as_bytes()))
        }),
        _ => Err(format!("the bot answered `decide` without a text in the field `decision`: {}", shown(answer))),
    }
}
