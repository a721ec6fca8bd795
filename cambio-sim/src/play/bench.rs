//! Agents between their matches.

use std::collections::VecDeque;

use cambio_core::Agent;

use crate::plan::{Block, PlayablePlan};

/// The most agents of one spec that wait. Of a lineup that meets alone each of its agents has as many as there are
/// rotations; a bot is a process of its own.
const MOST_WAITING: usize = 16;

/// Where agents wait for their next match. None gets a deal that it had before, be it in another seat or against others: it
/// would know the cards of all. Where all who wait had the deal, one is made anew.
pub(super) struct Bench {
    /// By the agent's place in the plan, who waits longest first.
    waiting: Vec<VecDeque<Waiting>>,
    /// The cell of which the agents have had deals. In another cell a deal may have the same cards.
    cell: usize,
}

/// An agent that waits.
struct Waiting {
    /// The last deal that it had. It had all its deals in ascending order.
    deal: u64,
    agent: Box<dyn Agent>,
}

impl Bench {
    pub(super) fn new(plan: &PlayablePlan) -> Bench {
        Bench { waiting: plan.agents.iter().map(|_| VecDeque::new()).collect(), cell: 0 }
    }

    /// An agent of the plan that has not had the block's deal; `None` where it has to be made.
    pub(super) fn take(&mut self, agent: usize, block: &Block<'_>) -> Option<Box<dyn Agent>> {
        if self.cell != block.place {
            self.cell = block.place;
            self.waiting.iter_mut().for_each(VecDeque::clear);
        }
        let waiting = &mut self.waiting[agent];
        // Who waits longest had the lowest deal.
        let is_fresh = waiting.front().is_some_and(|first| first.deal < block.deal);
        if is_fresh {
            return waiting.pop_front().map(|first| first.agent);
        }
        if waiting.len() >= MOST_WAITING {
            waiting.pop_front();
        }
        None
    }

    /// Lets an agent wait that has had the block's deal.
    pub(super) fn put(&mut self, agent: usize, seated: Box<dyn Agent>, block: &Block<'_>) {
        self.waiting[agent].push_back(Waiting { deal: block.deal, agent: seated });
    }
}
