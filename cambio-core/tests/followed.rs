//! A round that a seat follows from its sightings alone gives the observations of the real round.

use crate::play::{Game, amount, games, mini_games, odd_games};
use cambio_core::play::{FollowedRound, RoundResult};
use cambio_core::rules::knob::{CallWhen, Cap};
use cambio_core::{Action, Card, Event, Notice, Observer, Seat, Standing, State, Table};

#[derive(Default)]
struct Followers {
    rounds: Vec<FollowedRound>,
    /// For each seat, the tables at which other seats were to decide.
    tables: Vec<Vec<Table>>,
    decisions: usize,
}

impl Followers {
    fn advance(&mut self, seat: Seat, state: &State) {
        let mut tables = Vec::new();
        let mut notice = |notice: Notice<'_>| {
            if let Notice::Table(table) = notice {
                tables.push(*table);
            }
        };
        let followed = self.rounds[seat.index()].advance(state.table().phase().word(), &mut notice);
        let spec = state.table().rules().spec();
        followed.unwrap_or_else(|error| panic!("seat {seat}: {error}: {}", spec.to_table()));
        let due = std::mem::take(&mut self.tables[seat.index()]);
        // With these knobs, a seat cannot know which of the others were asked.
        if !spec.snap_known_only && !matches!(spec.cap, Cap::Feasible(_)) {
            assert_eq!(tables, due, "seat {seat}");
        }
    }
}

impl Observer for Followers {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        let seats = &Seat::ALL[..standing.setup.seats];
        self.rounds = seats.iter().map(|&seat| FollowedRound::new(&standing.setup, seat).unwrap()).collect();
        self.tables = vec![Vec::new(); seats.len()];
    }

    fn event(&mut self, event: &Event<Card>) {
        self.rounds.iter_mut().zip(Seat::ALL).for_each(|(round, seat)| round.hear(event.seen_from(seat)));
    }

    fn asks(&mut self, state: &State, asked: Seat) {
        let others = self.tables.iter_mut().zip(Seat::ALL).filter(|(_, seat)| *seat != asked);
        others.for_each(|(tables, _)| tables.push(*state.table()));
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.advance(seat, state);
        let round = &mut self.rounds[seat.index()];
        assert_eq!(
            round.observation().observation(),
            state.observe(seat),
            "{}",
            state.table().rules().spec().to_table()
        );
        round.decide(action);
        self.decisions += 1;
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        for &seat in &Seat::ALL[..self.rounds.len()] {
            self.advance(seat, state);
            assert_eq!(self.rounds[seat.index()].result(), Some(*result), "seat {seat}");
        }
    }
}

fn follow(games: impl Iterator<Item = Game>) {
    let mut followers = Followers::default();
    games.for_each(|game| drop(game.play(&mut followers)));
    assert!(followers.decisions > 1000);
}

#[test]
fn a_seat_can_follow_a_round_from_its_sightings() {
    follow(games(301, amount(1, 12)).chain(mini_games(302, 5)));
}

#[test]
fn a_seat_can_follow_a_round_under_any_rules() {
    // With these knobs, a round can end because a seat may not call, which depends on cards that the other seats do not know.
    let is_left_out = |game: &Game| {
        let spec = game.rules.spec();
        matches!(spec.cap, Cap::Feasible(_)) && spec.call == CallWhen::InsteadOfTurn
    };
    follow(odd_games(303, amount(60, 2000)).filter(|game| !is_left_out(game)));
}
