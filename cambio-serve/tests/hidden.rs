//! Non-interference: in two worlds that a seat cannot distinguish, the page of that seat receives the same bytes.
//!
//! A match is played with random decisions and stopped when the person has to decide. The second world exchanges cards
//! of the deck that the seat has not seen, and changes the secret declarations of other seats in an open window. Both
//! worlds are played through the app: alone with agents that follow the script, or with a person in every seat.
//! `CAMBIO_FULL=1` plays ten thousand pairs.

use std::sync::Arc;
use std::time::Duration;

use crate::asking::{Page, TOKEN, amount, get, get_as, links, post, post_as, read, run};
use cambio_agents::roster;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::PRESETS;
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Deal, Observation, Phase, Playing, Rules, Seat, Sighting,
};
use cambio_serve::{App, Settings};
use cambio_view::{Player, ReactionTimes, Session, SessionConfig};

/// An agent that takes the decisions of its seat from a script.
struct Scripted {
    script: Arc<Vec<(Seat, Action)>>,
    seat: Seat,
    at: usize,
}

impl Agent for Scripted {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        (self.seat, self.at) = (briefing.seat, 0);
        Ok(())
    }

    fn decide(&mut self, _: &Observation<'_>) -> Result<Action, AgentError> {
        let own = self.script.iter().filter(|(seat, _)| *seat == self.seat);
        self.at += 1;
        Ok(own.map(|(_, action)| *action).nth(self.at - 1).expect("the script has an answer to every request"))
    }
}

/// A match that stops at a decision of the person.
#[derive(Clone)]
struct World {
    deal: Deal,
    seats: usize,
    person: Seat,
    script: Vec<(Seat, Action)>,
    /// The median of the agents' reaction times if speed decides races; the person sends no time.
    reaction: Option<u32>,
}

/// Carries out a decision; with `reaction`, speed decides the race.
fn act(playing: &mut Playing, action: Action, person: Seat, reaction: Option<u32>) {
    let (round, race) = (playing.rounds(), playing.races());
    if let Some(median) = reaction {
        let times = ReactionTimes::draw(playing.key(), round, race, median).with(person, None);
        playing.lay_race(round, race, times.order());
    }
    playing.act(action).unwrap();
}

/// A random decision that mostly passes and rarely calls, so that the match continues.
fn choose(view: &Observation<'_>, stream: &mut Stream) -> Action {
    let choices = view.choices();
    if choices.contains(Action::Pass) && stream.chance(4, 5) {
        return Action::Pass;
    }
    loop {
        let action = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
        if action != Action::Call || stream.chance(1, 8) || choices.len() == 1 {
            return action;
        }
    }
}

impl World {
    /// A random match up to a decision of the person; `None` if the match ended before such a decision.
    fn play(key: Key, stream: &mut Stream, is_shared: bool) -> Option<World> {
        let rules = Rules::preset(PRESETS[stream.below(6) as usize]).unwrap();
        let seats = 2 + stream.below(3) as usize;
        let deal = Deal::new(&rules, key);
        let person = Seat::ALL[stream.below(seats as u32) as usize];
        let mut playing = Playing::observed(deal.clone(), seats, &mut ()).unwrap();
        let mut script = Vec::new();
        let least = stream.below(60) as usize;
        let reaction = (stream.chance(1, 2) && !is_shared).then_some(900);
        loop {
            let turn = playing.turn()?;
            if script.len() >= least && turn.seat == person {
                return Some(World { deal, seats, person, script, reaction });
            }
            let action = choose(&turn.view, stream);
            script.push((turn.seat, action));
            act(&mut playing, action, person, reaction);
        }
    }

