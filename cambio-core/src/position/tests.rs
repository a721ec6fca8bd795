use super::*;
use crate::Playing;
use crate::engine::Dice;
use crate::play::RoundResult;
use crate::rng::{Bounded as _, Key, Purpose, SplitMix};
use crate::rules::PRESETS;

/// Plays a match at random, and passes the position of each decision to `take`.
fn positions(rules: &Rules, seats: usize, seed: u64, mut take: impl FnMut(&Position, &Observation<'_>)) {
    let key = Key::new(seed, 0);
    let mut chance = key.stream(Purpose::Deck, 99);
    let mut playing = Playing::new(rules, seats, key).unwrap();
    while let Some(turn) = playing.turn() {
        let position = Position::new(&turn.view, playing.totals(), playing.rounds());
        take(&position, &turn.view);
        let choices = turn.view.choices();
        let action = choices.nth(chance.below(choices.len() as u32) as usize).unwrap();
        playing.act(action).unwrap();
    }
}

#[test]
fn positions_of_random_play_are_read_back() {
    let minis = ["mini-m0", "mini-m1", "mini-m3", "mini-k3", "mini-k4", "mini-s", "mini-p", "mini-pk", "mini-dpk"];
    for (number, preset) in (0..).zip(PRESETS.iter().chain(&minis)) {
        let rules = Rules::preset(preset).unwrap();
        for seats in [2, 3, 8].into_iter().filter(|&seats| rules.covers(seats).is_ok()) {
            for seed in 0..3 {
                positions(&rules, seats, seed + 1000 * number, |position, view| {
                    let text = position.to_string();
                    let read: Position = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
                    assert_eq!(&read, position, "{text}");
                    assert_eq!(read.observation().choices(), view.choices(), "{text}");
                    let view = &position.observation();
                    let world = read.knowledge().sample(view, &mut SplitMix::new(seed, 0_u32));
                    assert_eq!(&world.observe(view.seat()), view, "{text}");
                    let expected = Position::new(&world.observe(view.seat()), read.totals(), read.rounds());
                    assert_eq!(expected, read, "{text}");
                    // The world can be played to the end of the round.
                    let (mut world, mut dice) = (world, Dice(SplitMix::new(seed, 1_u32)));
                    while world.actor().is_some() {
                        let number = dice.0.below(world.choices().len() as u32) as usize;
                        let action = world.choices().nth(number).unwrap();
                        world.carry_out(action, &mut dice, &mut ());
                    }
                    assert!(RoundResult::of(&world).is_some(), "{text}");
                });
            }
        }
    }
}

#[test]
fn mixed_fields_are_refused_or_have_choices() {
    let mut texts: Vec<String> = Vec::new();
    for (seed, preset) in (0..).zip(PRESETS) {
        positions(&Rules::preset(preset).unwrap(), 3, seed, |position, _| texts.push(position.to_string()));
    }
    let mut chance = Key::new(5, 5).stream(Purpose::Deck, 1);
    let (mut accepted, mut refused) = (0, 0);
    for text in &texts {
        for _ in 0..20 {
            let mut fields: Vec<&str> = text.split(' ').collect();
            let other: Vec<&str> = texts[chance.below(texts.len() as u32) as usize].split(' ').collect();
            for _ in 0..=chance.below(3) {
                let at = 1 + chance.below(fields.len() as u32 - 1) as usize;
                if chance.below(3) == 0 {
                    fields.remove(at);
                    continue;
                }
                // The same field of another position, or one that this position lacks.
                let field = other[1 + chance.below(other.len() as u32 - 1) as usize];
                let name = field.split('=').next();
                fields.retain(|own| own.split('=').next() != name);
                fields.push(field);
            }
            let mixed = fields.join(" ");
            match mixed.parse::<Position>() {
                Ok(position) => {
                    accepted += 1;
                    let view = position.observation();
                    assert!(view.table().asked() != Some(view.seat()) || !view.choices().is_empty(), "{mixed}");
                    assert_eq!(position.to_string().parse(), Ok(position), "{mixed}");
                }
                Err(ParseError(_)) => refused += 1,
            }
        }
    }
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

#[test]
fn errors_name_the_place() {
    let cases = [
        ("clasic a=?,? b=?,?", "there is no preset `clasic`"),
        ("classic", "expected the layouts of two or more seats"),
        ("classic a=?,?,?,? b=7x,?,?,?", "`b=7x`: expected in slot 1 the label of a card"),
        ("classic a=?,?,?,? b=7s/b,?,?,?", "in slot 1 `?`, because seat a has not seen the card"),
        (
            "classic a=?/ab,?,?,? b=?,?,?,?",
            "in slot 1 a face, because this is what seat a knows, which has seen the card; `turns` and `start`, `act` or `view` name",
        ),
        ("classic a=?,?,?,? b=?,?,?,? pile=9c*2", "the position has 2 cards 9c, but the deck has 1"),
        ("classic a=?,?,?,? b=?,?,?,? phase=gift", "`phase=gift` and the field `gap` need each other"),
        ("classic a=?,?,?,? b=?,?,?,? turns=x", "`turns=x`: expected a whole number"),
        ("classic a=?,?,?,? b=?,?,?,? colour=red", "the field `colour` does not exist"),
        ("classic a=?,?,?,? b=?,?,?,? a=?", "the field `a` is given twice"),
        ("classic a=?,?,? b=?,?,?,?", "the pile cannot be empty"),
        ("classic a=?,?,?,? b=?,?,?,? turns=0 phase=peek", "no seat chooses the cards of its first look"),
        ("faessler a=- b=?,?,?,? pile=8S turns=0 phase=peek", "every seat has the cards that it was dealt"),
        ("original a=?,?,?,? b=?,?,?,? phase=close", "under these rules a seat calls instead of its turn"),
        ("classic a=?,?,?,? b=?,?,?,? cards=a", "these rules have no `carry_over`"),
        ("classic a=?,?,?,? b=?,?,?,? turns=3", "after the first turn the pile has a card"),
        ("classic a=3H,?,?,? b=?,?,?,?", "the label of a card (`3h`?)"),
        ("", "expected one line such as `classic a=7s,2h,?,? b=?,?,?,?`, found nothing"),
        ("classic a=?,?,?,- b=?,?,?,? pile=7s phase=gift gap=a4", "an empty spot of another seat"),
        ("classic a=?,?,?,? b=?,?,?,? pile=7s calls=a", "a seat that has called has no more turn"),
        ("classic a=?,?,?,? b=?,?,?,? c=?,?,?,? pile=7s turns=3 calls=ab", "under these rules only one seat can call"),
        (
            "classic a=?,?,?,? b=?,?,?,? pile=7s turns=4 act=a",
            "must be the seat whose turn it is, by `start` and `turns`",
        ),
        ("classic a=?,?,?,? b=?,?,?,? pile=7s phase=chain", "these rules have no `chain`"),
        ("classic a=?,?,?,? b=?,?,?,? pile=Qh phase=power looked=a1", "so it knows their faces"),
        ("classic a=?,?,?,? b=?,?,?,? pile=2c phase=power", "needs a card with a power"),
        ("classic a=?,?,?,? b=?,?,?,? phase=held", "`held` must be the card in the hand"),
        ("classic a=?,?,?,? b=?,?,?,? act=b", "must be the seat whose turn it is"),
        ("classic a=- b=?,?,?,- phase=gift gap=b4 view=b pile=7s", "seat a has no legal decision"),
        ("classic a=?,?,?,? b=?,?,?,? start=ba", "`start=ba`: expected the letter of a seat"),
        ("classic a=?,?,?,? b=?,?,?,? turns=65535", "a whole number up to 10000"),
        ("classic a=?,?,?,? b=?,?,?,? totals=2147483647/840,0", "a number of points for each seat"),
        ("{\"base\": \"classic\", \"hand\": 99} a=? b=?", "hand"),
    ];
    for (text, expected) in cases {
        let found = text.parse::<Position>().unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
    let house = "{\"base\": \"classic\", \"hand\": 2, \"peek\": \"slots 1 2\"} a=7s,? b=?/b,? pile=9c";
    let position: Position = house.parse().unwrap();
    assert_eq!(position.observation().rules().spec().hand.get(), 2);
    assert_eq!(position.to_string().parse(), Ok(position));
}
