//! Many comparisons at once: simultaneous intervals and Holm's correction.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rand::Rng;

use crate::resampling::Draw as _;

/// How many draws a simultaneous quantile is from.
const DRAWS: usize = 10_000;

/// Draws from a joint distribution of estimates: normal with this covariance, over a common chi.
///
/// Centred at 0; with `freedom` degrees of freedom it is the multivariate t of Dunnett 1955.
struct Draws {
    root: DMatrix<f64>,
    freedom: f64,
}

impl Draws {
    fn new(covariance: &DMatrix<f64>, freedom: f64) -> Draws {
        let eigen = SymmetricEigen::new(covariance.clone());
        let roots = eigen.eigenvalues.map(|value| value.max(0.0).sqrt());
        Draws { root: eigen.eigenvectors * DMatrix::from_diagonal(&roots), freedom }
    }

    /// So many draws, one after the other, handed to `take`.
    fn for_each(&self, count: usize, rng: &mut impl Rng, mut take: impl FnMut(&DVector<f64>)) {
        let mut normal = DVector::zeros(self.root.ncols());
        let mut drawn = DVector::zeros(self.root.nrows());
        for _ in 0..count {
            for number in normal.iter_mut() {
                *number = rng.normal();
            }
            self.root.mul_to(&normal, &mut drawn);
            drawn /= (chi_square(self.freedom, rng) / self.freedom).sqrt();
            take(&drawn);
        }
    }
}

/// A chi-square number (Marsaglia and Tsang 2000, "A simple method for generating gamma variables").
fn chi_square(freedom: f64, rng: &mut impl Rng) -> f64 {
    let shape = freedom / 2.0;
    // Below 1 from one more (their section 6).
    let (used, boost) = if shape < 1.0 { (shape + 1.0, rng.uniform().powf(1.0 / shape)) } else { (shape, 1.0) };
    let d = used - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = rng.normal();
        let cube = (1.0 + c * normal).powi(3);
        if cube > 0.0 && rng.uniform().ln() < 0.5 * normal * normal + d - d * cube + d * cube.ln() {
            return 2.0 * d * cube * boost;
        }
    }
}

/// Contrasts of estimates: the estimates themselves, or all differences of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contrasts {
    /// Each estimate by itself.
    Single,
    /// Each pair's difference.
    Pairs,
}

/// The factor by which standard errors are multiplied so that all intervals hold together with probability `level`: the
/// quantile of the largest |t| (Hothorn, Bretz and Westfall 2008, "Simultaneous inference in general parametric models",
/// by a parametric bootstrap). Estimates without variance do not count; `None` if none has any.
pub fn simultaneous_factor(
    covariance: &DMatrix<f64>,
    freedom: f64,
    contrasts: Contrasts,
    level: f64,
    rng: &mut impl Rng,
) -> Option<f64> {
    let size = covariance.nrows();
    let pairs: Vec<(usize, Option<usize>)> = match contrasts {
        Contrasts::Single => (0..size).map(|one| (one, None)).collect(),
        Contrasts::Pairs => (0..size).flat_map(|one| (one + 1..size).map(move |other| (one, Some(other)))).collect(),
    };
    let deviation = |&(one, other): &(usize, Option<usize>)| {
        let own = covariance[(one, one)];
        let variance = other.map_or(own, |other| own + covariance[(other, other)] - 2.0 * covariance[(one, other)]);
        (variance > 1e-300).then(|| variance.sqrt())
    };
    let used: Vec<_> = pairs.iter().filter_map(|pair| Some((pair.0, pair.1, deviation(pair)?))).collect();
    if used.is_empty() || freedom < 1.0 {
        return None;
    }
    let mut largest = Vec::with_capacity(DRAWS);
    Draws::new(covariance, freedom).for_each(DRAWS, rng, |estimates| {
        let size = |&(one, other, deviation): &(usize, Option<usize>, f64)| {
            (estimates[one] - other.map_or(0.0, |other| estimates[other])).abs() / deviation
        };
        largest.push(used.iter().map(size).fold(0.0, f64::max));
    });
    Some(quantile(&mut largest, level))
}