    /// The match after the script, and all sightings of the person; `None` if the script does not fit this world.
    fn perceived(&self) -> Option<(Playing, Vec<Sighting>)> {
        let mut playing = Playing::observed(self.deal.clone(), self.seats, &mut ()).unwrap();
        let mut sightings: Vec<Sighting> = playing.sightings(self.person).collect();
        for &(seat, action) in &self.script {
            let turn = playing.turn().filter(|turn| turn.seat == seat && turn.view.allows(action));
            turn?;
            act(&mut playing, action, self.person, self.reaction);
            sightings.extend(playing.sightings(self.person));
        }
        Some((playing, sightings))
    }

    /// Another world with the same sightings, so that the person cannot distinguish the two worlds. Returns a clone of
    /// this world if no other is found.
    fn forged(&self, stream: &mut Stream) -> World {
        let (playing, sightings) = self.perceived().unwrap();
        let round = playing.rounds();
        let is_same = |other: &World| {
            other
                .perceived()
                .is_some_and(|(forged, told)| told == sightings && forged.state().actor() == playing.state().actor())
        };
        let mut world = self.clone();
        for _ in 0..24 {
            let mut other = world.clone();
            let mut deck = other.deal.deck(round).to_vec();
            // At least one of the two cards is from the hands or the first draws, because these cards matter most.
            let near = (self.seats * 6).min(deck.len());
            let (one, two) = (stream.below(near as u32) as usize, stream.below(deck.len() as u32) as usize);
            deck.swap(one, two);
            other.deal.lay(round, &deck).unwrap();
            if is_same(&other) {
                world = other;
            }
        }
        // Change the declarations of other seats in the open window.
        if playing.state().table().phase() == Phase::Window {
            for place in (0..world.script.len()).rev().take_while(|&place| self.script[place].0 != self.person) {
                let mut other = world.clone();
                let targets = playing.state().table().snap_targets(self.script[place].0);
                let spot = targets.nth_from(Seat::A, stream.below(targets.len().max(1) as u32) as usize);
                other.script[place].1 = spot.map_or(Action::Pass, Action::Snap);
                if is_same(&other) {
                    world = other;
                }
            }
        }
        world
    }

    fn faces(&self) -> Vec<Option<Card>> {
        let (playing, _) = self.perceived().unwrap();
        let state = playing.state();
        state
            .table()
            .occupied()
            .iter_from(Seat::A)
            .map(|spot| state.face(spot))
            .chain(state.stock().map(Some))
            .collect()
    }

