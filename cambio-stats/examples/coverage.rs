//! Simulates the coverage of intervals and the false rejections of tests: `coverage FOLDER [REPETITIONS]`. Further
//! arguments such as `seats=8`, `deals=100`, `field=equal` and `seed=1` select settings and another seed.
//!
//! Each deal has random luck for each seat, which all its rotations share. Each agent has a strength, random luck with
//! the deal, and random luck with each match. Agents are ranked by the sum, rounded to a quarter, so that some tie. The
//! number of agents equals the number of seats, and each agent plays in every seat of every deal. The true mean of an
//! agent is one half if all are equal, otherwise it is estimated from sixteen million simulated seats.
//!
//! `coverage.csv` lists, for each setting, in which share of the repetitions the intervals contained the true values,
//! intervals by widely used methods did so for the same numbers, and the tests found seat effects that do not exist.
//! Each repetition has its own random stream.

use std::fmt::Write as _;
use std::path::PathBuf;

use cambio_stats::simultaneous::{Contrasts, SimultaneousIntervals};
use cambio_stats::{Joint, Matrix, ResampleRng as _, Support, f_tail, hotelling, t_quantile};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

const SEED: &str = "2026";
const SEATS_FOR_TRUTH: u64 = 16_000_000;
const LUCK: f64 = 1.0;
const OF_DEAL: f64 = 0.3;
const OF_MATCH: f64 = 0.7;

/// Agents with evenly spaced strengths from `-reach` to `reach`.
struct Field {
    name: &'static str,
    reach: f64,
}

impl Field {
    fn number(&self, seats: usize) -> u64 {
        seats as u64 * 1_000_003 + (self.reach * 10.0) as u64
    }
}

const FIELDS: [Field; 3] =
    [Field { name: "equal", reach: 0.0 }, Field { name: "close", reach: 0.4 }, Field { name: "far", reach: 1.2 }];

fn strengths(seats: usize, reach: f64) -> Vec<f64> {
    (0..seats).map(|agent| reach * (2.0 * agent as f64 / (seats as f64 - 1.0) - 1.0)).collect()
}

/// Plays a deal in all rotations: for each agent, then for each seat, the sum of rank points in units of 1 / (2 (N − 1)).
fn deal(strengths: &[f64], rng: &mut ChaCha8Rng) -> Vec<i64> {
    let seats = strengths.len();
    let luck: Vec<f64> = (0..seats).map(|_| LUCK * rng.normal()).collect();
    let of_deal: Vec<f64> = (0..seats).map(|_| OF_DEAL * rng.normal()).collect();
    let mut sums = vec![0; 2 * seats];
    for rotation in 0..seats {
        let agent = |seat: usize| (seat + rotation) % seats;
        let mut points: Vec<i64> = Vec::new();
        for seat in 0..seats {
            let sum = strengths[agent(seat)] + of_deal[agent(seat)] + luck[seat] + OF_MATCH * rng.normal();
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
            sums[agent(seat)] += beaten;
            sums[seats + seat] += beaten;
        }
    }
    sums
}

