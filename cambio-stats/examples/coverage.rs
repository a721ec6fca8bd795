//! Measures the coverage of intervals and the false rejections of tests by simulation:
//! `coverage FOLDER REPETITIONS [rows=PLAYERS.CSV] [seats=2,4] [deals=100] [field=equal] [seed=1]`.
//!
//! With `rows`, the deals of a stored run are the population. Each repetition draws deals from it with replacement, so the
//! true values are the means over all deals of the run. The seats of each drawn deal are permuted, so that seats have no effect.
//! Each lineup alone is one table, and all lineups together are another. `coverage.csv` has a row for each rule system,
//! number of seats and number of deals.
//!
//! Without `rows`, deals are simulated. Each deal has random luck for each seat, which all its rotations share. Each agent
//! has a strength, random luck with the deal, and random luck with each match. Agents are ranked by the sum, rounded to a
//! quarter, so that some tie. The number of agents equals the number of seats, and each agent plays in every seat of every
//! deal. The true mean of an agent is one half if all are equal, otherwise it is estimated from sixteen million simulated
//! seats.
//!
//! `coverage.csv` lists in which share of the repetitions the intervals contained the true values, intervals by widely used
//! methods did so for the same numbers, and the tests found seat effects that do not exist. Each setting has its own
//! random stream.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use cambio_stats::ratings::{Fit, PositionEffects, Ranking, Rankings, fit};
use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals};
use cambio_stats::{Joint, Matrix, Moments, ResampleRng as _, Support, anova, f_tail, t_quantile};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

const SEED: &str = "2026";
const SEATS_FOR_TRUTH: u64 = 16_000_000;
const DEALS: [u64; 5] = [5, 12, 30, 60, 100];
/// The units of a win.
const WIN: i64 = 840;

/// One deal: the number of each agent's results and their sums, the sum of each seat, and the rankings of the matches.
#[derive(Clone, Default)]
struct Deal {
    n: Vec<i64>,
    /// The sums of rank points in units of 1 / (2 (N − 1)).
    points: Vec<i64>,
    wins: Vec<i64>,
    seats: Vec<i64>,
    matches: i64,
    rankings: Vec<Ranking>,
}

impl Deal {
    fn merge(&mut self, other: &Deal) {
        let add = |sums: &mut Vec<i64>, more: &[i64]| {
            sums.resize(more.len(), 0);
            sums.iter_mut().zip(more).for_each(|(sum, own)| *sum += own);
        };
        add(&mut self.n, &other.n);
        add(&mut self.points, &other.points);
        add(&mut self.wins, &other.wins);
        add(&mut self.seats, &other.seats);
        self.matches += other.matches;
        self.rankings.extend(&other.rankings);
    }
}

/// The source of deals.
enum Source {
    /// The strengths of simulated agents.
    Field(Vec<f64>),
    /// The deals of a run.
    Stored(Vec<Deal>),
}

/// Deals, and the true values of each agent.
struct Population {
    source: Source,
    points: Vec<f64>,
    /// Empty if wins are not simulated.
    wins: Vec<f64>,
    /// Empty if ratings are not simulated, or if the likelihood of all deals has no maximum.
    strengths: Vec<f64>,
}

impl Population {
    /// A deal, and the sums of its seats.
    fn draw(&self, rng: &mut ChaCha8Rng) -> (Cow<'_, Deal>, Vec<i64>) {
        match &self.source {
            Source::Field(strengths) => {
                let deal = simulated(strengths, rng);
                let seats = deal.seats.clone();
                (Cow::Owned(deal), seats)
            }
            Source::Stored(deals) => {
                let deal = &deals[rng.index(deals.len())];
                let mut seats = deal.seats.clone();
                for seat in (1..seats.len()).rev() {
                    seats.swap(seat, rng.index(seat + 1));
                }
                (Cow::Borrowed(deal), seats)
            }
        }
    }

