//! Optimisation of several parameters: CMA-ES on common random numbers.

use rand::Rng;

use crate::matrix::{Matrix, Vector};
use crate::resampling::ResampleRng as _;

/// A CMA-ES search in the unit cube for the point with the highest score (Hansen 2016, "The CMA evolution strategy: a
/// tutorial", figure 6, with the default parameters of table 1; points outside the cube are moved to its edge before
/// they are scored).
///
/// # Examples
/// ```
/// use cambio_stats::search::CmaEs;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// // The best point of the unit square is at (0.2, 0.7).
/// let mut search = CmaEs::new(2, ChaCha8Rng::seed_from_u64(1));
/// for _ in 0..80 {
///     let score = |point: &Vec<f64>| -(point[0] - 0.2).powi(2) - (point[1] - 0.7).powi(2);
///     search.step(|points| Ok::<_, ()>(points.iter().map(score).collect())).unwrap();
/// }
/// let centre = search.centre();
/// assert!((centre[0] - 0.2).abs() < 0.01 && (centre[1] - 0.7).abs() < 0.01);
/// ```
#[derive(Clone, Debug)]
pub struct CmaEs<R> {
    mean: Vector,
    sigma: f64,
    covariance: Matrix,
    path: Vector,
    path_sigma: Vector,
    generation: u32,
    rng: R,
}

impl<R: Rng> CmaEs<R> {
    /// Creates a search in this many dimensions, from the middle of the cube.
    pub fn new(dimensions: usize, rng: R) -> CmaEs<R> {
        CmaEs {
            mean: Vector::repeat(dimensions, 0.5),
            sigma: 0.3,
            covariance: Matrix::identity(dimensions, dimensions),
            path: Vector::zeros(dimensions),
            path_sigma: Vector::zeros(dimensions),
            generation: 0,
            rng,
        }
    }

    /// The number of points in a generation.
    pub(crate) fn population(&self) -> usize {
        4 + (3.0 * libm::log(self.mean.len() as f64)).floor() as usize
    }

    /// The current mean, clamped to the unit cube.
    pub fn centre(&self) -> Vec<f64> {
        self.mean.iter().map(|place| place.clamp(0.0, 1.0)).collect()
    }

    /// The largest standard deviation of a coordinate.
    pub fn spread(&self) -> f64 {
        self.sigma * self.covariance.diagonal().max().sqrt()
    }

    /// Runs one generation: draws points, passes all of them to one call of `score`, and updates the distribution.
    ///
    /// # Errors
    /// If `score` fails.
    pub fn step<E>(&mut self, score: impl FnOnce(&[Vec<f64>]) -> Result<Vec<f64>, E>) -> Result<(), E> {
        let n = self.mean.len() as f64;
        let population = self.population();
        let parents = population / 2;
        let middle = libm::log(f64::midpoint(population as f64, 1.0));
        let raw: Vec<f64> = (1..=parents).map(|place| middle - libm::log(place as f64)).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let c_sigma = (effective + 2.0) / (n + effective + 5.0);
        let damping = 1.0 + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_path = (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n);
        let c_one = 2.0 / ((n + 1.3).powi(2) + effective);
        let c_mu = (1.0 - c_one).min(2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0).powi(2) + effective));
        let chi = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));

        let mut eigen = self.covariance.clone().symmetric_eigen();
        eigen.eigenvalues.apply(|value| *value = value.max(1e-20).sqrt());
        let root = &eigen.eigenvectors * Matrix::from_diagonal(&eigen.eigenvalues);
        eigen.eigenvalues.apply(|value| *value = 1.0 / *value);
        let inverse_root = eigen.recompose();
        let (rng, mean, sigma) = (&mut self.rng, &self.mean, self.sigma);
        let steps: Vec<Vector> = (0..population)
            .map(|_| {
                let step = &root * Vector::from_fn(mean.len(), |_, _| rng.normal());
                mean.zip_map(&step, |place, step| ((place + step * sigma).clamp(0.0, 1.0) - place) / sigma)
            })
            .collect();
        let points: Vec<Vec<f64>> = steps.iter().map(|step| (mean + step * sigma).data.into()).collect();
        let scores = score(&points)?;
        let mut order: Vec<usize> = (0..population).collect();
        order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]).then(one.cmp(&other)));

        let moved: Vector = weights.iter().zip(&order).map(|(weight, &place)| &steps[place] * *weight).sum();
        self.mean += &moved * self.sigma;
        self.generation += 1;
        let turn = (c_sigma * (2.0 - c_sigma) * effective).sqrt();
        self.path_sigma = &self.path_sigma * (1.0 - c_sigma) + inverse_root * &moved * turn;
        let norm = self.path_sigma.norm();
        let expected = (1.0 - (1.0 - c_sigma).powi(2 * self.generation as i32)).sqrt();
        let stalled = norm / expected / chi >= 1.4 + 2.0 / (n + 1.0);
        let pull = if stalled { 0.0 } else { (c_path * (2.0 - c_path) * effective).sqrt() };
        self.path = &self.path * (1.0 - c_path) + moved * pull;
        let lost = if stalled { c_one * c_path * (2.0 - c_path) } else { 0.0 };
        self.covariance.ger(c_one, &self.path, &self.path, 1.0 - c_one - c_mu + lost);
        for (weight, &place) in weights.iter().zip(&order) {
            self.covariance.ger(c_mu * weight, &steps[place], &steps[place], 1.0);
        }
        self.sigma *= libm::exp(c_sigma / damping * (norm / chi - 1.0));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
