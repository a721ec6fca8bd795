//! The desk: the one place that answers the requests of a page. A server and a worker in the browser are transports for it.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cambio_agents::{Advice, AdviceSettings, Network, missing_networks};
use cambio_core::rng::Seed;
use cambio_core::{Record, RulesSpec};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::catalogue::{Catalogue, RequestError, TableOption};
use crate::hint::hint;
use crate::requests::{
    ActionRequest, HintRequest, MatchRequest, PositionRequest, ReviewRequest, TableRequest, position_for_hint,
    position_in_json, record_of, replay_in_json,
};
use crate::review::{ReviewProgress, review};
use crate::session::{Computation, SavedSession, Session};

/// The maximum numbers of tables and of reviews. A page that needs an older one opens it again.
const MAX_TABLES: usize = 4;
const MAX_REVIEWS: usize = 16;

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// A status code of HTTP.
    pub status: u16,
    /// JSON; for an error `{"error": "a sentence"}`.
    pub body: String,
}

impl From<Result<String>> for Answer {
    fn from(result: Result<String>) -> Answer {
        match result {
            Ok(body) => Answer { status: 200, body },
            Err(error) => {
                // Shortens the sentence and escapes control characters, because it may quote untrusted text.
                let sentence = cambio_core::text::excerpt(&error.sentence).up_to(2000).to_string();
                Answer { status: error.status, body: json!({ "error": sentence }).to_string() }
            }
        }
    }
}

/// What the desk replies to a request.
#[expect(missing_debug_implementations, reason = "a computation has nothing to show")]
pub enum Reply {
    /// The answer.
    Now(Answer),
    /// A computation that results in the answer. It needs no desk, so the desk can meanwhile answer other requests.
    Later(Computation<Answer>),
    /// The table has no new steps. The transport repeats the request after the next change.
    Wait,
}

/// A computation in the background: the next decision of an agent, or a review.
#[expect(missing_debug_implementations, reason = "a computation has nothing to show")]
pub struct DeskWork {
    /// Whether this is a review, which takes seconds and may stop when no page asks for its progress any more.
    pub is_review: bool,
    /// The work. Its result is at the desk.
    pub task: Computation<()>,
}

/// Answers the requests for run folders, which only a server has: the rest of the path, and the query.
pub type RunFolders = Arc<dyn Fn(&str, &str) -> Result<String> + Send + Sync>;

type Result<T> = std::result::Result<T, RequestError>;

/// Answers the requests of a page. A request with a body is a POST.
///
/// | request | answer |
/// |---|---|
/// | `api/options` | the rules and agents for a new table |
/// | POST `api/tables/N/open` | opens table `N` from a request and, if the page has them, the decisions so far |
/// | `api/tables/N/events?from=M` | the steps from number `M` on, or the current state if `M` is missing or too old; waits for news |
/// | POST `api/tables/N/act`, `next`, `undo`, `hint`, `close` | what the person at the table wants |
/// | `api/tables/N/record`, `replay` | the finished match |
/// | POST `api/matches` | the replay of a match of agents, with its fingerprint |
/// | POST `api/replay` | the replay of a record |
/// | POST `api/position`, `api/advise` | a position as data, and the advice for it |
/// | POST `api/reviews`, then `api/reviews/N` | the number of the review of a round, and its progress |
/// | `api/runs…` | the run folders of a server |
///
/// The answers to `open` and `events` contain, as `kept`, what the page needs to open the table again: its request with the seed, its
/// decisions, and its record if the match is over. So the desk may forget a table at any time.
///
/// ```
/// use std::sync::Arc;
/// use cambio_view::{Catalogue, Desk, Reply};
///
/// let mut desk = Desk::new(Arc::new(Catalogue::of_browser(cambio_agents::roster())), 42);
/// let open = r#"{ "request": { "rules": "classic", "opponents": ["greedy"], "seed": "7" } }"#;
/// assert_eq!(desk.answer("api/tables/1/open", Some(open)).unwrap().status, 200);
/// while let Some(work) = desk.work() {
///     (work.task)(&|| true);
/// }
/// assert!(desk.answer("api/tables/1/events", None).unwrap().body.starts_with(r#"{"hello":"#));
/// assert_eq!(desk.answer("api/tables/1/record", None).unwrap().status, 409);
/// assert!(matches!(desk.request("api/tables/1/events?from=1", None), Reply::Wait));
/// ```
pub struct Desk {
    catalogue: Arc<Catalogue>,
    /// Random bits for the next seed.
    entropy: u128,
    runs: Option<RunFolders>,
    report: fn(&str),
    tables: BTreeMap<u64, Arc<Mutex<Table>>>,
    reviews: BTreeMap<u64, Arc<Mutex<Review>>>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("tables", &self.tables.keys()).finish_non_exhaustive()
    }
}