    fn stored(deals: Vec<Deal>) -> Population {
        let mut all = Deal::default();
        let mut rankings = Rankings::default();
        for (number, deal) in deals.iter().enumerate() {
            all.merge(&Deal { rankings: Vec::new(), ..deal.clone() });
            deal.rankings.iter().for_each(|ranking| rankings.add(*ranking));
            rankings.end_cluster_of(number as u64);
        }
        let mean =
            |sums: &[i64], unit: i64| sums.iter().zip(&all.n).map(|(sum, n)| *sum as f64 / (n * unit) as f64).collect();
        // The fit of all lineups at eight seats takes too long to repeat.
        let is_small = all.matches <= 64 * deals.len() as i64;
        let fitted = is_small.then(|| fit(&rankings, all.n.len(), None, PositionEffects::Ignored)).flatten();
        let fitted = fitted.filter(|fit| fit.fit == Fit::Likelihood);
        let (points, wins) = (mean(&all.points, units(all.seats.len())), mean(&all.wins, WIN));
        Population {
            source: Source::Stored(deals),
            points,
            wins,
            strengths: fitted.map_or(Vec::new(), |fit| fit.strengths),
        }
    }

    /// Agents with evenly spaced strengths from `-reach` to `reach`. Luck is symmetric, so an agent is as far above one half
    /// as the agent at the other end of the field is below it.
    fn field(seats: usize, reach: f64, seed: u64) -> Population {
        let strengths: Vec<f64> =
            (0..seats).map(|agent| reach * (2.0 * agent as f64 / (seats as f64 - 1.0) - 1.0)).collect();
        let mut points = vec![0.5; seats];
        if reach > 0.0 {
            let mut rng = stream(seed, &format!("truth {seats} {reach}"));
            let mut all = Deal::default();
            for _ in 0..SEATS_FOR_TRUTH / seats as u64 {
                all.merge(&simulated(&strengths, &mut rng));
            }
            let mean = |agent: usize| all.points[agent] as f64 / (all.n[agent] * units(seats)) as f64;
            points = (0..seats).map(|agent| f64::midpoint(mean(agent), 1.0 - mean(seats - 1 - agent))).collect();
        }
        Population { source: Source::Field(strengths), points, wins: Vec::new(), strengths: Vec::new() }
    }
}

/// The units of one rank point.
fn units(seats: usize) -> i64 {
    2 * (seats as i64 - 1)
}

/// A random stream with this name.
fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let digest = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ChaCha8Rng::seed_from_u64(seed.wrapping_add(digest))
}

/// Plays a simulated deal in all rotations.
fn simulated(strengths: &[f64], rng: &mut ChaCha8Rng) -> Deal {
    let seats = strengths.len();
    let luck: Vec<f64> = (0..seats).map(|_| rng.normal()).collect();
    let of_deal: Vec<f64> = (0..seats).map(|_| 0.3 * rng.normal()).collect();
    let matches = seats as i64;
    let mut deal =
        Deal { n: vec![matches; seats], points: vec![0; seats], seats: vec![0; seats], matches, ..Deal::default() };
    for rotation in 0..seats {
        let agent = |seat: usize| (seat + rotation) % seats;
        let mut points: Vec<i64> = Vec::new();
        for seat in 0..seats {
            let sum = strengths[agent(seat)] + of_deal[agent(seat)] + luck[seat] + 0.7 * rng.normal();
            points.push((4.0 * sum).round() as i64);
        }
        for seat in 0..seats {
            let other = |rival: &i64| match points[seat].cmp(rival) {
                std::cmp::Ordering::Greater => 2,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Less => 0,
            };
            // A comparison with itself is a tie.
            let beaten = points.iter().map(other).sum::<i64>() - 1;
            deal.points[agent(seat)] += beaten;
            deal.seats[seat] += beaten;
        }
    }
    deal
}

/// The ends of Wilson's interval at the effective sample size (Korn and Graybill 1998), which was used before Hall's.
fn wilson(mean: f64, error: f64, clusters: f64, t: f64) -> (f64, f64) {
    if error == 0.0 {
        let differ = t * t / (t * t + clusters);
        return (mean - differ * mean, mean + differ * (1.0 - mean));
    }
    let size = mean * (1.0 - mean) / (error * error);
    let half = t * (mean * (1.0 - mean) / size + t * t / (4.0 * size * size)).sqrt();
    let (middle, total) = (mean + t * t / (2.0 * size), 1.0 + t * t / size);
    ((middle - half) / total, (middle + half) / total)
}

/// The number of repetitions with an event, and of all repetitions.
#[derive(Clone, Copy, Default)]
struct Count {
    yes: u32,
    all: u32,
}

impl Count {
    fn add(&mut self, yes: bool) {
        self.yes += u32::from(yes);
        self.all += 1;
    }

