//! Searches a run for matches with a property.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Query, State};
use cambio_sim::{Plan, StoredMatch};
use serde::{Deserialize, Serialize};

use crate::answer::{ApiResult, json};
use crate::app_state::Shared;
use crate::match_index::{MatchFacts, MatchFilter, seats_of};
use crate::match_records::DecisionPlace;
use crate::runs::folder;

/// The number of matches on a page of a list.
const LISTED: usize = 50;

#[derive(Deserialize)]
pub(crate) struct MatchListRequest {
    run: String,
    kind: MatchFilter,
    /// The agent that must have the property, or take part if no single seat can have it; empty for any agent.
    #[serde(default)]
    agent: String,
    /// The number of the page, counted from 0.
    #[serde(default)]
    page: usize,
}

/// A match of a list. The players are in the order of their seats.
#[derive(Serialize)]
struct ListedMatch<'p> {
    #[serde(flatten)]
    which: StoredMatch,
    rounds: u32,
    turns: u32,
    winners: String,
    players: Vec<&'p str>,
    swing: f64,
    at: Option<DecisionPlace>,
}

impl<'p> ListedMatch<'p> {
    fn new(plan: &'p Plan, facts: &MatchFacts, at: Option<DecisionPlace>) -> ListedMatch<'p> {
        let block = plan.block(facts.block);
        let which = StoredMatch {
            rules: block.cell.rules.name().to_owned(),
            seats: block.cell.seats,
            lineup: block.lineup.label().to_owned(),
            deal: block.deal,
            rotation: facts.rotation,
        };
        let (players, winners, swing) = (plan.seated(&block, facts.rotation), facts.winners(), facts.swing_score());
        ListedMatch { which, rounds: facts.rounds, turns: facts.turns, winners, players, swing, at }
    }
}

/// A page of a list.
#[derive(Serialize)]
struct MatchPage<'p> {
    matches: Vec<ListedMatch<'p>>,
    /// The number of matches before the page.
    first: usize,
    /// The number of matches that have the property, among those that were searched.
    fitting: usize,
    /// The numbers of matches that were searched and that can be searched. If they differ, the next request searches more.
    searched: usize,
    of: usize,
    /// The number of matches of the run. More than `of` if the run is too large to be searched completely.
    matches_of_run: u64,
}

pub(crate) async fn list(State(state): Shared, Query(wanted): Query<MatchListRequest>) -> ApiResult {
    let own = Arc::clone(&state);
    let found = state.replays.run(move |token| {
        let path = folder(&own, &wanted.run)?;
        own.indexes.with(&path, token, |index| {
            if wanted.kind == MatchFilter::Guess {
                index.search_guesses(&own.catalogue, token)?;
            }
            let plan = &index.run.plan;
            let searched = if wanted.kind == MatchFilter::Guess { index.with_guesses() } else { &index.facts };
            let fits = |facts: &&MatchFacts| {
                wanted.kind.fits(facts, u8::MAX)
                    && (wanted.agent.is_empty() || {
                        let players = plan.seated(&plan.block(facts.block), facts.rotation);
                        wanted.kind.fits(facts, seats_of(players, &wanted.agent))
                    })
            };
            let mut fitting: Vec<&MatchFacts> = searched.iter().filter(fits).collect();
            match wanted.kind {
                MatchFilter::Long => fitting.sort_by_key(|facts| Reverse(facts.turns)),
                MatchFilter::Swing => fitting.sort_by_key(|facts| Reverse(facts.swing)),
                _ => {}
            }
            let first = wanted.page.saturating_mul(LISTED);
            let page = fitting.iter().skip(first).take(LISTED);
            // The facts have the place of the first guess of any seat.
            let is_placed = wanted.agent.is_empty() || wanted.kind != MatchFilter::Guess;
            let place = |facts: &MatchFacts| wanted.kind.place(facts).filter(|_| is_placed);
            Ok(json(&MatchPage {
                matches: page.map(|facts| ListedMatch::new(plan, facts, place(facts))).collect(),
                first,
                fitting: fitting.len(),
                searched: searched.len(),
                of: index.facts.len(),
                matches_of_run: index.run.matches(),
            }))
        })
    });
    found.await?
}
