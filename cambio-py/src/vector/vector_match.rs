//! The matches of a batch, and the threads that step them.

use std::process;
use std::sync::{Mutex, PoisonError};

use cambio_agents::AgentSpec;
use cambio_core::engine::IllegalAction;
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::view::RoundHistory;
use cambio_core::{Action, Agent, Choices, Playing, Seat, View as _};
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::BatchSettings;
use super::arrays::{Extras, MatchRow, MatchRows};
use crate::episode::{Episode, LibraryAgent, NoAgent, SeatKeys, library_agent};
use crate::error;

/// The matches of a batch. Matches without opponents have a separate type, which spends no time on agents.
pub(super) enum VectorMatches {
    Alone(Vec<VectorMatch<NoAgent>>),
    Against(Vec<VectorMatch<LibraryAgent>>),
}

/// The work that one call does on every match.
#[derive(Clone, Copy)]
pub(super) enum BatchCall<'a> {
    /// Start new matches; there is an entry for each match of the batch.
    Start(&'a [MatchStart]),
    /// Carry out the chosen decisions; there is an index for each match of the batch.
    Step(&'a [i64]),
}

/// How a match starts again.
#[derive(Clone)]
pub(super) enum MatchStart {
    /// It does not.
    None,
    /// With its first deal.
    First,
    /// With its next deal.
    Next,
    /// After these decisions in the match of a key.
    After(Key, Vec<Action>),
}

impl VectorMatches {
    /// Creates the matches of a batch, before their first deals.
    pub(super) fn new(common: &BatchSettings) -> VectorMatches {
        if common.opponents.is_empty() {
            VectorMatches::Alone(slots(common, |_| None))
        } else {
            VectorMatches::Against(slots(common, |spec| Some(library_agent(spec))))
        }
    }

    /// Applies `work` to every match and its rows. Returns the first match with a fault of an opponent, and the fault.
    pub(super) fn work(
        &mut self,
        work: BatchCall<'_>,
        common: &BatchSettings,
        threads: &Threads,
        rows: MatchRows<'_>,
    ) -> Option<(usize, MatchError)> {
        match self {
            VectorMatches::Alone(slots) => {
                threads.each(slots, rows, |slot, number, row| slot.work(work, common, number, row));
                None
            }
            VectorMatches::Against(slots) => {
                threads.each(slots, rows, |slot, number, row| slot.work(work, common, number, row));
                let mut first = None;
                for (number, slot) in slots.iter_mut().enumerate() {
                    if let Some(fault) = slot.episode.fault.take() {
                        first.get_or_insert((number, fault));
                    }
                }
                first
            }
        }
    }

    pub(super) fn matches(&self) -> Vec<&Playing> {
        match self {
            VectorMatches::Alone(slots) => slots.iter().map(|slot| slot.episode.playing()).collect(),
            VectorMatches::Against(slots) => slots.iter().map(|slot| slot.episode.playing()).collect(),
        }
    }
}

fn slots<A: Agent>(common: &BatchSettings, sit: fn(&AgentSpec) -> Option<A>) -> Vec<VectorMatch<A>> {
    let slot = |number: u64| {
        let (rules, seats) = (&common.rules, common.seats);
        let observer = (RoundHistory::new(rules, seats), SeatKeys::when(common.extras.keys, seats));
        let key = Key { deal: common.key.deal.wrapping_add(number), ..common.key };
        VectorMatch { episode: Episode::new(rules, seats, key, common.reward, observer), next: key.deal, sit }
    };
    (0..common.batch as u64).map(slot).collect()
}

/// One match of a batch, with its opponents.
pub(super) struct VectorMatch<A> {
    episode: Episode<A, (RoundHistory, SeatKeys)>,
    /// The deal that follows the current one.
    next: u64,
    /// Creates an opponent.
    sit: fn(&AgentSpec) -> Option<A>,
}

/// The invariant that a step checks all decisions first.
const CHECKED: &str = "the decision was checked before the step";

/// The invariant that a `Game` has a legal history.
const LEGAL: &str = "the decisions of a game are legal";

impl<A: Agent> VectorMatch<A> {
    #[inline]
    fn work(&mut self, work: BatchCall<'_>, common: &BatchSettings, number: usize, mut row: MatchRow<'_>) {
        match work {
            BatchCall::Step(chosen) => self.step(common, chosen[number], &mut row),
            BatchCall::Start(starts) => {
                match &starts[number] {
                    MatchStart::None => return,
                    MatchStart::First => {
                        self.next = common.key.deal.wrapping_add(number as u64);
                        self.start_next(common);
                    }
                    MatchStart::Next => self.start_next(common),
                    MatchStart::After(key, given) => {
                        self.restart(common, *key, given).expect(LEGAL);
                        if self.is_stopped() {
                            self.start_next(common);
                        }
                    }
                }
                row.clear();
            }
        }
        self.show(common, &mut row);
    }

    /// Whether the match is over, without a fault of an opponent.
    fn is_stopped(&self) -> bool {
        self.episode.playing().is_over() && self.episode.fault.is_none()
    }

    /// Starts the next deal in which the caller decides.
    #[inline(never)]
    fn start_next(&mut self, common: &BatchSettings) {
        loop {
            let key = Key { deal: self.next, ..common.key };
            self.next = self.next.wrapping_add(common.batch as u64);
            self.restart(common, key, &[]).expect("no decision is given that could be illegal");
            if !self.is_stopped() {
                return;
            }
        }
    }

    /// Starts another match: creates the opponents, carries out the given decisions, and lets the opponents play up to the caller's
    /// next decision.
    fn restart(&mut self, common: &BatchSettings, key: Key, given: &[Action]) -> Result<(), IllegalAction> {
        if !common.opponents.is_empty() {
            let turned = if common.rotates { key.deal % common.seats as u64 } else { 0 } as usize;
            for (seat, agent) in self.episode.agents_mut().iter_mut().enumerate() {
                let entry = (seat + common.seats - turned) % common.seats;
                *agent = common.opponents[entry].as_ref().and_then(self.sit);
            }
        }
        self.episode.restart_after(key, given)
    }

    /// Carries out the chosen decision and writes its results. When the match ends, the next deal starts, unless the caller
    /// starts it. Deals in which the caller never decides are skipped.
    #[inline]
    fn step(&mut self, common: &BatchSettings, chosen: i64, row: &mut MatchRow<'_>) {
        if row.choices.is_empty() {
            row.rewards.fill(0.0);
            return;
        }
        let action = common.space.from_index(chosen as usize, row.choices.seat());
        self.episode.act(action.expect(CHECKED)).expect(CHECKED);
        let is_over = self.episode.playing().is_over();
        if self.episode.has_rewards() {
            for (reward, gained) in row.rewards.iter_mut().zip(self.episode.rewards()) {
                *reward = gained as f32;
            }
        } else {
            row.rewards.fill(0.0);
        }
        row.done[0] = is_over.into();
        if is_over {
            if common.extras.finals {
                self.write_all(common, row.final_observations);
            }
            if common.autoreset && self.is_stopped() {
                self.start_next(common);
            }
        }
    }

    /// Writes the tensor of every seat.
    fn write_all(&self, common: &BatchSettings, rows: &mut [u8]) {
        let (state, (history, _)) = (self.episode.playing().state(), self.episode.observer());
        for (seat, row) in Seat::ALL.into_iter().zip(rows.chunks_exact_mut(common.tensors.len())) {
            common.tensors.write(&state.view(seat), history, row);
        }
    }

    /// Writes the tensor, the mask and the number of the seat to act, and the optional arrays.
    #[inline]
    fn show(&self, common: &BatchSettings, row: &mut MatchRow<'_>) {
        row.masks.fill(0);
        if common.extras != Extras::default() {
            self.show_extras(common, row);
        }
        let Some(seat) = self.episode.actor() else {
            *row.choices = Choices::NONE;
            row.legal.fill(0);
            row.seat[0] = -1;
            row.observations.fill(0);
            return;
        };
        let view = self.episode.playing().state().view(seat);
        let choices = view.choices();
        row.seat[0] = seat.index() as i64;
        common.space.each(&choices, seat, |index| row.masks[index] = 1);
        row.legal.copy_from_slice(row.masks);
        *row.choices = choices;
        common.tensors.write(&view, &self.episode.observer().0, row.observations);
    }

    /// Writes the optional arrays, except the final observations.
    #[inline(never)]
    fn show_extras(&self, common: &BatchSettings, row: &mut MatchRow<'_>) {
        if common.extras.all_seats {
            self.write_all(common, row.all_observations);
        }
        row.keys.fill(0);
        row.true_cards.fill(-1);
        let Some(seat) = self.episode.actor() else { return };
        if let Some(key) = self.episode.observer().1.of(seat) {
            row.keys.copy_from_slice(&[(key.bits() >> 64) as u64, key.bits() as u64]);
        }
        if common.extras.true_cards {
            self.write_cards(common, seat, row.true_cards);
        }
    }

    /// Writes the class of the card in each spot, seats relative to `seat`.
    fn write_cards(&self, common: &BatchSettings, seat: Seat, row: &mut [i8]) {
        let (state, slots) = (self.episode.playing().state(), common.rules.slots());
        for spot in state.table().occupied().iter_from(seat) {
            let place = spot.seat().distance_from(seat, common.seats) * slots + spot.number() - 1;
            row[place] = state.face(spot).map_or(-1, |card| common.rules.class(card) as i8);
        }
    }
}

/// The number of parts into which each thread's share of a batch is split.
const PARTS: usize = 16;

/// The calling thread and its helper threads.
pub(super) struct Threads {
    count: usize,
    /// `None` for one thread.
    helpers: Option<ThreadPool>,
    /// The process that started the helpers. A forked process does not have them.
    process: u32,
}

impl Threads {
    pub(super) fn new(count: usize) -> PyResult<Threads> {
        let helpers = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count - 1).build()).transpose();
        let helpers =
            helpers.map_err(|what| error::CambioError::new_err(format!("cannot start {count} threads: {what}")))?;
        Ok(Threads { count, helpers, process: process::id() })
    }

    /// Calls `work` for every slot, with its number and its rows.
    ///
    /// Each thread has a share of neighbouring matches, the same in every call, so that they stay in its cache. It processes
    /// its share part by part, then steals parts of other shares, so that no slow thread delays the step. With rayon's own
    /// distribution (`par_iter_mut` over chunks), matches move between threads, and the caller sleeps: on two threads, a step
    /// takes 13 % longer with 64 matches, 2 % with 1,024, and with opponents 4 % (`greedy`, 256 matches) and 6 %
    /// (`rollout(n=20)`, 32 matches), measured in processes that took turns on 25 November 2026.
    pub(super) fn each<S: Send>(
        &self,
        slots: &mut [S],
        rows: MatchRows<'_>,
        work: impl Fn(&mut S, usize, MatchRow<'_>) + Sync,
    ) {
        let share = slots.len().div_ceil(self.count);
        let size = if self.count == 1 { share } else { share.div_ceil(PARTS) };
        let shares = slots.chunks_mut(share).zip(rows.chunks(share)).enumerate();
        let shares = shares.map(|(number, (slots, rows))| {
            let first = (number * share..).step_by(size);
            Mutex::new(first.zip(slots.chunks_mut(size).zip(rows.chunks(size))))
        });
        let shares = shares.collect::<Vec<_>>();
        let take_shares = |thread: usize| {
            let (before, after) = shares.split_at(thread.min(shares.len()));
            for share in after.iter().chain(before) {
                let next_part = || share.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((first, (slots, rows))) = next_part() {
                    for (number, (slot, row)) in (first..).zip(slots.iter_mut().zip(rows.each())) {
                        work(slot, number, row);
                    }
                }
            }
        };
        match self.helpers.as_ref().filter(|_| process::id() == self.process) {
            None => take_shares(0),
            Some(helpers) => helpers.in_place_scope(|scope| {
                scope.spawn_broadcast(|_, context| take_shares(context.index() + 1));
                take_shares(0);
            }),
        }
    }
}
