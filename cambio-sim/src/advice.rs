//! Advice for a position as a table.

use cambio_agents::{Advice, AdviceSettings, BlueprintName, DecisionValue, MeanEstimate, WordEnum as _};
use cambio_core::text::excerpt;
use cambio_core::{Action, Position, Seat};
use cambio_exec::{Estimate, table};
use serde::{Deserialize, Serialize};

use crate::table::{Table, Tables, plus_minus};

table! {
    /// A decision of a position with its value.
    pub AdviceRow {
        /// The decision.
        decision: String,
        /// The decisions that differ from it only in cards that the seat cannot distinguish, with commas between them; empty without
        /// such a decision.
        alike: Option<String>,
        /// Whether the decision is the best, or its cost is not shown to be above 0.
        may_be_best: bool,
        /// The chance of the seat to win the round, or the match if it has several rounds. All intervals of the table are valid
        /// together at 95 %.
        chance: Estimate => "wins" [Ends],
        /// The chance after the best decision minus this chance; empty for the best decision.
        cost: Option<Estimate> => "wins" [Ends],
        /// Mean points of each seat on the table at the end of the round, seat a first, with spaces between.
        points: String,
        /// How the games differ from those after the best decision; empty for a decision that may be the best.
        reason: Option<String>,
    }
}

/// The minimum number of games after each decision.
const MIN_GAMES: u32 = 100;

/// Decisions with commas between them.
fn listed(actions: &[Action]) -> String {
    actions.iter().map(Action::to_string).collect::<Vec<_>>().join(", ")
}

/// How advice is computed.
///
/// ```
/// use cambio_sim::AdviceOptions;
///
/// let options = AdviceOptions { games: Some(200), ..AdviceOptions::default() };
/// let position = "classic a=7s,2h,?,? b=?/b,?/b,?,? turns=5 pile=9c".parse().unwrap();
/// let shown = options.advise(&position, &|| true)?;
/// assert!(shown.tables().text().contains("draw"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct AdviceOptions {
    /// The policy of the seat after its decision: `learned`, or a heuristic such as `sharp`
    #[cfg_attr(feature = "clap", arg(long, value_name = "POLICY", default_value_t = Self::default().agent))]
    pub agent: String,
    /// The policy of the other seats
    #[cfg_attr(feature = "clap", arg(long, value_name = "POLICY", default_value_t = Self::default().opponents))]
    pub opponents: String,
    /// The number of games after each decision, at least 100; by default, as many as it takes to know each cost to ± 1 win in 100 or to
    /// a quarter of the cost, or as many as take some three seconds
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub games: Option<u32>,
    /// The seed of the worlds and of the games
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 0))]
    pub seed: u64,
}

impl Default for AdviceOptions {
    fn default() -> AdviceOptions {
        AdviceOptions { agent: "learned".to_owned(), opponents: "learned".to_owned(), games: None, seed: 0 }
    }
}

impl AdviceOptions {
    /// Advises the seat to act: see [`Advice::of`].
    ///
    /// # Errors
    /// If an option is not valid, or the position has no advice.
    pub fn advise(&self, position: &Position, goes_on: &dyn Fn() -> bool) -> Result<ShownAdvice, String> {
        let policy = |option: &str, name: &String| {
            BlueprintName::named(name).ok_or_else(|| {
                format!("`{option}` must be one of {}, found `{}`", BlueprintName::WORDS.join(", "), excerpt(name))
            })
        };
        if let Some(games) = self.games.filter(|&games| games < MIN_GAMES) {
            return Err(format!("`games` must be at least {MIN_GAMES}, found {games}"));
        }
        let settings = AdviceSettings {
            agent: policy("agent", &self.agent)?,
            opponents: policy("opponents", &self.opponents)?,
            games: self.games,
            seed: self.seed,
        };
        let advice = Advice::of(position, &settings, goes_on)?;
        Ok(ShownAdvice {
            options: self.clone(),
            position: position.to_string(),
            small: small_layouts(position),
            advice,
        })
    }
}

