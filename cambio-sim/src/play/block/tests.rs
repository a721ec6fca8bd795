use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cambio_agents::{Roster, RosterEntry, Text, params, roster};
use cambio_core::{Briefing, Notice, Observation};

use super::*;
use crate::plan::Experiment;

/// The agent `greedy` with a counter of its matches.
struct CountingAgent {
    agent: Box<dyn Agent>,
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
        let agent = roster().parse(&format!("greedy(call_at={})", params.call_at)).unwrap().make();
        CountingAgent { agent, matches: Arc::clone(matches) }
    };
    let text = Text {
        name: "word",
        meaning: "Ignored.",
        example: "a",
        is_needed: true,
        check: |_, _| Ok(()),
        files: |_, _| Vec::new(),
    };
    let about = "Counts its matches.";
    let inside = RosterEntry::new("inside", about, move |params| counted(params, &inside));
    let outside = RosterEntry::with_files("outside", about, text, move |_, _, params| counted(params, &outside));
    roster().with_entry(inside).with_entry(outside)
}

#[test]
fn equal_rotations_are_played_once() {
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
            running.is_timed = block.deal % 2 == 0;
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
    let tracked = RosterEntry::new("tracked", "Is tracked.", move |_: &CountingParams| DealTracker {
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
        player.is_timed = block.deal % 2 == 0;
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