    fn share(self) -> f64 {
        f64::from(self.yes) / f64::from(self.all)
    }
}

/// For each column of the table, the counts: one for each agent, or one for all.
type Counts = BTreeMap<&'static str, Vec<Count>>;

/// Counts how often each interval contained the true value, and each test rejected its null hypothesis.
fn repeat(population: &Population, deals: u64, repetitions: u32, mut rng: ChaCha8Rng) -> Counts {
    let mut counts = Counts::new();
    let mut count = |column: &'static str, yes: bool, index: usize| {
        let list = counts.entry(column).or_default();
        list.resize(list.len().max(index + 1), Count::default());
        list[index].add(yes);
    };
    let t = t_quantile(0.975, deals as f64 - 1.0);
    let contains = |ends: Option<(f64, f64)>, truth: f64| {
        // Rounding errors matter for agents whose deals agree.
        ends.is_some_and(|(low, high)| low - 1e-9 <= truth && truth <= high + 1e-9)
    };
    for repetition in 0..repetitions {
        let (drawn, sums): (Vec<_>, Vec<_>) = (0..deals).map(|_| population.draw(&mut rng)).unzip();
        let seats = sums[0].len();
        let agents = drawn[0].n.len();
        let mut means = |columns: [&'static str; 3], unit: i64, truths: &[f64], sum: fn(&Deal, usize) -> i64| {
            for (agent, &truth) in truths.iter().enumerate() {
                let mut moments = Moments::default();
                for deal in &drawn {
                    moments.add(deal.n[agent], sum(deal, agent));
                }
                let interval = moments.interval(unit as f64, Support::Share).expect("the agent played");
                let (mean, error) = (interval.mean, interval.error.expect("two deals"));
                let all = [
                    interval.low().zip(interval.high()),
                    Some(wilson(mean, error, deals as f64, t)),
                    Some((mean - t * error, mean + t * error)),
                ];
                for (column, ends) in columns.into_iter().zip(all) {
                    count(column, contains(ends, truth), agent);
                }
            }
        };
        means(["hall", "wilson", "t"], units(seats), &population.points, |deal, agent| deal.points[agent]);
        means(["win_hall", "win_wilson", "win_t"], WIN, &population.wins, |deal, agent| deal.wins[agent]);
        let mut of_seats = Joint::new(seats);
        for (deal, sums) in drawn.iter().zip(&sums) {
            of_seats.add(&vec![deal.matches; seats], sums);
        }
        let (anova, hotelling) = seat_tests(&of_seats, seats, deals);
        count("seat_test", anova, 0);
        count("hotelling", hotelling, 0);
        // Ratings and simultaneous intervals take most of the time, so only a part of the repetitions computes them.
        if !population.strengths.is_empty() && repetition % 4 == 0 {
            let mut rankings = Rankings::default();
            for (number, deal) in drawn.iter().enumerate() {
                deal.rankings.iter().for_each(|ranking| rankings.add(*ranking));
                rankings.end_cluster_of(number as u64);
            }
            let fitted = fit(&rankings, agents, None, PositionEffects::Ignored).expect("there are games");
            for agent in 0..agents {
                let interval = fitted.interval(agent);
                count("rating", contains(interval.low().zip(interval.high()), population.strengths[agent]), agent);
            }
        }
        if repetition % 10 == 0 {
            let mut joint = Joint::new(agents);
            for deal in &drawn {
                joint.add(&deal.n, &deal.points);
            }
            let unit = units(seats) as f64;
            let covariance =
                Matrix::from_fn(agents, agents, |i, j| joint.covariance(i, j).expect("two deals") / (unit * unit));
            let together =
                SimultaneousIntervals::new(&covariance, Contrasts::Pairs, &mut rng).expect("there are pairs");
            let mut all_hold = true;
            for one in 0..agents {
                for other in one + 1..agents {
                    let (difference, _) = joint.difference(one, other, unit, Support::Difference).expect("both played");
                    all_hold &= contains(together.ends(&difference), population.points[one] - population.points[other]);
                }
            }
            count("together", all_hold, 0);
        }
    }
    counts
}

