//! Library agents in seats of a match that is stepped: they hear, watch and decide as the referee has them do.

use std::sync::{Mutex, PoisonError};

use cambio_agents::{AgentSpec, Player};
use cambio_core::{Action, Card, Chronicle, Event, Match, Observer, Playing, RoundResult, Seat, SeatSet, Setup, State};

/// The players of some seats of one match. It is told everything that happens, as `play_match` tells its agents.
pub(crate) struct Minds {
    /// A lock that nobody takes: agents may be handed from thread to thread, but not shared, and Python's objects are.
    players: Mutex<Vec<Option<Player>>>,
    seated: SeatSet,
    spectates: bool,
    /// The standing of the match, for the players.
    game: Option<Match>,
}

impl Minds {
    /// Nobody.
    pub(crate) fn none() -> Minds {
        Minds { players: Mutex::default(), seated: SeatSet::EMPTY, spectates: false, game: None }
    }

    /// New players for the seats with a spec.
    pub(crate) fn new<'s>(specs: impl IntoIterator<Item = Option<&'s AgentSpec>>) -> Minds {
        let players: Vec<Option<Player>> = specs.into_iter().map(|spec| spec.map(AgentSpec::player)).collect();
        let seated =
            Seat::ALL.into_iter().zip(&players).filter_map(|(seat, player)| player.as_ref().map(|_| seat)).collect();
        Minds { players: Mutex::new(players), seated, spectates: false, game: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seated.is_empty()
    }

    fn players(&mut self) -> &mut Vec<Option<Player>> {
        self.players.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a player sits here.
    pub(crate) fn has(&self, seat: Seat) -> bool {
        self.seated.contains(seat)
    }

    /// Begins a match and tells the players of its deal.
    pub(crate) fn begin(&mut self, playing: &mut Playing) {
        if self.is_empty() {
            return;
        }
        let (rules, seats, key) = (*playing.rules(), playing.seats(), playing.key());
        self.game = Match::new(&rules, seats, Match::first_starter(&rules, seats, key)).ok();
        let mut spectates = false;
        for (seat, player) in Seat::ALL.into_iter().zip(self.players()) {
            if let Some(player) = player {
                player.agent().begin(&playing.briefing(seat));
                spectates |= player.spectates();
            }
        }
        self.spectates = spectates;
        let standing = playing.standing();
        for player in self.players().iter_mut().flatten() {
            player.agent().round_begins(&standing);
        }
        playing.events().iter().for_each(|event| self.event(event));
    }

    /// What the player of the seat that is asked decides; `Err` with the reason if it cannot go on.
    pub(crate) fn decide(&mut self, playing: &Playing) -> Result<Option<Action>, String> {
        let Some(turn) = playing.turn() else { return Ok(None) };
        let Some(Some(player)) = self.players().get_mut(turn.seat.index()) else { return Ok(None) };
        let action = player.agent().decide(&turn.view);
        match player.agent().trouble() {
            None => Ok(Some(action)),
            Some(reason) => Err(reason),
        }
    }
}

impl Observer for Minds {
    fn round_begins(&mut self, _: &Setup, _: &[Card]) {
        let Minds { players, game: Some(game), .. } = self else { return };
        let standing = game.standing();
        for player in players.get_mut().unwrap_or_else(PoisonError::into_inner).iter_mut().flatten() {
            player.agent().round_begins(&standing);
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        for (seat, player) in Seat::ALL.into_iter().zip(self.players()) {
            if let Some(player) = player {
                player.agent().notice(&event.seen_from(seat));
            }
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, _: Action) {
        if !self.spectates {
            return;
        }
        for (own, player) in Seat::ALL.into_iter().zip(self.players()) {
            if let Some(player) = player.as_mut().filter(|player| own != seat && player.spectates()) {
                player.agent().spectate(state.table());
            }
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        let Minds { players, game: Some(game), .. } = self else { return };
        let players = players.get_mut().unwrap_or_else(PoisonError::into_inner);
        for player in players.iter_mut().flatten() {
            player.agent().round_ends(result);
        }
        game.add(result);
        if game.is_over() {
            for player in players.iter_mut().flatten() {
                player.agent().match_ends(game.totals());
            }
        }
    }
}

/// Tells a chronicle and some players what happens.
pub(crate) struct Hearing<'a> {
    pub(crate) chronicle: &'a mut Chronicle,
    pub(crate) minds: &'a mut Minds,
}

impl Observer for Hearing<'_> {
    fn round_begins(&mut self, setup: &Setup, deck: &[Card]) {
        self.minds.round_begins(setup, deck);
    }

    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        self.chronicle.notice(event);
        self.minds.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.minds.decides(state, seat, action);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.minds.round_ends(state, result);
    }
}
