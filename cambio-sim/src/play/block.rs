//! Plays one deal block: a lineup on one deal in all its rotations.
//!
//! A match depends on its deal and on the agents in the seats. If a lineup contains an agent more than once, some rotations have
//! the same agents in the same seats. Such a match is played once, and its rows are repeated for each rotation. `cambio verify`
//! plays every rotation.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use cambio_agents::{Luck, is_interrupted, panic_message};
use cambio_core::engine::RaceOrder;
use cambio_core::play::{Failure, MatchError, RoundResult, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{
    Action, Agent, AgentError, Card, Deal, Event, Match, MatchResult, Observer, Playing, Record, Recorder, Referee,
    Seat, Standing, State,
};
use itertools::Itertools;

use super::fault::{AgentFault, fault};
use super::rows::{BlockRows, MatchEnding, write_rows};
use super::tally::MatchTally;
use super::timing::{SeatedAgent, TimeSpent, Timing};
use crate::plan::{Baseline, Block, Cell, FaultPolicy, Plan, PlayablePlan};

/// Plays a block.
///
/// # Errors
/// If an agent is at fault (illegal decision, failure or panic) and the plan's fault policy is [`FaultPolicy::Stop`]; or if an
/// agent fails for a reason that is not its fault.
///
/// # Determinism
/// The rows depend only on the plan and the block.
pub fn play_block<'p>(plan: &'p PlayablePlan, block: &Block<'p>) -> Result<BlockRows<'p>, Box<AgentFault>> {
    let mut rows = BlockRows::default();
    BlockPlayer::new(plan).play(block, &mut rows)?;
    Ok(rows)
}

/// The observers of a match: the counters, the recorder if the plan keeps records, the luck if the plan measures it, and the
/// observers of analysis agents.
struct MatchObservers {
    tally: MatchTally,
    recorder: Option<Recorder>,
    luck: Option<Luck>,
    watchers: Vec<Box<dyn Observer + Send>>,
}

impl MatchObservers {
    /// Observers for matches in a cell, without a recorder.
    fn new(plan: &Plan, cell: &Cell) -> MatchObservers {
        // After a forfeit, unfinished rounds must be removed from the counters.
        let tally = MatchTally::new(&cell.rules, plan.faults == FaultPolicy::Forfeit);
        let model = cell.baseline.as_ref().and_then(Baseline::model);
        let luck = model.map(|model| Luck::over(Arc::clone(model), &cell.rules, cell.seats));
        MatchObservers { tally, recorder: None, luck, watchers: Vec::new() }
    }

    /// Calls all observers except the counters. Plans without records and analysis agents have no other observers.
    #[inline]
    fn each(&mut self, mut call: impl FnMut(&mut dyn Observer)) {
        if let Some(recorder) = &mut self.recorder {
            call(recorder);
        }
        if let Some(luck) = &mut self.luck {
            call(luck);
        }
        self.watchers.iter_mut().for_each(|watcher| call(watcher));
    }
}

impl Observer for MatchObservers {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        self.tally.round_begins(standing, deck);
        self.each(|observer| observer.round_begins(standing, deck));
    }

    #[expect(clippy::inline_always, reason = "callers construct a known variant, so inlining removes the match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.tally.event(event);
        self.each(|observer| observer.event(event));
    }

    #[inline]
    fn asks(&mut self, state: &State, seat: Seat) {
        self.each(|observer| observer.asks(state, seat));
    }

    #[inline]
    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        self.tally.decides(state, seat, action);
        self.each(|observer| observer.decides(state, seat, action));
    }

    fn race(&mut self, order: &RaceOrder) {
        self.tally.race(order);
        self.each(|observer| observer.race(order));
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        self.tally.reshuffle(stock);
        self.each(|observer| observer.reshuffle(stock));
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.tally.round_ends(state, result);
        self.each(|observer| observer.round_ends(state, result));
    }

    fn match_ends(&mut self, game: &Match) {
        self.each(|observer| observer.match_ends(game));
    }
}

/// The maximum number of idle instances of one agent. A plan with a single lineup needs one instance per rotation.
/// There is a limit because each instance of an external bot is a process.
const MOST_WAITING: usize = 16;

/// The agent pool: instances that wait for their next match. An instance never plays a deal twice, not even in another seat or
/// lineup, because it could remember the cards. If all idle instances have played the deal, a new one is created.
struct AgentPool {
    /// The idle instances, by the agent's number in the plan; the longest-waiting instance first.
    waiting: Vec<VecDeque<PooledAgent>>,
    /// The cell in which the idle instances have played. Deals of different cells may have the same cards.
    cell: usize,
}

struct PooledAgent {
    /// The last deal that the instance has played. An instance plays deals in ascending order.
    deal: u64,
    agent: SeatedAgent,
}

impl AgentPool {
    fn new(plan: &PlayablePlan) -> AgentPool {
        AgentPool { waiting: plan.agents.iter().map(|_| VecDeque::new()).collect(), cell: 0 }
    }