/// Whether the test of the seats and Hotelling's test find an effect.
fn seat_tests(sums: &Joint, seats: usize, deals: u64) -> (bool, bool) {
    let means: Vec<f64> = (0..seats).map(|seat| sums.mean(seat).expect("the seat was played")).collect();
    let covariance = Matrix::from_fn(seats, seats, |i, j| sums.covariance(i, j).expect("two deals"));
    let found = anova::test(&means, &covariance, deals).is_some_and(|test| test.p < 0.05);
    let q = seats - 1;
    let effects = Matrix::from_fn(q, 1, |seat, _| means[seat + 1] - means[0]);
    let spread = Matrix::from_fn(q, q, |i, j| {
        covariance[(i + 1, j + 1)] - covariance[(i + 1, 0)] - covariance[(0, j + 1)] + covariance[(0, 0)]
    });
    let wald = spread.cholesky().map_or(0.0, |root| effects.dot(&root.solve(&effects)));
    let (q, rest) = (q as f64, deals as f64 - q as f64);
    (found, rest >= 1.0 && f_tail(wald * rest / (q * (deals as f64 - 1.0)), q, rest) < 0.05)
}

/// The rows of one match: for each seat its agent, its rank, and its rank points and win in units.
type Match = Vec<(String, usize, i64, i64)>;

/// The matches of each table, that is, rules and seats, by lineup and deal.
type Tables = BTreeMap<(String, usize), BTreeMap<String, BTreeMap<u64, Vec<Match>>>>;

fn read(path: &str) -> Result<Tables, Box<dyn Error>> {
    let mut rows = csv::Reader::from_path(path)?;
    let header = rows.headers()?.clone();
    let column =
        |name: &str| header.iter().position(|field| field == name).ok_or(format!("{path} has no column {name}"));
    let names = ["rules", "seats", "lineup", "deal", "seat", "agent", "rank", "rank_points", "win_share"];
    let columns = names.map(column).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut tables = Tables::new();
    let mut row = csv::StringRecord::new();
    while rows.read_record(&mut row)? {
        let cell = |index: usize| &row[columns[index]];
        let seats: usize = cell(1).parse()?;
        let table = tables.entry((cell(0).to_owned(), seats)).or_default();
        let matches = table.entry(cell(2).to_owned()).or_default().entry(cell(3).parse()?).or_default();
        if cell(4) == "a" {
            matches.push(Match::new());
        }
        let in_units = |index: usize, unit: i64| {
            Ok::<_, Box<dyn Error>>((cell(index).parse::<f64>()? * unit as f64).round() as i64)
        };
        let result = (cell(5).to_owned(), cell(6).parse()?, in_units(7, units(seats))?, in_units(8, WIN)?);
        matches.last_mut().ok_or("a match must begin with seat a")?.push(result);
    }
    Ok(tables)
}

/// The deals of these lineups, and the names of their agents.
fn pooled<'a>(seats: usize, lineups: impl Iterator<Item = &'a BTreeMap<u64, Vec<Match>>>) -> (Vec<Deal>, Vec<&'a str>) {
    let lineups: Vec<_> = lineups.collect();
    let all = |deals: &'a BTreeMap<u64, Vec<Match>>| deals.values().flatten().flatten();
    let mut agents: Vec<&str> = lineups.iter().flat_map(|deals| all(deals)).map(|result| result.0.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    let zeros = vec![0; agents.len()];
    let mut deals: BTreeMap<u64, Deal> = BTreeMap::new();
    for (&number, game) in lineups
        .iter()
        .flat_map(|deals| deals.iter())
        .flat_map(|(number, games)| games.iter().map(move |game| (number, game)))
    {
        let deal = deals.entry(number).or_insert_with(|| Deal {
            n: zeros.clone(),
            points: zeros.clone(),
            wins: zeros.clone(),
            seats: vec![0; seats],
            ..Deal::default()
        });
        let index = |name: &str| agents.binary_search(&name).expect("the agent is in the list");
        for (seat, (name, _, points, win)) in game.iter().enumerate() {
            let agent = index(name);
            deal.n[agent] += 1;
            deal.points[agent] += points;
            deal.wins[agent] += win;
            deal.seats[seat] += points;
        }
        deal.matches += 1;
        deal.rankings.push(Ranking::new(game.iter().map(|(name, rank, ..)| (index(name), *rank))));
    }
    (deals.into_values().collect(), agents)
}

/// Runs the jobs on all cores, and returns their results in order.
fn in_parallel<T: Send>(jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = Mutex::new(0..jobs);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(number) = { next.lock().expect("no job panics").next() } {
                    let result = job(number);
                    results.lock().expect("no job panics").insert(number, result);
                }
            });
        }
    });
    results.into_inner().expect("no job panics").into_values().collect()
}

