//! Plays one deal block: a lineup on one deal in all its rotations.
//!
//! A match depends on its deal and on the agents in the seats. If a lineup contains an agent more than once, some rotations have
//! the same agents in the same seats. Such a match is played once, and its rows are repeated for each rotation. `cambio verify`
//! plays every rotation.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cambio_agents::{is_interrupted, panic_message};
use cambio_core::engine::RaceOrder;
use cambio_core::play::{Failure, MatchError, RoundResult, StepResult};
use cambio_core::rng::Key;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{
    Action, Agent, AgentError, Card, Deal, Event, Match, MatchResult, Observer, Recorder, Referee, Seat, Standing,
    State,
};

use super::fault::{AgentFault, fault};
use super::rows::{BlockRows, MatchEnding, write_rows};
use super::tally::MatchTally;
use crate::plan::{Block, FaultPolicy, Plan, PlayablePlan};

/// Plays a block.
///
/// # Errors
/// If an agent is at fault (illegal decision, failure or panic) and the plan's fault policy is [`FaultPolicy::Stop`]; or if an
/// agent fails without fault.
///
/// # Determinism
/// The rows depend only on the plan and the block.
pub fn play_block<'p>(plan: &'p PlayablePlan, block: &Block<'p>) -> Result<BlockRows<'p>, Box<AgentFault>> {
    let mut rows = BlockRows::default();
    BlockPlayer::new(plan).play(block, &mut rows)?;
    Ok(rows)
}

/// The observers of a match: the counters, the recorder if the plan keeps records, and the observers of analysis agents.
struct MatchObservers {
    tally: MatchTally,
    recorder: Option<Recorder>,
    watchers: Vec<Box<dyn Observer + Send>>,
}