    /// An instance that has not played the block's deal; `None` if the caller must create one.
    fn take(&mut self, agent: usize, block: &Block<'_>) -> Option<SeatedAgent> {
        if self.cell != block.cell_index {
            self.cell = block.cell_index;
            self.waiting.iter_mut().for_each(VecDeque::clear);
        }
        let waiting = &mut self.waiting[agent];
        // The longest-waiting instance has the lowest deal number.
        let is_fresh = waiting.front().is_some_and(|first| first.deal < block.deal);
        if is_fresh {
            return waiting.pop_front().map(|first| first.agent);
        }
        if waiting.len() >= MOST_WAITING {
            waiting.pop_front();
        }
        None
    }

    /// Returns an instance that has played the block's deal.
    fn put(&mut self, agent: usize, seated: SeatedAgent, block: &Block<'_>) {
        self.waiting[agent].push_back(PooledAgent { deal: block.deal, agent: seated });
    }
}

/// Plays blocks one after another, reusing agents and memory.
pub(crate) struct BlockPlayer<'p> {
    plan: &'p PlayablePlan,
    /// Whether to play even the matches whose rows could be copied from another rotation.
    plays_twins: bool,
    /// Whether to time the agents in the next blocks.
    pub(crate) is_timed: bool,
    /// The times of the agents in all timed blocks.
    pub(crate) timing: Timing,
    /// The referee of the last match, for reuse; `None` before the first match and after a panic.
    referee: Option<Referee<SeatedAgent, MatchObservers>>,
    pool: AgentPool,
}

impl<'p> BlockPlayer<'p> {
    pub(crate) fn new(plan: &'p PlayablePlan) -> BlockPlayer<'p> {
        BlockPlayer {
            plan,
            plays_twins: false,
            is_timed: false,
            timing: Timing::default(),
            referee: None,
            pool: AgentPool::new(plan),
        }
    }

    pub(crate) fn plan(&self) -> &'p Plan {
        self.plan.plan()
    }

    /// A block player that plays every rotation, even if the rows could be copied from another rotation.
    pub(crate) fn playing_all(plan: &'p PlayablePlan) -> BlockPlayer<'p> {
        BlockPlayer { plays_twins: true, ..BlockPlayer::new(plan) }
    }

    /// Plays a block and replaces the contents of `rows` with its rows. Returns the errors of [`play_block`].
    pub(crate) fn play(&mut self, block: &Block<'p>, rows: &mut BlockRows<'p>) -> Result<(), Box<AgentFault>> {
        let plan = self.plan;
        rows.clear();
        rows.faults.clear();
        let knows_twins = !self.plays_twins && plan.is_repeatable(block.lineup);
        let (mut is_sound, mut matches) = (true, 0);
        for rotation in 0..block.cell.seatings.len() {
            if knows_twins
                && is_sound
                && let Some(twin) = block.twin(rotation)
            {
                rows.repeat(twin, rotation);
                continue;
            }
            let played = self.play_rotation(block, rotation, rows);
            matches += u64::from(played.is_ok());
            if let Err(fault) = played {
                is_sound = false;
                if fault.halt.is_some() {
                    return Err(fault);
                }
                match plan.faults {
                    FaultPolicy::Stop => return Err(fault),
                    FaultPolicy::Forfeit => rows.faults.push(*fault),
                    FaultPolicy::Void => {
                        rows.clear();
                        rows.faults.push(*fault);
                        break;
                    }
                }
            }
        }
        if self.is_timed {
            let spent = TimeSpent { blocks: 1, matches, ..TimeSpent::default() };
            for &agent in block.lineup.agents().iter().sorted().dedup() {
                self.timing.add(block.cell_index, Some(agent), &spent);
            }
        }
        Ok(())
    }

    /// Prepares the referee and seats the agents of a rotation.
    fn seat<'a>(
        plan: &PlayablePlan,
        referee: &'a mut Option<Referee<SeatedAgent, MatchObservers>>,
        pool: &mut AgentPool,
        block: &Block<'p>,
        rotation: usize,
    ) -> &'a mut Referee<SeatedAgent, MatchObservers> {
        let (rules, seats) = (&block.cell.rules, block.cell.seats);
        if referee.as_ref().is_none_or(|old| old.playing().rules() != rules || old.playing().seats() != seats) {
            let observers = MatchObservers::new(plan, block.cell);
            let empty: Vec<Option<SeatedAgent>> = (0..seats).map(|_| None).collect();
            let new = Referee::new(Deal::new(rules, plan.key(block.deal)), empty.into(), observers);
            *referee = Some(new.expect("a plan has validated rules and seats"));
        }
        let referee = referee.as_mut().expect("created above if missing");
        let MatchObservers { tally, recorder, luck, watchers } = referee.observer_mut();
        tally.clear(rules);
        luck.iter_mut().for_each(Luck::clear);
        *recorder = plan.records.then(|| Recorder::new(rules));
        watchers.clear();
        for seat in 0..seats {
            let agent = block.agent(seat, rotation);
            let seated = pool.take(agent, block).unwrap_or_else(|| {
                let new = plan.specs()[agent].make();
                referee.observer_mut().watchers.extend(new.observer());
                SeatedAgent::new(new)
            });
            referee.players_mut().agents_mut()[seat] = Some(seated);
        }
        referee
    }

    fn play_rotation(
        &mut self,
        block: &Block<'p>,
        rotation: usize,
        rows: &mut BlockRows<'p>,
    ) -> Result<(), Box<AgentFault>> {
        let BlockPlayer { plan, is_timed, timing, referee, pool, .. } = self;
        let referee = BlockPlayer::seat(plan, referee, pool, block, rotation);
        let agents = referee.players_mut().agents_mut();
        agents.iter_mut().flatten().filter(|_| *is_timed).for_each(|seated| seated.start(plan.uses_cpu_time()));
        let outcome = catch_unwind(AssertUnwindSafe(|| play_out(referee, plan.key(block.deal))));
        let is_broken = outcome.is_err();
        let outcome = outcome.unwrap_or_else(|panic| {
            // If no agent panicked, the panic is a bug in this library.
            let failure = referee.players().panicked(panic_message(&*panic));
            Err(failure.unwrap_or_else(|| resume_unwind(panic)).into())
        });
        let labels = plan.seated(block, rotation);
        match outcome {
            Ok(result) => {
                let mut lapses = [None; MAX_SEATS];
                for (lapses, agent) in lapses.iter_mut().zip(referee.players().agents().iter().flatten()) {
                    *lapses = agent.lapses();
                }
                let MatchObservers { tally, recorder, luck, watchers } = referee.observer_mut();
                let record =
                    recorder.take().map(|recorder| recorder.finish(plan.key(block.deal), rotation, &labels, &result));
                rows.records.extend(record);
                let measured = (&*tally, luck.as_ref());
                write_rows(plan, block, rotation, measured, &MatchEnding::Played(&result, &lapses), rows);
                // An observer belongs to one instance of an analysis agent, so such instances are not reused.
                let is_reused = watchers.is_empty();
                for (seat, agent) in referee.players_mut().agents_mut().iter_mut().enumerate() {
                    let (number, mut seated) =
                        (block.agent(seat, rotation), agent.take().expect("every seat has an agent"));
                    if let Some(spent) = seated.stop() {
                        timing.add(block.cell_index, Some(number), &spent);
                    }
                    if is_reused {
                        pool.put(number, seated, block);
                    }
                }
                Ok(())
            }
            Err(error) => {
                let fault = fault(plan, block, rotation, &labels, referee.playing().actions(), &error);
                if plan.faults == FaultPolicy::Forfeit {
                    let MatchObservers { tally, luck, .. } = referee.observer_mut();
                    tally.forget_round();
                    let measured = (&*tally, luck.as_ref());
                    write_rows(plan, block, rotation, measured, &MatchEnding::Forfeit(fault.seat), rows);
                }
                if is_broken {
                    self.referee = None;
                }
                Err(fault)
            }
        }
    }
}