/// The least of as many numbers as there are draws that a share `level` of them does not exceed. Changes their order.
fn quantile(numbers: &mut [f64], level: f64) -> f64 {
    let place = ((level * DRAWS as f64).ceil() as usize).min(DRAWS) - 1;
    *numbers.select_nth_unstable_by(place, f64::total_cmp).1
}

/// P-values corrected for being many (Holm 1979, "A simple sequentially rejective multiple test procedure").
///
/// # Examples
/// ```
/// use cambio_stats::simultaneous::holm;
///
/// // The smallest is multiplied by three, the next by two; none becomes smaller than one before it.
/// assert_eq!(holm(&[0.01, 0.5, 0.03]), [0.03, 0.5, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut most: f64 = 0.0;
    for (place, &test) in order.iter().enumerate() {
        most = most.max((p_values.len() - place) as f64 * p_values[test]).min(1.0);
        corrected[test] = most;
    }
    corrected
}

/// Who cannot be told from the best: i is out if another's mean is above its own by more than chance gives the largest of
/// such differences (Edwards and Hsu 1983, "Multiple comparisons with the best treatment", eq. 2.2, with the joint
/// distribution by simulation). The best is in the set with probability `level` or more.
///
/// # Examples
/// ```
/// use cambio_stats::simultaneous::best_set;
/// use nalgebra::DMatrix;
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
///
/// // Three means whose standard errors are 0.1: the second is close to the best, the third is not.
/// let covariance = DMatrix::identity(3, 3) * 0.01;
/// let best = best_set(&[1.0, 0.95, 0.2], &covariance, 100.0, 0.95, &mut ChaCha8Rng::seed_from_u64(1));
/// assert_eq!(best, [true, true, false]);
/// ```
pub fn best_set(means: &[f64], covariance: &DMatrix<f64>, freedom: f64, level: f64, rng: &mut impl Rng) -> Vec<bool> {
    let size = means.len();
    let deviation = |i: usize, l: usize| {
        let variance: f64 = covariance[(i, i)] + covariance[(l, l)] - 2.0 * covariance[(i, l)];
        variance.max(0.0).sqrt()
    };
    let mut samples = Vec::with_capacity(DRAWS);
    Draws::new(covariance, freedom.max(1.0)).for_each(DRAWS, rng, |sample| samples.push(sample.clone()));
    let is_in = |i: usize| {
        let rivals: Vec<(usize, f64)> = (0..size).filter(|&l| l != i).map(|l| (l, deviation(i, l))).collect();
        let (varying, fixed): (Vec<_>, Vec<_>) = rivals.into_iter().partition(|rival| rival.1 > 1e-150);
        if fixed.iter().any(|&(l, _)| means[l] > means[i]) {
            return false;
        }
        let largest = |sample: &DVector<f64>| {
            varying.iter().map(|&(l, deviation)| (sample[l] - sample[i]) / deviation).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut sizes: Vec<f64> = samples.iter().map(largest).collect();
        let factor = quantile(&mut sizes, level);
        varying.iter().all(|&(l, deviation)| means[l] - means[i] <= factor * deviation)
    };
    (0..size).map(is_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::stream;

    /// Reference: `statsmodels.stats.multitest.multipletests(method="holm")`.
    #[test]
    fn holm_multiplies_and_keeps_the_order() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.5]);
        for (found, expected) in corrected.iter().zip([0.04, 0.09, 0.09, 0.5]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn one_contrast_has_the_quantile_of_t_and_independent_ones_that_of_sidak() {
        let mut rng = stream(1, 1);
        let one = DMatrix::from_element(1, 1, 4.0);
        let factor = simultaneous_factor(&one, 10.0, Contrasts::Single, 0.95, &mut rng).unwrap();
        assert!((factor - 2.228).abs() < 0.08, "{factor}");
        let five = DMatrix::identity(5, 5);
        let factor = simultaneous_factor(&five, 1e9, Contrasts::Single, 0.95, &mut rng).unwrap();
        assert!((factor - 2.569).abs() < 0.06, "{factor}");
        // Three groups' differences, Tukey's studentized range: 3.314 / sqrt 2.
        let three = DMatrix::identity(3, 3);
        let factor = simultaneous_factor(&three, 1e9, Contrasts::Pairs, 0.95, &mut rng).unwrap();
        assert!((factor - 3.314 / 2.0_f64.sqrt()).abs() < 0.06, "{factor}");
    }
}
