//! The matches of a batch.

use cambio_agents::AgentSpec;
use cambio_core::engine::IllegalAction;
use cambio_core::play::MatchError;
use cambio_core::rng::Key;
use cambio_core::view::RoundHistory;
use cambio_core::{Action, Agent, Choices, Playing, Seat, View as _};

use super::BatchSettings;
use super::arrays::{MatchRow, MatchRows};
use super::threads::Threads;
use crate::episode::{Episode, LibraryAgent, NoAgent};

/// The matches of a batch. Matches without opponents have a separate type, which spends no time on agents.
pub(super) enum VectorMatches {
    Alone(Vec<VectorMatch<NoAgent>>),
    Against(Vec<VectorMatch<LibraryAgent>>),
}

/// The work that one call does on every match.
#[derive(Clone, Copy)]
pub(super) enum BatchCall {
    /// Write the rows only.
    Show,
    /// Restart with the first deal.
    Reset,
    /// Carry out the chosen decision.
    Step,
}

impl VectorMatches {
    /// Creates the matches of these deals, after these decisions of the caller. Opponents play only if `is_begun`.
    pub(super) fn new(
        common: &BatchSettings,
        matches: Vec<(u64, Vec<Action>)>,
        is_begun: bool,
    ) -> Result<VectorMatches, IllegalAction> {
        Ok(if common.opponents.is_empty() {
            VectorMatches::Alone(slots(common, matches, is_begun, |_| None)?)
        } else {
            VectorMatches::Against(slots(common, matches, is_begun, |spec| Some(LibraryAgent::new(spec)))?)
        })
    }

    /// Applies `work` to every match and its rows. Returns the first match with a fault of an opponent, and the fault.
    pub(super) fn work(
        &mut self,
        work: BatchCall,
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

    /// The deal and the caller's decisions of each match.
    pub(super) fn own(&self) -> impl Iterator<Item = (u64, &[Action])> {
        let own = match self {
            VectorMatches::Alone(slots) => {
                slots.iter().map(|slot| slot.episode.playing().actions()).collect::<Vec<_>>()
            }
            VectorMatches::Against(slots) => slots.iter().map(|slot| &slot.own[..]).collect(),
        };
        self.matches().into_iter().map(|playing| playing.key().deal).zip(own)
    }
}

fn slots<A: Agent>(
    common: &BatchSettings,
    matches: Vec<(u64, Vec<Action>)>,
    is_begun: bool,
    sit: fn(&AgentSpec) -> Option<A>,
) -> Result<Vec<VectorMatch<A>>, IllegalAction> {
    let slot = |(deal, own): (u64, Vec<Action>)| {
        let (rules, seats, key) = (&common.rules, common.seats, Key { deal, ..common.key });
        let episode = Episode::new(rules, seats, key, common.reward, RoundHistory::new(rules, seats));
        let mut slot = VectorMatch { episode, own: Vec::new(), sit };
        if is_begun {
            slot.restart(common, deal);
        }
        own.into_iter().try_for_each(|action| slot.act(common, action))?;
        Ok(slot)
    };
    matches.into_iter().map(slot).collect()
}

/// One match of a batch, with its opponents.
pub(super) struct VectorMatch<A> {
    episode: Episode<A, RoundHistory>,
    /// The caller's decisions in this match; stored only if there are opponents.
    own: Vec<Action>,
    /// Creates an opponent.
    sit: fn(&AgentSpec) -> Option<A>,
}

impl<A: Agent> VectorMatch<A> {
    #[inline]
    fn work(&mut self, work: BatchCall, common: &BatchSettings, number: usize, mut row: MatchRow<'_>) {
        match work {
            BatchCall::Show => {}
            BatchCall::Reset => {
                self.restart(common, common.key.deal.wrapping_add(number as u64));
                row.clear();
            }
            BatchCall::Step => self.step(common, &mut row),
        }
        self.show(common, &mut row);
    }

    /// Starts another deal: creates the opponents and lets them play up to the caller's first decision.
    fn restart(&mut self, common: &BatchSettings, deal: u64) {
        self.own.clear();
        if !common.opponents.is_empty() {
            let turned = if common.rotates { deal % common.seats as u64 } else { 0 } as usize;
            for (seat, agent) in self.episode.agents_mut().iter_mut().enumerate() {
                let entry = (seat + common.seats - turned) % common.seats;
                *agent = common.opponents[entry].as_ref().and_then(self.sit);
            }
        }
        self.episode.restart(Key { deal, ..common.key });
    }

    /// Carries out a decision of the caller, and all events up to the caller's next decision.
    #[inline]
    fn act(&mut self, common: &BatchSettings, action: Action) -> Result<(), IllegalAction> {
        if !common.opponents.is_empty() {
            self.own.push(action);
        }
        self.episode.act(action)
    }

    /// Carries out the chosen decision and writes its results. When the match ends, the next deal starts. Deals in which the
    /// caller never decides are skipped.
    #[inline]
    fn step(&mut self, common: &BatchSettings, row: &mut MatchRow<'_>) {
        self.act(common, row.ask.next).expect("the decision was checked when it was chosen");
        for (reward, gained) in row.rewards.iter_mut().zip(self.episode.rewards()) {
            *reward = gained as f32;
        }
        let is_over = self.episode.playing().is_over();
        *row.done = is_over.into();
        if is_over {
            if common.finals {
                let (state, history) = (self.episode.playing().state(), self.episode.observer());
                for (seat, row) in Seat::ALL.into_iter().zip(row.finals.chunks_exact_mut(common.tensors.len())) {
                    common.tensors.write(&state.view(seat), history, row);
                }
            }
            while self.episode.playing().is_over() && self.episode.fault.is_none() {
                self.restart(common, self.episode.playing().key().deal.wrapping_add(common.batch as u64));
            }
        }
    }

    /// Writes the tensor, the mask and the number of the seat to act.
    #[inline]
    fn show(&self, common: &BatchSettings, row: &mut MatchRow<'_>) {
        let Some(seat) = self.episode.actor() else {
            row.ask.legal = Choices::NONE;
            return;
        };
        let view = self.episode.playing().state().view(seat);
        let legal = view.choices();
        *row.seat = seat.index() as i64;
        row.mask.fill(0);
        common.space.each(&legal, seat, |index| row.mask[index] = 1);
        row.ask.legal = legal;
        common.tensors.write(&view, self.episode.observer(), row.observation);
    }
}