struct Table {
    number: u64,
    request: TableRequest,
    session: Session,
}

struct Review {
    record: Arc<Record>,
    round: usize,
    progress: ReviewProgress,
    /// Whether the review has to begin or to go on.
    is_due: bool,
    is_running: bool,
}

/// A table as data.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTable {
    request: TableRequest,
    #[serde(default)]
    session: Option<SavedSession>,
}

/// What a page keeps of a table: texts that it does not read itself.
#[derive(Serialize)]
struct KeptTable {
    saved: String,
    about: String,
    record: Option<String>,
}

impl Table {
    fn kept(&self) -> String {
        let Table { number, request, session } = self;
        text(&KeptTable {
            saved: text(&SavedTable { request: request.clone(), session: Some(session.save()) }),
            about: text(&TableOption::new(*number, session)),
            record: session.record().ok().map(|record| record.to_json()),
        })
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serializes")
}

fn read<T: DeserializeOwned>(body: Option<&str>) -> Result<T> {
    serde_json::from_str(body.unwrap_or_default())
        .map_err(|error| RequestError::invalid(format!("the request is not valid: {error}")))
}

/// Locks a mutex and ignores poisoning, because the data is consistent between calls.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value if the program had all networks that it needed for the value.
fn with_networks<T>(value: T) -> Result<T> {
    let networks = missing_networks();
    if networks.is_empty() {
        return Ok(value);
    }
    Err(RequestError { status: Desk::NEEDS_NETWORK, sentence: networks.join(" ") })
}

/// The bundled network for the table of a record.
fn network_of(record: &Record) -> Option<Network> {
    let rules = RulesSpec::from_json(record.fields.get("rules")?).ok()?.validate().ok()?;
    Network::shipped(&rules, usize::try_from(record.fields.get("seats")?.as_u64()?).ok()?)
}

#[expect(clippy::unnecessary_wraps, reason = "a route ends with it")]
fn now(body: String) -> Result<Reply> {
    Ok(Reply::Now(Answer { status: 200, body }))
}

#[expect(clippy::unnecessary_wraps, reason = "a route ends with it")]
fn later(compute: impl FnOnce(&dyn Fn() -> bool) -> Result<String> + Send + 'static) -> Result<Reply> {
    Ok(Reply::Later(Box::new(|goes_on| compute(goes_on).into())))
}

impl Desk {
    /// The status of an answer that needs networks which the program does not have. The error is the names of their files, with
    /// spaces between them. Pass each of them to [`cambio_agents::provide_network`] and repeat the request.
    pub(crate) const NEEDS_NETWORK: u16 = 424;

    /// A desk without tables and run folders. All fresh seeds follow from `entropy`.
    pub fn new(catalogue: Arc<Catalogue>, entropy: u128) -> Desk {
        let (tables, reviews) = (BTreeMap::new(), BTreeMap::new());
        Desk { catalogue, entropy, runs: None, report: |_| {}, tables, reviews }
    }

    /// The same desk with run folders.
    #[must_use]
    pub fn with_runs(self, runs: RunFolders) -> Desk {
        Desk { runs: Some(runs), ..self }
    }

    /// The same desk, whose reviews report their progress as `{"review": 1, "progress": …}`. A thread that computes a review cannot answer
    /// requests, so a program with one thread needs the reports.
    #[must_use]
    pub fn reporting(self, report: fn(&str)) -> Desk {
        Desk { report, ..self }
    }

    /// Replies to a request. `path` begins with `api/` and may have a query.
    pub fn request(&mut self, path: &str, body: Option<&str>) -> Reply {
        self.route(path, body).unwrap_or_else(|error| Reply::Now(Err(error).into()))
    }

    /// The answer to a request, computed on this thread; `None` if the table has no new steps.
    pub fn answer(&mut self, path: &str, body: Option<&str>) -> Option<Answer> {
        match self.request(path, body) {
            Reply::Now(answer) => Some(answer),
            Reply::Later(computation) => Some(computation(&|| true)),
            Reply::Wait => None,
        }
    }