    /// Plays the match through an app, and returns every byte that the person's pages received.
    async fn played(&self, notes: bool) -> String {
        let script = Arc::new(self.script.clone());
        let own: Vec<Action> =
            script.iter().filter(|(seat, _)| *seat == self.person).map(|(_, action)| *action).collect();
        let roster = roster().with("scripted", "Follows a script.", move || Scripted {
            script: Arc::clone(&script),
            seat: Seat::A,
            at: 0,
        });
        let opponents = vec![roster.parse("scripted").unwrap(); self.seats - 1];
        let deal = self.deal.clone();
        let app = App::new(Settings::new(roster), TOKEN.to_owned(), 8417);
        let config = SessionConfig::alone(deal, self.person, opponents);
        let config = SessionConfig { notes, practice: true, reaction: self.reaction, ..config };
        let table = app.open(Session::new(config)).unwrap();
        let mut page = Page::of(&app, table).await;
        let mut sent = String::new();
        let mut own = own.into_iter();
        loop {
            let step = page.next().await.expect("the table is open");
            let at = &step["n"];
            let answer = if !step["end"].is_null() {
                post(&app, "api/tables/1/next", format!(r#"{{"at":{at}}}"#)).await
            } else if !step["ask"].is_null() {
                let Some(action) = own.next() else { break };
                post(&app, "api/tables/1/act", format!(r#"{{"at":{at},"action":"{action}"}}"#)).await
            } else {
                continue;
            };
            let (status, text) = read(answer).await;
            assert_eq!(status.as_u16(), 200, "{text}");
            sent += &text;
        }
        sent += &page.all;
        // Rejections, hints and a reloaded page must not reveal hidden cards either.
        for request in [
            post(&app, "api/tables/1/act", r#"{"at":0,"action":"keep h9"}"#).await,
            post(&app, "api/tables/1/hint", r#"{"agent":"heuristic"}"#).await,
            get(&app, "api/tables/1/record").await,
            get(&app, "api/tables/1/film").await,
        ] {
            let (status, text) = read(request).await;
            sent = format!("{sent}{status} {text}\n");
        }
        let mut again = Page::of(&app, table).await;
        again.next().await;
        sent + &again.all
    }

    /// Plays the match through an app with a person in every seat, and returns every byte that the person's pages received, with
    /// the time of each step. In snap windows, the other people decide after times that follow from `delays`.
    async fn played_with_friends(&self, notes: bool, delays: u64) -> String {
        // The clock jumps to the end of each snap window as soon as nothing else can happen.
        tokio::time::pause();
        let app = App::new(Settings::new(roster()), TOKEN.to_owned(), 8417);
        let people: Vec<Player> = (0..self.seats).map(|number| Player::Person(number.to_string())).collect();
        let config = SessionConfig::alone(self.deal.clone(), Seat::A, Vec::new());
        let table = app.open(Session::new(SessionConfig { players: people, notes, ..config })).unwrap();
        let links = links(&app, table).await;
        let token = |seat: Seat| links.iter().find(|(own, _)| *own == seat.letter()).map_or(TOKEN, |(_, token)| token);
        let mut pages = Vec::new();
        for seat in Seat::ALL.into_iter().take(self.seats) {
            pages.push((seat, Page::linked(&app, token(seat), table).await));
        }
        for (_, token) in &links {
            let (status, text) = read(post_as(&app, token, "api/tables/1/sit", r#"{"name":"x"}"#).await).await;
            assert_eq!(status.as_u16(), 200, "{text}");
        }
        let mut own = None;
        let mut others = Vec::new();
        for (seat, mut page) in pages {
            while page.next().await.unwrap()["scene"].is_null() {}
            let actions: Vec<Action> =
                self.script.iter().filter(|(actor, _)| *actor == seat).map(|(_, action)| *action).collect();
            let (app, token) = (app.clone(), token(seat).to_owned());
            let delays = (seat != self.person).then(|| Key::new(44, delays).agent(seat));
            let played = follow(app, token, page, actions, delays);
            if seat == self.person { own = Some(played) } else { others.push(tokio::spawn(played)) }
        }
        let (page, mut sent) = own.expect("the person has a page").await;
        sent += &page.all;
        let own = token(self.person);
        for request in [
            post_as(&app, own, "api/tables/1/act", r#"{"at":0,"action":"keep h9"}"#).await,
            get_as(&app, own, "api/tables/1/record").await,
            get_as(&app, own, "api/tables/1/film").await,
        ] {
            let (status, text) = read(request).await;
            sent = format!("{sent}{status} {text}\n");
        }
        let mut again = Page::linked(&app, own, table).await;
        while again.next().await.unwrap()["scene"].is_null() {}
        sent += &again.all;
        others.iter().for_each(tokio::task::JoinHandle::abort);
        // The tokens are random.
        links.iter().fold(sent, |sent, (seat, token)| sent.replace(token.as_str(), &seat.to_string()))
    }
}

/// Follows a table, and carries out these decisions of its person. The person who is observed has no delays, and the match ends
/// after that person's decisions.
async fn follow(
    app: App,
    token: String,
    mut page: Page,
    actions: Vec<Action>,
    mut delays: Option<Stream>,
) -> (Page, String) {
    let begun = tokio::time::Instant::now();
    let mut actions = actions.into_iter();
    let mut sent = String::new();
    // The step in the first message.
    let mut step = page.last.clone();
    loop {
        let at = &step["n"];
        sent = format!("{sent}{at} after {} ms\n", begun.elapsed().as_millis());
        if let Some(stream) = delays.as_mut().filter(|_| step["ask"]["window"] == true) {
            tokio::time::sleep(Duration::from_millis(stream.below(3900).into())).await;
        }
        let answer = if !step["end"].is_null() {
            Some(post_as(&app, &token, "api/tables/1/next", format!(r#"{{"at":{at}}}"#)).await)
        } else if step["ask"].is_null() {
            None
        } else if let Some(action) = actions.next() {
            let body = format!(r#"{{"at":{at},"action":"{action}"}}"#);
            Some(post_as(&app, &token, "api/tables/1/act", body).await)
        } else if delays.is_none() {
            return (page, sent);
        } else {
            None
        };
        if let Some(answer) = answer {
            let (status, text) = read(answer).await;
            assert_eq!(status.as_u16(), 200, "{text}");
            sent += &text;
        }
        step = page.next().await.expect("the table is open");
    }
}

/// Plays pairs of worlds that a seat cannot distinguish, and compares what the page of the seat receives. `play` gets a world, whether notes
/// are on, and whether the world is the second of its pair.
fn compare_worlds(seed: u64, pairs: u64, is_shared: bool, play: impl Fn(&World, bool, bool) -> String) {
    let (mut compared, mut differ, mut bytes) = (0, 0, 0);
    for deal in 0.. {
        let key = Key::new(seed, deal);
        let mut stream = key.agent(Seat::H);
        let Some(world) = World::play(key, &mut stream, is_shared) else { continue };
        let forged = world.forged(&mut stream);
        let notes = stream.chance(1, 2);
        let sent = [(&world, false), (&forged, true)].map(|(world, is_second)| play(world, notes, is_second));
        assert!(sent[0] == sent[1], "deal {deal}:\n{}\n\n{}", sent[0], sent[1]);
        assert!(sent[0].contains("the match is in progress"), "{}", sent[0]);
        differ += u64::from(world.faces() != forged.faces());
        bytes += sent[0].len();
        compared += 1;
        if compared == pairs {
            break;
        }
    }
    // Check that the worlds differ and that enough bytes were compared.
    assert!(differ * 10 > compared * 9, "only {differ} of {compared} pairs differ in a hidden card");
    assert!(bytes as u64 > compared * 2_000, "{bytes} bytes");
}

#[test]
fn a_person_among_friends_gets_the_same_bytes_in_two_worlds_that_the_person_cannot_distinguish() {
    let play = |world: &World, notes, is_second| run(world.played_with_friends(notes, u64::from(is_second)));
    compare_worlds(42, amount(40, 2_000), true, play);
}

#[test]
fn two_worlds_that_a_seat_cannot_distinguish_give_the_same_bytes() {
    compare_worlds(41, amount(60, 10_000), false, |world, notes, _| run(world.played(notes)));
}

#[test]
fn bytes_differ_if_the_seat_can_distinguish_the_worlds() {
    // Shows that the comparison can fail: if a card differs that the seat has seen, the bytes differ.
    let (mut told, mut tried) = (0, 0);
    for deal in 0..30 {
        let key = Key::new(43, deal);
        let mut stream = key.agent(Seat::H);
        let Some(world) = World::play(key, &mut stream, false) else { continue };
        let (playing, sightings) = world.perceived().unwrap();
        let mut other = world.clone();
        let mut deck = other.deal.deck(playing.rounds()).to_vec();
        deck.rotate_left(1);
        other.deal.lay(playing.rounds(), &deck).unwrap();
        let Some((playing, seen)) = other.perceived() else { continue };
        let is_asked = playing.turn().is_some_and(|turn| turn.seat == other.person);
        if seen == sightings || !is_asked {
            continue;
        }
        tried += 1;
        told += u64::from(run(world.played(true)) != run(other.played(true)));
        let shared = [world, other].map(|world| World { reaction: None, ..world });
        if shared.iter().all(|world| world.perceived().is_some()) {
            let [one, two] = shared.map(|world| run(world.played_with_friends(true, 0)));
            assert_ne!(one, two, "deal {deal}");
        }
    }
    assert!(tried > 0 && told == tried, "{told} of {tried}");
}
