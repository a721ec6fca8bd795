//! The learned player: a network weighs what each decision leads to.

mod candidates;
mod card;
mod features;
mod file;
mod network;
mod position;
mod weighing;

use cambio_core::{Action, Agent, Briefing, History, Observation, Seat, Sighting, Standing};

pub(crate) use file::NETWORK;
pub use file::{NetworkError, NetworkFacts, read_network};
pub use network::Floats;
pub use weighing::{Inputs, MatchStanding, Network, Weighing};

/// A player by a network: it takes the decision whose outcome the network values most.
///
/// It weighs one decision of each kind that it cannot tell apart. Where several stand for the same, or have the same value,
/// the pile says which it is, as with the heuristics: neither a letter nor a slot is preferred.
#[derive(Clone, Debug)]
pub struct Learned {
    network: Network,
    seated: Option<Seated>,
    weighing: Weighing,
}

/// What the player keeps during a match.
#[derive(Clone, Debug)]
struct Seated {
    seat: Seat,
    history: History,
    standing: MatchStanding,
}

impl Learned {
    /// A player by this network.
    pub fn new(network: Network) -> Learned {
        Learned { network, seated: None, weighing: Weighing::default() }
    }

    /// The candidates of the last decision and their values.
    pub fn weighing(&self) -> &Weighing {
        &self.weighing
    }
}

impl Agent for Learned {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        let inputs = self.network.inputs();
        self.seated = inputs.fit(briefing.rules).then(|| Seated {
            seat: briefing.seat,
            history: History::new(briefing.rules, briefing.seats),
            standing: inputs.standing(&[], briefing.seat),
        });
    }

    /// A network that is for other cards cannot play.
    fn trouble(&mut self) -> Option<String> {
        let rules = self.network.inputs().rules().name();
        self.seated.is_none().then(|| format!("its network is for the cards of `{rules}`"))
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        if let Some(seated) = &mut self.seated {
            seated.standing = self.network.inputs().standing(standing.totals, seated.seat);
        }
    }

    fn notice(&mut self, sighting: &Sighting) {
        if let Some(seated) = &mut self.seated {
            seated.history.notice(sighting);
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        // The referee does not ask who is in trouble.
        let Some(seated) = &self.seated else { return view.choices().nth(0).expect("who is asked has a choice") };
        self.network.weigh(view, &seated.history, &seated.standing, &mut self.weighing);
        self.weighing.choose(self.network.inputs(), view)
    }
}
