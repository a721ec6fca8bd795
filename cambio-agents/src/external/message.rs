//! The messages of the protocol that PROTOCOL.md describes.

use cambio_core::play::RoundResult;
use cambio_core::record::{results, scores};
use cambio_core::rng::Stream;
use cambio_core::rules::{MAX_SEATS, MAX_SLOTS};
use cambio_core::text::without_mark;
use cambio_core::{
    Action, Briefing, Card, Observation, Rules, Score, Seat, SeatSet, Sighting, Spot, SpotSet, Standing,
};
use rand::Rng as _;
use serde_json::{Map, Value, json};

use super::process::shown;

/// The version of the protocol that this crate implements.
pub const PROTOCOL: u32 = 1;

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

/// The events in the order of their codes: the word, and the fields, one for each part of the code. `spots` are two parts.
const EVENTS: [(&str, &[&str]); 23] = [
    ("dealt", &["starter", "extra_cards"]),
    ("peeked", &["seat", "spot", "card"]),
    ("flipped", &["card"]),
    ("turn_began", &["seat"]),
    ("drew", &["seat", "card"]),
    ("took", &["seat", "card"]),
    ("dropped", &["seat", "card"]),
    ("kept", &["seat", "spot", "replaced"]),
    ("looked", &["seat", "spot", "card"]),
    ("swapped", &["seat", "spots"]),
    ("shown", &["spot", "card"]),
    ("skipped", &["seat"]),
    ("touched", &["seat", "spot"]),
    ("snapped", &["seat", "spot", "card", "verdict"]),
    ("aborted", &["seat"]),
    ("penalised", &["seat", "spot"]),
    ("penalty_waived", &["seat"]),
    ("gave", &["seat", "from", "to"]),
    ("called", &["seat"]),
    ("became_safe", &["seat"]),
    ("reshuffled", &["cards"]),
    ("ended", &["reason"]),
    ("turned_up", &["spot", "card"]),
];

/// The places of the parts in a code.
const SHIFTS: [u64; 4] = [36, 24, 12, 0];

/// The value of a field whose part of the code is `part`; `None` if the part is not valid. Lists of seats begin with `starter`.
fn value(rules: &Rules, field: &str, part: u64, starter: Seat) -> Option<Value> {
    let spot = |part: u64| {
        let index = (part as usize & 0xfff).checked_sub(1)?;
        Some(Spot::new(Seat::new(index / MAX_SLOTS)?, index % MAX_SLOTS + 1)?.to_string())
    };
    let word = |words: &[&'static str]| Some(Value::from(*words.get((part as usize).checked_sub(1)?)?));
    Some(match field {
        "seat" | "starter" => Seat::new(part as usize)?.to_string().into(),
        "extra_cards" => {
            let is_in = |seat: &Seat| part >> seat.index() & 1 == 1;
            seats(Seat::ALL.into_iter().filter(is_in).collect::<SeatSet>().iter_from(starter))
        }
        "spot" | "from" | "to" => spot(part)?.into(),
        "spots" => json!([spot(part >> 12)?, spot(part)?]),
        "card" | "replaced" if part == 0 => Value::Null,
        "card" | "replaced" => rules.kinds().get(part as usize - 1)?.label.as_str().into(),
        "cards" => part.into(),
        "verdict" => word(&["right", "wrong", "late"])?,
        _ => word(&["call", "empty_hand", "turn_limit", "stock_out"])?,
    })
}

pub(super) fn event(rules: &Rules, sighting: Sighting) -> Value {
    let code = sighting.code();
    let (word, fields) = EVENTS[(code >> 48) as usize - 1];
    let starter = Seat::ALL[(code >> SHIFTS[0]) as usize % MAX_SEATS];
    let mut message = json!({"type": "event", "event": word});
    for (&field, shift) in fields.iter().zip(SHIFTS) {
        let part = if field == "spots" { code >> 12 & 0xff_ffff } else { code >> shift & 0xfff };
        message[field] = value(rules, field, part, starter).expect("a sighting has valid parts");
    }
    message
}

/// Reads the message of an event; `None` if it is not one of [`event`]'s messages.
pub(super) fn read_event(rules: &Rules, message: &Value) -> Option<Sighting> {
    let tag = EVENTS.iter().position(|(word, _)| message["event"] == *word)?;
    let starter = message["starter"].as_str().and_then(seat).unwrap_or(Seat::A);
    let mut code = (tag as u64 + 1) << 48;
    for (&field, shift) in EVENTS[tag].1.iter().zip(SHIFTS) {
        let find = |field: &str, found: &Value| {
            (0..0x1000).find(|&part| value(rules, field, part, starter).is_some_and(|value| value == *found))
        };
        code |= match field {
            "spots" => find("spot", &message[field][0])? << 24 | find("spot", &message[field][1])? << 12,
            _ => find(field, message.get(field)?)? << shift,
        };
    }
    Sighting::from_code(code)
}

/// The seat with this letter.
pub(super) fn seat(text: &str) -> Option<Seat> {
    Seat::ALL.into_iter().find(|seat| seat.to_string() == text)
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