    /// The list of all routes.
    fn route(&mut self, path: &str, body: Option<&str>) -> Result<Reply> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.parse::<u64>().map_err(|_| RequestError::missing("there is no such page"));
        let catalogue = Arc::clone(&self.catalogue);
        match (&parts[..], body) {
            (["api", "options"], None) => now(text(&catalogue.options())),
            (["api", "tables", table, "open"], Some(_)) => self.open(number(table)?, read(body)?),
            (["api", "tables", table, what], _) => self.at_table(number(table)?, what, query, body),
            (["api", "matches"], Some(_)) => {
                let (request, fresh): (MatchRequest, _) = (read(body)?, self.fresh_seed());
                later(move |goes_on| {
                    let (record, fingerprint) = with_networks(request.play(&catalogue, || fresh, goes_on))??;
                    replay_in_json(&record, Some(fingerprint))
                })
            }
            (["api", "replay"], Some(record)) => {
                let record = record.to_owned();
                later(move |_| replay_in_json(&record_of(&record)?, None))
            }
            (["api", "position"], Some(_)) => {
                let request: PositionRequest = read(body)?;
                later(move |_| Ok(position_in_json(&request.read()?)))
            }
            (["api", "advise"], Some(_)) => {
                let request: PositionRequest = read(body)?;
                later(move |goes_on| {
                    let position = request.read()?;
                    let advice = with_networks(Advice::of(&position, &AdviceSettings::default(), goes_on))?;
                    Ok(text(&advice.map_err(RequestError::invalid)?))
                })
            }
            (["api", "reviews"], Some(_)) => self.begin_review(&read(body)?),
            (["api", "reviews", review], None) => {
                let review = self.reviews.get(&number(review)?);
                let review =
                    review.ok_or_else(|| RequestError::missing("this analysis is no longer kept; start it again"))?;
                let mut review = locked(review);
                review.is_due = !review.is_running && !review.progress.over;
                now(text(&review.progress))
            }
            (["api", "runs", rest @ ..], None) if rest.len() < 2 => {
                let runs = self.runs.clone().ok_or_else(|| RequestError::missing("only a server has run folders"))?;
                let (what, query) = (rest.concat(), query.to_owned());
                later(move |_| runs(&what, &query))
            }
            _ => Err(RequestError::missing("there is no such page")),
        }
    }

    /// A seed that was not returned before.
    fn fresh_seed(&mut self) -> String {
        let seed = Seed::typed(self.entropy);
        // A counter in the high half; the low half stays unpredictable.
        self.entropy = self.entropy.wrapping_add(1 << 64);
        seed
    }

    /// Opens a table for a session that no request describes, such as one with other cards. A page cannot open it again.
    #[cfg(test)]
    fn open_session(&mut self, number: u64, session: Session) {
        let table = Table { number, request: TableRequest::default(), session };
        self.tables.insert(number, Arc::new(Mutex::new(table)));
    }