/// The rows of a match, from its record without its agents; `None` if the text is not the record of this match. The lapses
/// are not in the record.
pub(crate) fn rows_of_record<'p>(
    plan: &'p Plan,
    (block, rotation): (&Block<'p>, usize),
    text: &str,
    lapses: &[Option<u32>; MAX_SEATS],
) -> Option<BlockRows<'p>> {
    let rules = &block.cell.rules;
    let mut observers = MatchObservers::new(plan, block.cell);
    observers.recorder = Some(Recorder::new(rules));
    let mut playing =
        Playing::observed(Deal::new(rules, plan.key(block.deal)), block.cell.seats, &mut observers).ok()?;
    for decision in Record::read(text).ok()?.rounds.iter().flat_map(|round| &round.decisions) {
        playing.act_observed(decision.split_once(' ')?.1.parse().ok()?, &mut observers).ok()?;
    }
    let result = playing.result()?;
    let recorder = observers.recorder.take()?;
    let record = recorder.finish(plan.key(block.deal), rotation, &plan.seated(block, rotation), &result);
    let mut rows = BlockRows::default();
    let measured = (&observers.tally, observers.luck.as_ref());
    write_rows(plan, block, rotation, measured, &MatchEnding::Played(&result, lapses), &mut rows);
    (record.to_json() == text).then_some(rows)
}

/// Plays the match that `key` determines, with the seated agents.
fn play_out<W: Observer>(referee: &mut Referee<SeatedAgent, W>, key: Key) -> Result<MatchResult, MatchError> {
    referee.restart(key)?;
    while let StepResult::Decided(seat, _) = referee.step()? {
        if is_interrupted() {
            let (round, decision) = (referee.playing().rounds() + 1, referee.playing().decisions_in_round());
            return Err(Failure { seat, round, decision, error: AgentError::Interrupted }.into());
        }
    }
    Ok(referee.playing().result().expect("an agent sits in every seat"))
}

#[cfg(test)]
mod tests;
