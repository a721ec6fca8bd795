//! The desk: answers the requests of pages, one after another.

use std::collections::BTreeMap;

use cambio_agents::{Network, Roster, missing_networks};
use cambio_core::rng::Seed;
use cambio_core::{Record, RulesSpec};
use cambio_view::{
    ActionRequest, Catalogue, CheckRequest, ExplainRequest, HintRequest, MatchRequest, RequestError, ReviewProgress,
    ReviewRequest, SavedSession, Session, TableOption, TableRequest, hint, inquire, position_for_hint, replay_in_json,
    review,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// A status code of HTTP.
    pub status: u16,
    /// JSON; for an error `{"error": "a sentence"}`.
    pub body: String,
}

/// Answers the requests of pages: the requests of `cambio serve` except for the runs and the stream of events, with the same answers.
///
/// These paths exist only here:
///
/// - `api/tables/N/events?from=M`: the steps of a table from number `M` on, as `{"steps": […]}`, or its current state, as
///   `{"hello": …}`, if `M` is missing or too old.
/// - `api/tables/N/about`: the entry of the table in the list of `api/options`.
/// - `api/check`: plays a match of a published run again and compares it with its row.
/// - `api/tables/N/saved`: the table as JSON. A POST with this JSON to `api/tables/N/restore` opens the table again; without the
///   field `session`, it opens a new table with the number `N`.
pub struct Desk {
    catalogue: Catalogue,
    /// Random bits for the next seed.
    entropy: u128,
    tables: BTreeMap<u64, Table>,
    reviews: Vec<Review>,
}

struct Table {
    request: TableRequest,
    session: Session,
}

struct Review {
    record: Record,
    round: usize,
    progress: ReviewProgress,
}

/// A table as data.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTable {
    request: TableRequest,
    #[serde(default)]
    session: Option<SavedSession>,
}

type Result<T> = std::result::Result<T, RequestError>;

fn missing(what: &str) -> RequestError {
    RequestError { status: 404, sentence: what.to_owned() }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serializes")
}

/// Returns the value if the program had all networks that it needed for the value.
fn with_networks<T>(value: T) -> Result<T> {
    let networks = missing_networks();
    if networks.is_empty() {
        return Ok(value);
    }
    Err(RequestError { status: Desk::NEEDS_NETWORK, sentence: networks.join(" ") })
}

/// The entry of a table in the list of tables.
fn about(number: u64, session: &Session) -> TableOption {
    TableOption::new(number, session, session.config().person())
}

/// The bundled network for the table of a record.
fn network_of(record: &Record) -> Option<Network> {
    let rules = RulesSpec::from_json(record.fields.get("rules")?).ok()?.validate().ok()?;
    Network::shipped(&rules, usize::try_from(record.fields.get("seats")?.as_u64()?).ok()?)
}

fn read<T: DeserializeOwned>(body: Option<&str>) -> Result<T> {
    serde_json::from_str(body.unwrap_or_default())
        .map_err(|error| RequestError::invalid(format!("the request is not valid: {error}")))
}

impl Desk {
    /// The status of an answer that needs networks which the program does not have. The error is the names of their files, with
    /// spaces between them.
    pub const NEEDS_NETWORK: u16 = 424;

    /// A desk without tables. All fresh seeds follow from `entropy`.
    pub fn new(roster: Roster, entropy: u128) -> Desk {
        Desk { catalogue: Catalogue::of_browser(roster), entropy, tables: BTreeMap::new(), reviews: Vec::new() }
    }

    /// Answers a request. `path` begins with `api/` and may have a query; a request with a body is a POST.
    pub fn request(&mut self, path: &str, body: Option<&str>) -> Answer {
        self.answer(path, body).map_or_else(
            |error| {
                let sentence = cambio_core::text::excerpt(&error.sentence).up_to(2000).to_string();
                Answer { status: error.status, body: json!({ "error": sentence }).to_string() }
            },
            |body| Answer { status: 200, body },
        )
    }