    /// Opens a table. A table that is open with the same decisions goes on, because a page that is loaded again sends what it has kept.
    fn open(&mut self, number: u64, SavedTable { request, session }: SavedTable) -> Result<Reply> {
        let request = request.seeded(|| self.fresh_seed());
        let is_same = |table: &Arc<Mutex<Table>>| {
            let table = locked(table);
            text(&table.request) == text(&request) && session.as_ref() == Some(&table.session.save())
        };
        if !self.tables.get(&number).is_some_and(is_same) {
            let session = with_networks(request.open(&self.catalogue, session.as_ref())?)?;
            let table = Arc::new(Mutex::new(Table { number, request, session }));
            while self.tables.len() >= MAX_TABLES && !self.tables.contains_key(&number) {
                self.tables.pop_first();
            }
            self.tables.insert(number, table);
        }
        let kept = locked(&self.tables[&number]).kept();
        now(format!(r#"{{"table":{number},"kept":{kept}}}"#))
    }

    fn at_table(&mut self, number: u64, what: &str, query: &str, body: Option<&str>) -> Result<Reply> {
        if what == "close" && body.is_some() {
            self.tables.remove(&number);
            return now("{}".to_owned());
        }
        let shared = self.tables.get(&number).ok_or_else(|| RequestError::missing("this table is not open"))?;
        let table = &mut *locked(shared);
        let Table { session, .. } = table;
        let is_post = body.is_some();
        match what {
            "act" | "next" | "undo" if is_post => {
                let action: ActionRequest = read(body)?;
                match what {
                    "act" => session.act(action.at, &action.action, action.time)?,
                    "next" => session.go_on(action.at)?,
                    _ => session.take_back(action.at)?,
                }
                now("{}".to_owned())
            }
            "hint" if is_post => {
                let adviser = self.catalogue.agent(&read::<HintRequest>(body)?.agent)?;
                let (config, actions) = position_for_hint(session)?;
                let own = Arc::downgrade(shared);
                later(move |goes_on| {
                    let goes_on = || goes_on() && own.strong_count() > 0;
                    let found = with_networks(hint(&config, &actions, &adviser, &goes_on))??;
                    own.upgrade().inspect(|table| locked(table).session.count_hint());
                    Ok(text(&found))
                })
            }
            "events" if session.is_rewinding() => Ok(Reply::Wait),
            "events" if !is_post => {
                let from = query.strip_prefix("from=").and_then(|from| from.parse().ok());
                let feed = session.feed();
                let news = match from.and_then(|from| feed.since(from)) {
                    Some(steps) if steps.is_empty() => return Ok(Reply::Wait),
                    Some(steps) => format!(r#""steps":[{}]"#, steps.join(",")),
                    None => format!(r#""hello":{}"#, feed.hello()),
                };
                now(format!(r#"{{{news},"kept":{}}}"#, table.kept()))
            }
            "record" if !is_post => now(session.record()?.to_json()),
            "replay" if !is_post => {
                let record = session.record()?;
                later(move |_| replay_in_json(&record, None))
            }
            _ => Err(RequestError::missing("there is no such page")),
        }
    }

    fn begin_review(&mut self, request: &ReviewRequest) -> Result<Reply> {
        let (record, decisions) = request.record()?;
        // A review plays with the network for the table.
        with_networks(network_of(&record))?;
        let is_same = |review: &Review| review.round == request.round && *review.record == record;
        let known = self.reviews.iter().find(|(_, review)| is_same(&locked(review))).map(|(number, _)| *number);
        let number = known.unwrap_or_else(|| {
            let number = self.reviews.last_key_value().map_or(1, |(last, _)| last + 1);
            let progress = ReviewProgress::new(decisions, ReviewProgress::PLAYOUTS);
            let (record, round) = (Arc::new(record), request.round);
            let review = Review { record, round, progress, is_due: true, is_running: false };
            self.reviews.insert(number, Arc::new(Mutex::new(review)));
            while self.reviews.len() > MAX_REVIEWS {
                self.reviews.pop_first();
            }
            number
        });
        // A page can show the progress before the review begins.
        (self.report)(&reported(number, &locked(&self.reviews[&number]).progress));
        now(json!({ "review": number }).to_string())
    }

    /// The next work, if there is some that does not run yet.
    pub fn work(&mut self) -> Option<DeskWork> {
        let decision = self.tables.values().find_map(|table| Some((table, locked(table).session.job()?)));
        if let Some((table, job)) = decision {
            let table = Arc::downgrade(table);
            let task: Computation<()> = Box::new(move |goes_on| {
                let goes_on = || goes_on() && table.strong_count() > 0;
                let done = catch_unwind(AssertUnwindSafe(|| job(&goes_on)));
                // The table may be closed or opened again in the meantime.
                let Some(table) = table.upgrade() else { return };
                let session = &mut locked(&table).session;
                match done {
                    Ok(done) => session.finish(done),
                    Err(_) => session.fail(),
                }
            });
            return Some(DeskWork { is_review: false, task });
        }
        let (&number, review) = self.reviews.iter().find(|(_, review)| locked(review).is_due)?;
        let (review, report) = (Arc::clone(review), self.report);
        {
            let mut review = locked(&review);
            (review.is_due, review.is_running) = (false, true);
        }
        let task = Box::new(move |goes_on: &dyn Fn() -> bool| review_round(number, &review, goes_on, report));
        Some(DeskWork { is_review: true, task })
    }
}

/// The progress of a review as a report.
fn reported(number: u64, progress: &ReviewProgress) -> String {
    text(&json!({ "review": number, "progress": progress }))
}

/// Computes a review. `report` receives its progress.
fn review_round(number: u64, own: &Mutex<Review>, goes_on: &dyn Fn() -> bool, report: fn(&str)) {
    let (record, round) = {
        let own = locked(own);
        (Arc::clone(&own.record), own.round)
    };
    let show = |progress: &ReviewProgress| {
        locked(own).progress = progress.clone();
        report(&reported(number, progress));
    };
    let mut tell = |progress: &ReviewProgress| {
        show(progress);
        goes_on()
    };
    let reviewed = catch_unwind(AssertUnwindSafe(|| review(&record, round, ReviewProgress::PLAYOUTS, &mut tell)));
    let over = reviewed.unwrap_or_else(|_| {
        let mut progress = locked(own).progress.clone();
        (progress.over, progress.trouble) = (true, Some("the analysis panicked; this is a bug in cambio".to_owned()));
        Some(progress)
    });
    over.iter().for_each(show);
    locked(own).is_running = false;
}

#[cfg(test)]
mod tests;