impl MatchObservers {
    /// Calls all observers except the counters. Plans without records and analysis agents have none.
    #[inline]
    fn each(&mut self, mut call: impl FnMut(&mut dyn Observer)) {
        if let Some(recorder) = &mut self.recorder {
            call(recorder);
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

/// The maximum number of idle instances of one agent. A plan with a single lineup needs one instance per rotation; the limit
/// matters because an external bot is a process.
const MOST_WAITING: usize = 16;

/// The agent pool: instances that wait for their next match. An instance never plays a deal twice, not even in another seat or
/// lineup, because it could remember the cards. If all idle instances have played the deal, a new one is created.
struct AgentPool {
    /// By the agent's number in the plan; the longest-waiting instance first.
    waiting: Vec<VecDeque<PooledAgent>>,
    /// The cell of the deals played so far. Deals of different cells may have the same cards.
    cell: usize,
}

/// An idle instance of an agent.
struct PooledAgent {
    /// Its last deal. An instance plays deals in ascending order.
    deal: u64,
    agent: Box<dyn Agent>,
}

impl AgentPool {
    fn new(plan: &PlayablePlan) -> AgentPool {
        AgentPool { waiting: plan.agents.iter().map(|_| VecDeque::new()).collect(), cell: 0 }
    }

    /// An instance that has not played the block's deal; `None` if the caller must create one.
    fn take(&mut self, agent: usize, block: &Block<'_>) -> Option<Box<dyn Agent>> {
        if self.cell != block.cell_index {
            self.cell = block.cell_index;
            self.waiting.iter_mut().for_each(VecDeque::clear);
        }
        let waiting = &mut self.waiting[agent];
        // The longest-waiting instance has the lowest deal.
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
    fn put(&mut self, agent: usize, seated: Box<dyn Agent>, block: &Block<'_>) {
        self.waiting[agent].push_back(PooledAgent { deal: block.deal, agent: seated });
    }
}

/// Plays blocks one after another, reusing agents and memory.
pub(crate) struct BlockPlayer<'p> {
    plan: &'p PlayablePlan,
    /// Whether to play matches whose rows could be repeated from another rotation.
    plays_twins: bool,
    /// The referee of the last match, for reuse; `None` before the first match and after a panic.
    referee: Option<Referee<Box<dyn Agent>, MatchObservers>>,
    pool: AgentPool,
}

impl<'p> BlockPlayer<'p> {
    pub(crate) fn new(plan: &'p PlayablePlan) -> BlockPlayer<'p> {
        BlockPlayer { plan, plays_twins: false, referee: None, pool: AgentPool::new(plan) }
    }

    pub(crate) fn plan(&self) -> &'p Plan {
        self.plan.plan()
    }

    /// A block player that plays every rotation, even if its rows could be repeated from another rotation.
    pub(crate) fn playing_all(plan: &'p PlayablePlan) -> BlockPlayer<'p> {
        BlockPlayer { plays_twins: true, ..BlockPlayer::new(plan) }
    }

    /// Plays a block and replaces the contents of `rows` with its rows. Returns the errors of [`play_block`].
    pub(crate) fn play(&mut self, block: &Block<'p>, rows: &mut BlockRows<'p>) -> Result<(), Box<AgentFault>> {
        let plan = self.plan;
        rows.clear();
        rows.faults.clear();
        let knows_twins = !self.plays_twins && plan.is_repeatable(block.lineup);
        let mut is_sound = true;
        for rotation in 0..block.cell.seatings.len() {
            if knows_twins
                && is_sound
                && let Some(twin) = block.twin(rotation)
            {
                rows.repeat(twin, rotation);
                continue;
            }
            let played = self.play_rotation(block, rotation, rows);
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
        Ok(())
    }

    /// Prepares the referee and seats the agents of a rotation.
    fn seat<'a>(
        plan: &PlayablePlan,
        referee: &'a mut Option<Referee<Box<dyn Agent>, MatchObservers>>,
        pool: &mut AgentPool,
        block: &Block<'p>,
        rotation: usize,
    ) -> &'a mut Referee<Box<dyn Agent>, MatchObservers> {
        let (rules, seats) = (&block.cell.rules, block.cell.seats);
        if referee.as_ref().is_none_or(|old| old.playing().rules() != rules || old.playing().seats() != seats) {
            // After a forfeit, unfinished rounds must be removed from the counters.
            let tally = MatchTally::new(rules, plan.faults == FaultPolicy::Forfeit);
            let notes = MatchObservers { tally, recorder: None, watchers: Vec::new() };
            let nobody: Vec<Option<Box<dyn Agent>>> = (0..seats).map(|_| None).collect();
            let new = Referee::new(Deal::new(rules, plan.key(block.deal)), nobody.into(), notes);
            *referee = Some(new.expect("a plan has validated rules and seats"));
        }
        let referee = referee.as_mut().expect("created above if missing");
        let MatchObservers { tally, recorder, watchers } = referee.observer_mut();
        tally.clear(rules);
        *recorder = plan.records.then(|| Recorder::new(rules));
        watchers.clear();
        for seat in 0..seats {
            let agent = block.agent(seat, rotation);
            let seated = pool.take(agent, block).unwrap_or_else(|| {
                let new = plan.specs()[agent].make();
                referee.observer_mut().watchers.extend(new.observer());
                new
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
        let BlockPlayer { plan, referee, pool, .. } = self;
        let seats = block.cell.seats;
        let referee = BlockPlayer::seat(plan, referee, pool, block, rotation);
        let outcome = catch_unwind(AssertUnwindSafe(|| play_out(referee, plan.key(block.deal))));
        let is_broken = outcome.is_err();
        let outcome = outcome.unwrap_or_else(|panic| {
            // If no agent panicked, the panic is a bug in this library.
            let failure = referee.players().panicked(panic_message(&*panic));
            Err(failure.unwrap_or_else(|| resume_unwind(panic)).into())
        });
        let labels: Vec<&str> =
            (0..seats).map(|seat| plan.agents[block.agent(seat, rotation)].label.as_str()).collect();
        match outcome {
            Ok(result) => {
                let mut lapses = [None; MAX_SEATS];
                for (lapses, agent) in lapses.iter_mut().zip(referee.players().agents().iter().flatten()) {
                    *lapses = agent.lapses();
                }
                let MatchObservers { tally, recorder, watchers } = referee.observer_mut();
                let record = recorder
                    .take()
                    .map(|recorder| recorder.finish(plan.public_key(block.deal), rotation, &labels, &result));
                rows.records.extend(record);
                write_rows(plan, block, rotation, tally, &MatchEnding::Played(&result, &lapses), rows);
                // An observer belongs to one instance of an analysis agent, so such instances are not reused.
                if watchers.is_empty() {
                    for (seat, agent) in referee.players_mut().agents_mut().iter_mut().enumerate() {
                        pool.put(block.agent(seat, rotation), agent.take().expect("every seat has an agent"), block);
                    }
                }
                Ok(())
            }
            Err(error) => {
                let fault = fault(plan, block, rotation, &labels, referee.playing().actions(), &error);
                if plan.faults == FaultPolicy::Forfeit {
                    let tally = &mut referee.observer_mut().tally;
                    tally.forget_round();
                    write_rows(plan, block, rotation, tally, &MatchEnding::Forfeit(fault.seat), rows);
                }
                if is_broken {
                    self.referee = None;
                }
                Err(fault)
            }
        }
    }
}

/// Plays the match of a key with the seated agents.
fn play_out<W: Observer>(referee: &mut Referee<Box<dyn Agent>, W>, key: Key) -> Result<MatchResult, MatchError> {
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
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use cambio_agents::{Greedy, GreedyParams, Roster, RosterEntry, Text, params, roster};
    use cambio_core::{Briefing, Notice, Observation};

    use super::*;
    use crate::plan::Experiment;

    /// The agent `greedy` with a counter of its matches.
    struct CountingAgent {
        agent: Greedy,
        matches: Arc<AtomicUsize>,
    }

    impl Agent for CountingAgent {
        fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
            self.matches.fetch_add(1, Ordering::Relaxed);
            self.agent.begin(briefing)
        }

        fn notice(&mut self, notice: Notice<'_>) {
            self.agent.notice(notice);
        }

        fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
            self.agent.decide(view)
        }
    }

    params! {
        /// The parameters of [`CountingAgent`].
        struct CountingParams {
            /// Ignored.
            patience: Option<f64> in 0.0..=9.0,
            /// The parameter of `greedy`.
            call_at: i32 = 4 in 0..=20,
        }

        fn is_reproducible(&self) -> bool {
            self.patience.is_none()
        }
    }

    fn counting(matches: &Arc<AtomicUsize>) -> Roster {
        let (inside, outside) = (Arc::clone(matches), Arc::clone(matches));
        let counted = |params: &CountingParams, matches: &Arc<AtomicUsize>| {
            let agent = Greedy::new(&GreedyParams { call_at: params.call_at });
            CountingAgent { agent, matches: Arc::clone(matches) }
        };
        let text = Text {
            name: "word",
            meaning: "Ignored.",
            example: "a",
            is_needed: true,
            check: |_| Ok(()),
            files: |_| Vec::new(),
        };
        let about = "Counts its matches.";
        let inside = RosterEntry::new("inside", about, move |params| counted(params, &inside));
        let outside = RosterEntry::with_text("outside", about, text, move |_, params| counted(params, &outside));
        roster().with_entry(inside).with_entry(outside)
    }

    #[test]
    fn rotations_with_the_same_agents_in_the_same_seats_are_played_once() {
        let one = "inside";
        let other = "inside(call_at=9)";
        for (rotations, lineup, played) in [
            ("cyclic", vec![one; 2], 1),
            ("cyclic", vec![one, other], 2),
            ("cyclic", vec![one, other, one, other], 2),
            ("williams", vec![one; 4], 1),
            ("all", vec![one, other, one], 3),
            ("all", vec![one, other, "greedy"], 6),
            // An agent that is not reproducible plays every rotation.
            ("cyclic", vec!["inside(patience=1)"; 2], 2),
            ("cyclic", vec!["outside(\"x\")"; 2], 2),
        ] {
            let matches = Arc::new(AtomicUsize::new(0));
            let mut agents = lineup.clone();
            agents.sort_unstable();
            agents.dedup();
            let spec = format!(
                "seed = 5\ndeals = 9\nrules = ['faessler', 'original']\nseats = [{}]\nagents = {agents:?}\n\
                 lineups = [{lineup:?}]\nrotations = '{rotations}'\nrecords = true\nunit = 'rounds'\n",
                lineup.len(),
            );
            let plan = toml::from_str::<Experiment>(&spec).unwrap().plan(&counting(&matches), Path::new(".")).unwrap();
            let seats = lineup.iter().filter(|agent| **agent != "greedy").count();
            let (mut running, mut verifying) = (BlockPlayer::new(&plan), BlockPlayer::playing_all(&plan));
            let mut rows = [BlockRows::default(), BlockRows::default()];
            for block in plan.blocks() {
                matches.store(0, Ordering::Relaxed);
                running.play(&block, &mut rows[0]).unwrap();
                assert_eq!(matches.load(Ordering::Relaxed), played * seats, "{lineup:?}");
                verifying.play(&block, &mut rows[1]).unwrap();
                assert_eq!(rows[0], rows[1], "{lineup:?}");
                assert_eq!(rows[0].records.len(), block.cell.seatings.len());
            }
        }
    }

    /// A random agent that logs which instance played which deal.
    struct DealTracker {
        agent: cambio_core::testing::RandomAgent,
        number: usize,
        deals: Arc<Mutex<Vec<(usize, u64)>>>,
        deal: Arc<AtomicUsize>,
    }

    impl Agent for DealTracker {
        fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
            self.deals.lock().unwrap().push((self.number, self.deal.load(Ordering::Relaxed) as u64));
            self.agent.begin(briefing)
        }

        fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
            self.agent.decide(view)
        }
    }

    /// An instance that plays a deal twice could remember the cards, even in another seat or lineup.
    #[test]
    fn no_agent_is_given_a_deal_twice() {
        let (deals, deal) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let made = Arc::new(AtomicUsize::new(0));
        let (of_deals, of_deal, of_made) = (Arc::clone(&deals), Arc::clone(&deal), Arc::clone(&made));
        let tracked = RosterEntry::new("tracked", "Is tracked.", move |_: &GreedyParams| DealTracker {
            agent: cambio_core::testing::RandomAgent::default(),
            number: of_made.fetch_add(1, Ordering::Relaxed),
            deals: Arc::clone(&of_deals),
            deal: Arc::clone(&of_deal),
        });
        let spec = "seed = 5\ndeals = 6\nrules = ['classic', 'original']\nseats = [2, 3]\nunit = 'rounds'\n\
                    agents = ['tracked', 'tracked(call_at=9)', 'greedy', 'random', 'heuristic']\nlineups = 'compositions'\n";
        let roster = roster().with_entry(tracked);
        let plan = toml::from_str::<Experiment>(spec).unwrap().plan(&roster, Path::new(".")).unwrap();
        let (mut player, mut rows) = (BlockPlayer::new(&plan), BlockRows::default());
        for block in plan.blocks() {
            deal.store(block.deal as usize, Ordering::Relaxed);
            player.play(&block, &mut rows).unwrap();
        }
        let mut given = deals.lock().unwrap().clone();
        let matches = given.len();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), matches, "an instance played a deal twice");
        // Instances are reused for other deals.
        assert!(made.load(Ordering::Relaxed) < matches, "{made:?} agents for {matches} seats");
    }
}
