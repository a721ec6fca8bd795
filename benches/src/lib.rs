//! Shared code of the benchmarks: random rounds and positions, through the public API.

use cambio_core::engine::{Dice, Setup, Sink};
use cambio_core::rng::{Bounded as _, Key, Purpose, Stream};
use cambio_core::view::RoundHistory;
use cambio_core::{Agent, Briefing, Card, Event, Observer as _, Players, Rules, Seat, State};

/// The source of the faces of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faces {
    /// A shuffled deck, as in real matches.
    Dealt,
    /// A pool: each face is drawn when a seat first sees it, as in searches.
    Latent,
}

/// Plays uniformly random rounds, each on a new deal.
#[derive(Debug)]
pub struct Play {
    setup: Setup,
    deck: Vec<Card>,
    faces: Faces,
    dice: Dice<Stream>,
}

impl Play {
    /// Rounds at a table of `seats` seats, with a fixed seed.
    pub fn new(rules: &Rules, seats: usize, faces: Faces) -> Play {
        let dice = Dice(Key::new(1, 0).stream(Purpose::Deck, 0));
        Play { setup: Setup::new(rules, seats), deck: rules.deck().to_vec(), faces, dice }
    }

    /// Deals a round.
    ///
    /// # Panics
    /// If the rules do not allow this number of seats.
    pub fn deal(&mut self, sink: &mut impl Sink) -> State {
        let state = match self.faces {
            Faces::Dealt => {
                self.dice.0.shuffle(&mut self.deck);
                State::deal(&self.setup, &self.deck, &mut self.dice, sink)
            }
            Faces::Latent => State::deal_latent(&self.setup, &mut self.dice, sink),
        };
        state.expect("the rules allow this number of seats")
    }

    /// Deals the next round into the memory of a finished one.
    #[inline]
    fn redeal(&mut self, state: &mut State, sink: &mut impl Sink) {
        match self.faces {
            Faces::Dealt => {
                self.dice.0.shuffle(&mut self.deck);
                state.redeal(&self.setup, &self.deck, &mut self.dice, sink).expect("the rules allow these seats");
            }
            Faces::Latent => *state = self.deal(sink),
        }
    }

    /// Makes one random decision.
    ///
    /// # Panics
    /// If the round is over.
    #[inline]
    pub fn decide(&mut self, state: &mut State, sink: &mut impl Sink) {
        let choices = state.choices();
        let number = self.dice.0.below(choices.len() as u32) as usize;
        let action = choices.nth(number).expect("the number is below the choices");
        state.apply(action, &mut self.dice, sink).expect("the decision is one of the choices");
    }

    /// Plays whole rounds with at least `least` decisions in total. Returns the number of decisions.
    pub fn rounds(&mut self, least: u64, sink: &mut impl Sink) -> u64 {
        let mut decisions = 0;
        let mut state = self.deal(sink);
        while decisions < least {
            while !state.is_over() {
                self.decide(&mut state, sink);
                decisions += 1;
            }
            self.redeal(&mut state, sink);
        }
        decisions
    }

    /// A state after this many decisions of a round that is not over.
    pub fn midgame(&mut self, decisions: usize, sink: &mut impl Sink) -> State {
        loop {
            let mut state = self.deal(sink);
            for _ in 0..decisions {
                if !state.is_over() {
                    self.decide(&mut state, sink);
                }
            }
            if !state.is_over() {
                return state;
            }
        }
    }
}

/// A sink that creates every seat's sighting of every event. It counts faces so that the compiler cannot remove the work.
#[derive(Clone, Copy, Default, Debug)]
pub struct Everyone {
    /// The number of seats.
    pub seats: usize,
    /// The number of faces of drawn cards that the seats have seen.
    pub faces: u64,
}

impl Sink for Everyone {
    #[inline]
    fn event(&mut self, event: &Event<Card>) {
        for seat in &Seat::ALL[..self.seats] {
            let sighting = std::hint::black_box(event.seen_from(*seat));
            if let Event::Drew { face: Some(_), .. } = sighting {
                self.faces += 1;
            }
        }
    }
}

/// 64 positions of random rounds for tensors, early to late, each with its seat to act and its history.
///
/// # Panics
/// If the rules do not allow this number of seats.
pub fn tensor_positions(rules: &Rules, seats: usize) -> Vec<(State, Seat, RoundHistory)> {
    let mut play = Play::new(rules, seats, Faces::Dealt);
    let position = |decisions: usize| {
        let mut history = RoundHistory::new(rules, seats);
        let state = play.midgame(decisions % 32, &mut history);
        let seat = state.actor().expect("the round is not over");
        (state, seat, history)
    };
    (0..64).map(position).collect()
}

/// A position in which a searching agent has a choice.
pub struct Position<A> {
    /// The agent, which has received all sightings of its seat.
    pub agent: A,
    /// The state, in which the agent's seat is to act.
    pub state: State,
}

/// Positions in which a seat has a choice, spread over rounds and seats. Agents that `player` returns play the rounds.
///
/// # Panics
/// If the rules do not allow this number of seats.
pub fn positions<A: Agent + Clone>(
    rules: &Rules,
    seats: usize,
    count: usize,
    player: &dyn Fn() -> Box<dyn Agent>,
    searcher: &A,
) -> Vec<Position<A>> {
    let mut found = Vec::new();
    let mut deal = 0;
    while found.len() < count {
        let key = Key::new(2, deal);
        deal += 1;
        let streams = Seat::ALL.map(|seat| key.agent(seat));
        let briefing = |seat: Seat| Briefing { rules, seats, seat, stream: &streams[seat.index()] };
        let mut seated = (Players::all((0..seats).map(|_| player())), Players::all(vec![searcher.clone(); seats]));
        for &seat in &Seat::ALL[..seats] {
            seated.0.brief(&briefing(seat)).expect("players can play under these rules");
            seated.1.brief(&briefing(seat)).expect("the searcher can play under these rules");
        }
        let mut deck = rules.deck().to_vec();
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(key.stream(Purpose::Race, 0));
        let setup = Setup::new(rules, seats);
        let mut state = State::deal(&setup, &deck, &mut dice, &mut |event: &Event<Card>| seated.event(event))
            .expect("the rules allow this number of seats");
        let mut asked = 0;
        while let Some(seat) = state.actor() {
            let is_window = state.table().phase() == cambio_core::Phase::Window;
            let choices = state.choices().len();
            // Takes every fifth decision with a choice. Windows are skipped, because a seat rarely knows a match there.
            if !is_window && choices > 1 {
                asked += 1;
                if asked % 5 == deal as usize % 5 && found.len() < count {
                    let agent = seated.1.agent(seat).expect("every seat has an agent").clone();
                    found.push(Position { agent, state: state.clone() });
                }
            }
            seated.1.asks(&state, seat);
            let asked = seated.0.ask(&state.observe(seat)).expect("every seat has an agent");
            let action = asked.expect("players can continue");
            state
                .apply(action, &mut dice, &mut |event: &Event<Card>| seated.event(event))
                .expect("players decide legally");
        }
    }
    found
}