/// The factor of simultaneous intervals in most packages: a multivariate t with one common standard error (Hothorn,
/// Bretz and Westfall 2008), here from 10,000 draws.
fn common_error(covariance: &Matrix, freedom: f64, rng: &mut ChaCha8Rng) -> f64 {
    let size = covariance.nrows();
    let eigen = covariance.clone().symmetric_eigen();
    let root = eigen.eigenvectors * Matrix::from_diagonal(&eigen.eigenvalues.map(|value| value.max(0.0).sqrt()));
    let mut largest: Vec<f64> = (0..10_000)
        .map(|_| {
            let drawn = &root * Matrix::from_fn(size, 1, |_, _| rng.normal());
            // Chi-square divided by its degrees of freedom (Wilson and Hilferty 1931).
            let part = 2.0 / (9.0 * freedom);
            let chi = (1.0 - part + rng.normal() * part.sqrt()).powi(3).max(1e-9);
            let mut most: f64 = 0.0;
            for one in 0..size {
                for other in one + 1..size {
                    let variance = covariance[(one, one)] + covariance[(other, other)] - 2.0 * covariance[(one, other)];
                    if variance > 0.0 {
                        most = most.max((drawn[one] - drawn[other]).abs() / variance.sqrt());
                    }
                }
            }
            most / chi.sqrt()
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    largest[9499]
}

/// How often each interval contained the true value, or each test rejected its null hypothesis.
#[derive(Default)]
struct Counts {
    score: Vec<u32>,
    t: Vec<u32>,
    together: u32,
    common: u32,
    hotelling: u32,
    chi_square: u32,
}

/// The mean rank points of each agent: one half if all are equal, and otherwise from sixteen million seats. Luck is
/// symmetric, so an agent is as far above one half as the agent at the other end of the field is below it.
fn truths(field: &Field, seats: usize, seed: u64) -> Vec<f64> {
    if field.reach == 0.0 {
        return vec![0.5; seats];
    }
    let strengths = strengths(seats, field.reach);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + field.number(seats));
    let deals = SEATS_FOR_TRUTH / seats as u64;
    let mut sums = vec![0; seats];
    for _ in 0..deals {
        sums.iter_mut().zip(deal(&strengths, &mut rng)).for_each(|(sum, own)| *sum += own);
    }
    let all = (deals * seats as u64) as f64 * 2.0 * (seats as f64 - 1.0);
    let mean = |agent: usize| sums[agent] as f64 / all;
    (0..seats).map(|agent| (mean(agent) + 1.0 - mean(seats - 1 - agent)) / 2.0).collect()
}

fn repeat(field: &Field, truths: &[f64], deals: u64, repetitions: u32, seed: u64) -> Counts {
    let seats = truths.len();
    let strengths = strengths(seats, field.reach);
    let (units, matches) = (2.0 * (seats as f64 - 1.0), seats as i64);
    let number = field.number(seats);
    let truth = |agent: usize| truths[agent];
    let mut counts = Counts { score: vec![0; seats], t: vec![0; seats], ..Counts::default() };
    for repetition in 0..repetitions {
        let mut rng =
            ChaCha8Rng::seed_from_u64(seed + number * 1_000_000_007 + deals * 1_000_003 + u64::from(repetition));
        let mut joint = Joint::new(2 * seats);
        for _ in 0..deals {
            joint.add(&vec![matches; 2 * seats], &deal(&strengths, &mut rng));
        }
        let covariance = |from: usize| {
            let of = |i: usize, j: usize| joint.covariance(from + i, from + j).expect("two deals") / (units * units);
            Matrix::from_fn(seats, seats, of)
        };
        let of_agents = covariance(0);
        let t = t_quantile(0.975, deals as f64 - 1.0);
        for agent in 0..seats {
            let (mean, error) = (joint.mean(agent).expect("it played") / units, of_agents[(agent, agent)].sqrt());
            let interval = cambio_stats::Interval::new(mean, Some(error), deals, Support::Share);
            counts.score[agent] += u32::from(holds(interval.low().zip(interval.high()), truth(agent)));
            counts.t[agent] += u32::from(holds(Some((mean - t * error, mean + t * error)), truth(agent)));
        }
        let together = SimultaneousIntervals::new(&of_agents, Contrasts::Pairs, &mut rng).expect("there are pairs");
        let common = common_error(&of_agents, deals as f64 - 1.0, &mut rng);
        let (mut all_hold, mut all_hold_in_common) = (true, true);
        for one in 0..seats {
            for other in one + 1..seats {
                let (difference, _) = joint.difference(one, other, units, Support::Difference).expect("both played");
                let expected = truth(one) - truth(other);
                all_hold &= holds(together.ends(&difference), expected);
                let half = common * difference.error.expect("two deals");
                all_hold_in_common &= holds(Some((difference.mean - half, difference.mean + half)), expected);
            }
        }
        counts.together += u32::from(all_hold);
        counts.common += u32::from(all_hold_in_common);
        // The advantage of each seat over the first: every agent sat in every seat equally often.
        let of_seats = covariance(seats);
        let mean = |seat: usize| joint.mean(seats + seat).expect("the seat was played") / units;
        let effects: Vec<f64> = (1..seats).map(|seat| mean(seat) - mean(0)).collect();
        let spread = Matrix::from_fn(seats - 1, seats - 1, |i, j| {
            of_seats[(i + 1, j + 1)] - of_seats[(i + 1, 0)] - of_seats[(0, j + 1)] + of_seats[(0, 0)]
        });
        counts.hotelling += u32::from(hotelling::test(&effects, &spread, deals).is_some_and(|test| test.p < 0.05));
        let column = Matrix::from_column_slice(seats - 1, 1, &effects);
        let wald = spread.cholesky().map_or(0.0, |root| column.dot(&root.solve(&column)));
        let freedom = seats as f64 - 1.0;
        counts.chi_square += u32::from(f_tail(wald / freedom, freedom, 1e9) < 0.05);
    }
    counts
}

fn holds(ends: Option<(f64, f64)>, truth: f64) -> bool {
    ends.is_some_and(|(low, high)| low <= truth && truth <= high)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (chosen, words): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.contains('='));
    let folder =
        PathBuf::from(words.first().ok_or("usage: coverage FOLDER [REPETITIONS] [seats=] [deals=] [field=] [seed=]")?);
    let repetitions: u32 = words.get(1).map_or(Ok(2000), |word| word.parse())?;
    let value = |name: &str| chosen.iter().filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name);
    let is_chosen = |name: &str, found: &str| value(name).is_none_or(|(_, wanted)| wanted == found);
    let seed: u64 = value("seed").map_or(SEED, |(_, seed)| seed).parse()?;
    let mut csv = String::from(
        "seats,deals,field,repetitions,score,score_least,t,t_least,together,common_error,hotelling,chi_square\n",
    );
    for seats in [2, 4, 8].into_iter().filter(|seats| is_chosen("seats", &seats.to_string())) {
        for field in FIELDS.iter().filter(|field| is_chosen("field", field.name)) {
            let truths = truths(field, seats, seed);
            for deals in [5, 12, 30, 100].into_iter().filter(|deals: &u64| is_chosen("deals", &deals.to_string())) {
                let counts = repeat(field, &truths, deals, repetitions, seed);
                let share = |count: u32| f64::from(count) / f64::from(repetitions);
                let mean = |counts: &[u32]| share(counts.iter().sum()) / counts.len() as f64;
                let least = |counts: &[u32]| share(counts.iter().copied().min().unwrap_or(0));
                let name = field.name;
                write!(
                    csv,
                    "{seats},{deals},{name},{repetitions},{:.4},{:.4},",
                    mean(&counts.score),
                    least(&counts.score)
                )?;
                write!(csv, "{:.4},{:.4},", mean(&counts.t), least(&counts.t))?;
                write!(csv, "{:.4},{:.4},", share(counts.together), share(counts.common))?;
                writeln!(csv, "{:.4},{:.4}", share(counts.hotelling), share(counts.chi_square))?;
                eprintln!("{}", csv.lines().last().unwrap_or_default());
            }
        }
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("coverage.csv"), csv)?;
    Ok(())
}