    fn answer(&mut self, path: &str, body: Option<&str>) -> Result<String> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.parse::<u64>().map_err(|_| missing("there is no such page"));
        match (&parts[..], body) {
            (["api", "options"], None) => {
                let tables = self.tables.iter().map(|(&number, table)| about(number, &table.session));
                Ok(text(&self.catalogue.options(tables.collect())))
            }
            (["api", "tables"], Some(_)) => {
                let next = self.tables.last_key_value().map_or(1, |(last, _)| last + 1);
                let saved = SavedTable { request: read(body)?, session: None };
                self.open(next, saved)
            }
            (["api", "tables", table, "restore"], Some(_)) => self.open(number(table)?, read(body)?),
            (["api", "tables", table, what], _) => self.at_table(number(table)?, what, query, body),
            (["api", "matches"], Some(_)) => {
                let request: MatchRequest = read(body)?;
                let fresh = self.fresh_seed();
                replay_in_json(&with_networks(request.play(&self.catalogue, || fresh, &|| true))??, None)
            }
            (["api", "check"], Some(_)) => {
                let request: CheckRequest = read(body)?;
                Ok(text(&with_networks(request.check(&self.catalogue, &|| true))??))
            }
            (["api", "film"], Some(body)) => replay_in_json(&self.catalogue.record(body)?, None),
            (["api", "explain"], Some(_)) => {
                let request: ExplainRequest = read(body)?;
                let agent = self.catalogue.agent(&request.agent)?;
                let at = (request.round, request.decision);
                Ok(text(&with_networks(inquire(&request.record(&self.catalogue)?, at, &agent, &|| true))??))
            }
            (["api", "appraisals"], Some(_)) => self.begin_review(&read(body)?),
            (["api", "appraisals", number], None) => {
                let found = number.parse::<usize>().ok().and_then(|number| self.reviews.get(number.wrapping_sub(1)));
                let found = found.ok_or_else(|| missing("this analysis is no longer kept; start it again"))?;
                Ok(text(&found.progress))
            }
            _ => Err(missing("there is no such page")),
        }
    }

    /// A seed that was not returned before.
    fn fresh_seed(&mut self) -> String {
        let seed = Seed::typed(self.entropy);
        // A counter in the high half; the low half stays unpredictable.
        self.entropy = self.entropy.wrapping_add(1 << 64);
        seed
    }

    fn open(&mut self, number: u64, saved: SavedTable) -> Result<String> {
        let fresh = self.fresh_seed();
        let request = saved.request.seeded(|| fresh);
        let session = match &saved.session {
            None => request.open(&self.catalogue, &|| true)?,
            Some(saved) => request.reopen(&self.catalogue, saved)?,
        };
        let session = with_networks(session)?;
        self.tables.insert(number, Table { request, session });
        Ok(json!({ "table": number }).to_string())
    }

    fn at_table(&mut self, number: u64, what: &str, query: &str, body: Option<&str>) -> Result<String> {
        let closed = || missing("this table is not open");
        let Table { request, session } = self.tables.get_mut(&number).ok_or_else(closed)?;
        let done = "{}".to_owned();
        let (is_post, person) = (body.is_some(), session.config().person());
        match what {
            "act" | "next" | "undo" if is_post => {
                let action: ActionRequest = read(body)?;
                match what {
                    "act" => session.act(person, action.at, &action.action, action.time)?,
                    "next" => session.go_on(person, action.at)?,
                    _ => session.take_back(action.at)?,
                }
                Ok(done)
            }
            "hint" if is_post => {
                let adviser = self.catalogue.agent(&read::<HintRequest>(body)?.agent)?;
                let (config, actions) = position_for_hint(session)?;
                let found = with_networks(hint(&config, &actions, &adviser, &|| true))??;
                session.count_hint();
                Ok(text(&found))
            }
            "close" if is_post => {
                self.tables.remove(&number);
                Ok(done)
            }
            "events" => {
                let from = query.strip_prefix("from=").and_then(|from| from.parse().ok());
                let feed = session.feed(person);
                Ok(match from.and_then(|from| feed.since(from)) {
                    Some(steps) => format!(r#"{{"steps":[{}]}}"#, steps.join(",")),
                    None => format!(r#"{{"hello":{}}}"#, feed.hello()),
                })
            }
            "saved" => Ok(text(&SavedTable { request: request.clone(), session: Some(session.save()) })),
            "about" => Ok(text(&about(number, session))),
            "record" => Ok(session.record()?.to_json()),
            "film" => replay_in_json(&session.record()?, None),
            _ => Err(missing("there is no such page")),
        }
    }

    fn begin_review(&mut self, request: &ReviewRequest) -> Result<String> {
        let (record, decisions) = request.record(&self.catalogue)?;
        // A review plays with the network for the table, or with a heuristic if there is none.
        with_networks(network_of(&record))?;
        let known = self.reviews.iter().position(|review| review.round == request.round && review.record == record);
        let index = known.unwrap_or_else(|| {
            let progress = ReviewProgress::new(decisions, ReviewRequest::PLAYOUTS);
            self.reviews.push(Review { record, round: request.round, progress });
            self.reviews.len() - 1
        });
        Ok(json!({ "appraisal": index + 1 }).to_string())
    }

    /// Does the next piece of work: the decision of an agent, or a review. Returns false if there is nothing to do. During a
    /// review, `report` receives its number and its progress: `{"appraisal": 1, "progress": …}`.
    pub fn work(&mut self, report: &mut dyn FnMut(&str)) -> bool {
        for Table { session, .. } in self.tables.values_mut() {
            if let Some(job) = session.job() {
                session.finish(job.run());
                return true;
            }
        }
        let Some((index, due)) = self.reviews.iter_mut().enumerate().find(|(_, review)| !review.progress.over) else {
            return false;
        };
        let mut tell = |progress: &ReviewProgress| {
            report(&text(&json!({ "appraisal": index + 1, "progress": progress })));
            true
        };
        // There is a result, because `tell` does not stop the review.
        if let Some(found) = review(&due.record, due.round, ReviewRequest::PLAYOUTS, &mut tell) {
            due.progress = found;
        }
        tell(&due.progress)
    }
}