/// The layouts with fewer cards than the deal: "a 4 of 6". The writer of a position may have forgotten unknown cards.
fn small_layouts(position: &Position) -> Vec<String> {
    let view = position.observation();
    let hand = view.rules().spec().hand.count();
    let seats = Seat::ALL[..view.table().seats()].iter().map(|&seat| (seat, view.table().layout(seat).len()));
    seats.filter(|&(_, cards)| cards < hand).map(|(seat, cards)| format!("{seat} {cards} of {hand}")).collect()
}

/// Advice with the options that led to it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShownAdvice {
    options: AdviceOptions,
    /// The text of the position.
    position: String,
    /// The layouts with fewer cards than the deal, in words.
    #[serde(skip)]
    small: Vec<String>,
    /// The advice.
    pub advice: Advice,
}

impl ShownAdvice {
    /// The rows of the table, the best decision first.
    pub fn rows(&self) -> Vec<AdviceRow> {
        let estimate = |MeanEstimate { mean, half }: MeanEstimate, [least, most]: [f64; 2]| {
            let ends = ((mean - half).max(least), (mean + half).min(most));
            Estimate { mean, ..Estimate::default() }.with_ends(Some(ends))
        };
        let row = |own: &DecisionValue| AdviceRow {
            decision: own.action.to_string(),
            alike: (!own.alike.is_empty()).then(|| listed(&own.alike)),
            may_be_best: own.may_be_best,
            chance: estimate(own.chance, [0.0, 1.0]),
            cost: own.cost.map(|cost| estimate(cost, [-1.0, 1.0])),
            points: own.points.iter().map(|points| format!("{points:.1}")).collect::<Vec<_>>().join(" "),
            reason: own.reason.clone(),
        };
        self.advice.decisions.iter().map(row).collect()
    }

    /// The advice for people.
    pub fn tables(&self) -> Tables {
        let Advice { seat, of_match, unmeasured, lowest_now, worlds, .. } = &self.advice;
        let percent = |value: &Estimate| {
            let value = value.scaled(100.0);
            plus_minus(value.mean, value.ends(), 1)
        };
        let rows = self.rows();
        let has_several = rows.len() > 1;
        let line = |row: &AdviceRow| {
            let star = if row.may_be_best && has_several { "* " } else { "  " };
            let cost = row.cost.as_ref().map_or(String::new(), percent);
            let also = row.alike.as_ref().map_or(String::new(), |alike| format!(" = {}", excerpt(alike).up_to(12)));
            [format!("{star}{}{also}", row.decision), percent(&row.chance), cost, row.points.clone()]
        };
        let what = if *of_match { "match" } else { "round" };
        let heads =
            ["decision".to_owned(), format!("wins of 100, {what}"), "cost".to_owned(), "points at the end".to_owned()];
        let table = Table::shown(heads, rows.iter().map(line));
        let reason = match rows.iter().find_map(|row| row.reason.as_ref()) {
            Some(reason) => format!("{reason}\n"),
            None if has_several => "None of these decisions is shown to be worse than the best.\n".to_owned(),
            None => String::new(),
        };
        let only_if = |is_shown: bool, text: String| if is_shown { text } else { String::new() };
        let alike = only_if(
            rows.iter().any(|row| row.alike.is_some()),
            format!("=: decisions that differ only in cards that seat {seat} cannot distinguish.\n"),
        );
        let star =
            "*: the best decision, and those that are not shown to be worse; all intervals hold together at 95 %.\n";
        let star = only_if(has_several, star.to_owned());
        let more = match unmeasured {
            0 => String::new(),
            1 => "One more decision fell behind early.\n".to_owned(),
            more => format!("{more} more decisions were not tried, or fell behind early.\n"),
        };
        let small = match &self.small[..] {
            [] => String::new(),
            small => format!("Cards have left the table: {}. Write ? for each unknown card.\n", small.join(", ")),
        };
        let AdviceOptions { agent, opponents, .. } = &self.options;
        let lowest = 100.0 * lowest_now;
        Tables {
            title: format!(
                "{small}Seat {seat} is to act. It has the fewest points now, alone or with others, in {lowest:.0} of 100 games.\n\n"
            ),
            parts: vec![(String::new(), table, String::new())],
            notes: format!(
                "{reason}{more}{alike}{star}\
                 {worlds} worlds, drawn uniformly; then seat {seat} plays like {agent}, and the others like {opponents}.\n"
            ),
        }
    }
}