const COLUMNS: [&str; 10] =
    ["hall", "wilson", "t", "win_hall", "win_wilson", "win_t", "rating", "together", "seat_test", "hotelling"];

/// A row of the table: the mean of each column, its least and its greatest share.
fn row(csv: &mut String, head: &str, counts: &Counts) {
    csv.push_str(head);
    for column in COLUMNS {
        let shares: Vec<f64> = counts.get(column).into_iter().flatten().map(|count| count.share()).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let (least, most) =
            shares.iter().fold((1.0_f64, 0.0_f64), |(least, most), share| (least.min(*share), most.max(*share)));
        if shares.is_empty() {
            csv.push_str(",,,");
        } else {
            write!(csv, ",{mean:.4},{least:.4},{most:.4}").expect("memory writes succeed");
        }
    }
    csv.push('\n');
    eprintln!("{}", csv.lines().last().unwrap_or_default());
}

fn main() -> Result<(), Box<dyn Error>> {
    let (chosen, words): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.contains('='));
    let usage = "usage: coverage FOLDER REPETITIONS [rows=PLAYERS.CSV] [seats=] [deals=] [field=] [seed=]";
    let [folder, repetitions] = &words[..] else { return Err(usage.into()) };
    let (folder, repetitions) = (PathBuf::from(folder), repetitions.parse::<u32>()?);
    let value = |name: &str| chosen.iter().filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name);
    let is_chosen =
        |name: &str, found: &str| value(name).is_none_or(|(_, wanted)| wanted.split(',').any(|wanted| wanted == found));
    let seed: u64 = value("seed").map_or(SEED, |(_, seed)| seed).parse()?;
    let all_deals = || DEALS.into_iter().filter(|deals| is_chosen("deals", &deals.to_string()));
    let heads: String =
        COLUMNS.iter().flat_map(|column| [",", column, ",", column, "_least,", column, "_most"]).collect();
    let mut csv = String::new();
    if let Some((_, rows)) = value("rows") {
        writeln!(csv, "rules,seats,lineups,deals,repetitions{heads}")?;
        for ((rules, seats), lineups) in
            read(rows)?.iter().filter(|((_, seats), _)| is_chosen("seats", &seats.to_string()))
        {
            let alone = lineups.values().map(|deals| pooled(*seats, std::iter::once(deals)).0);
            let alone: Vec<Population> = alone.map(Population::stored).collect();
            let together = vec![Population::stored(pooled(*seats, lineups.values()).0)];
            for (name, populations) in [("one", &alone), ("all", &together)] {
                for deals in all_deals() {
                    let found = in_parallel(populations.len(), |index| {
                        let rng = stream(seed, &format!("{rules} {seats} {name} {index} {deals}"));
                        repeat(&populations[index], deals, repetitions, rng)
                    });
                    let mut counts = Counts::new();
                    for (column, list) in found.into_iter().flatten() {
                        counts.entry(column).or_default().extend(list);
                    }
                    row(&mut csv, &format!("{rules},{seats},{name},{deals},{repetitions}"), &counts);
                }
            }
        }
    } else {
        writeln!(csv, "seats,deals,field,repetitions{heads}")?;
        let fields = [("equal", 0.0), ("close", 0.4), ("far", 1.2)];
        let settings: Vec<(usize, &str, f64)> = [2, 4, 8]
            .into_iter()
            .flat_map(|seats| fields.map(|(name, reach)| (seats, name, reach)))
            .filter(|(seats, name, _)| is_chosen("seats", &seats.to_string()) && is_chosen("field", name))
            .collect();
        let found = in_parallel(settings.len(), |index| {
            let (seats, name, reach) = settings[index];
            let population = Population::field(seats, reach, seed);
            let counts =
                |deals| repeat(&population, deals, repetitions, stream(seed, &format!("{seats} {name} {deals}")));
            all_deals().map(|deals| (deals, counts(deals))).collect::<Vec<_>>()
        });
        for ((seats, name, _), of_deals) in settings.iter().zip(found) {
            for (deals, counts) in of_deals {
                row(&mut csv, &format!("{seats},{deals},{name},{repetitions}"), &counts);
            }
        }
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("coverage.csv"), csv)?;
    Ok(())
}
