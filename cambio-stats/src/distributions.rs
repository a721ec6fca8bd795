//! The distributions of tests and intervals, from the error function and the log-gamma function in `libm`.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use libm::{exp, lgamma, log, log1p};

/// The quantile of Student's t with this many degrees of freedom; of the normal distribution if they are infinite.
///
/// # Panics
/// If the degrees of freedom are not positive.
///
/// # Examples
/// ```
/// use cambio_stats::t_quantile;
///
/// // The half-width of a 95 % interval with 4 degrees of freedom, in standard errors.
/// assert!((t_quantile(0.975, 4.0) - 2.776).abs() < 1e-3);
/// ```
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    // Above this number, the expansion is exact to double precision (Abramowitz and Stegun 1964, 26.7.5).
    const MANY: f64 = 1e5;
    if freedom > MANY {
        let z = normal_quantile(probability);
        let (square, nu) = (z * z, freedom);
        return z
            + z * (square + 1.0) / (4.0 * nu)
            + z * (5.0 * square * square + 16.0 * square + 3.0) / (96.0 * nu * nu);
    }
    assert!(freedom > 0.0, "degrees of freedom must be positive");
    let tail = probability.min(1.0 - probability);
    let mut t = -normal_quantile(tail);
    // Newton's method in ln t for the logarithm of the tail, which is concave in ln t: from the second step on the
    // iteration converges from the right.
    for step in 0..100 {
        if t == 0.0 || t.is_infinite() {
            break;
        }
        let (x, y) = shares(freedom, t * t);
        let found = beta(freedom / 2.0, 0.5, x, y) / 2.0;
        let by = log(found / tail) * found / beta_factor(freedom / 2.0, 0.5, x, y);
        t *= exp(by);
        if by.abs() < 1e-15 || step > 0 && by > 0.0 {
            break;
        }
    }
    if probability < 0.5 { -t } else { t }
}

/// The two-sided p-value of a t statistic; of a normal statistic if the degrees of freedom are infinite.
///
/// # Panics
/// If the degrees of freedom are not positive.
///
/// # Examples
/// ```
/// assert!((cambio_stats::t_p_value(-2.776, 4.0) - 0.05).abs() < 1e-4);
/// assert_eq!(cambio_stats::t_p_value(f64::INFINITY, f64::INFINITY), 0.0);
/// ```
pub fn t_p_value(statistic: f64, freedom: f64) -> f64 {
    assert!(freedom > 0.0, "degrees of freedom must be positive");
    if freedom.is_infinite() {
        return 2.0 * normal_cdf(-statistic.abs());
    }
    let (x, y) = shares(freedom, statistic * statistic);
    beta(freedom / 2.0, 0.5, x, y)
}

/// The upper tail of the F distribution: the probability that F exceeds a statistic.
///
/// # Panics
/// If the degrees of freedom are not positive.
///
/// # Examples
/// ```
/// assert!((cambio_stats::f_tail(3.98, 2.0, 11.0) - 0.05).abs() < 1e-3);
/// ```
pub fn f_tail(statistic: f64, numerator: f64, denominator: f64) -> f64 {
    assert!(numerator > 0.0 && denominator > 0.0, "degrees of freedom must be positive");
    let (x, y) = shares(denominator, numerator * statistic.max(0.0));
    beta(denominator / 2.0, numerator / 2.0, x, y)
}

/// The distribution function of chi-square with this many degrees of freedom.
pub(crate) fn chi_square_cdf(at: f64, freedom: f64) -> f64 {
    gamma(freedom / 2.0, at / 2.0)
}

/// Two numbers, each divided by their sum.
fn shares(one: f64, other: f64) -> (f64, f64) {
    (1.0 / (1.0 + other / one), 1.0 / (1.0 + one / other))
}

/// xᵃ yᵇ / B(a, b).
fn beta_factor(a: f64, b: f64, x: f64, y: f64) -> f64 {
    // Near 1 the logarithm is computed from the distance to 1.
    let ln = |number: f64, other: f64| if number < 0.5 { log(number) } else { log1p(-other) };
    exp(a * ln(x, y) + b * ln(y, x) + lgamma(a + b) - lgamma(a) - lgamma(b))
}

/// The regularized incomplete beta function I(x; a, b), where y is 1 − x (DLMF 8.17.22).
pub(crate) fn beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // If the continued fraction does not converge fast for this tail, it does for the other tail.
    let is_upper = x > (a + 1.0) / (a + b + 2.0);
    let (a, b, x, y) = if is_upper { (b, a, y, x) } else { (a, b, x, y) };
    let numerator = |n: f64| {
        let half = (n / 2.0).floor();
        let part = if n % 2.0 == 0.0 { half * (b - half) } else { -(a + half) * (a + b + half) };
        part * x / ((a + n - 1.0) * (a + n))
    };
    let found = beta_factor(a, b, x, y) / a / continued_fraction(1.0, |n| (numerator(n), 1.0));
    if is_upper { 1.0 - found } else { found }
}

/// The regularized lower incomplete gamma function P(a, x) (DLMF 8.11.4 and 8.9.2).
fn gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 || x.is_infinite() {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let factor = exp(a * log(x) - x - lgamma(a));
    if x > a + 1.0 {
        return 1.0 - factor / continued_fraction(x + 1.0 - a, |n| (n * (a - n), x + 2.0 * n + 1.0 - a));
    }
    let (mut term, mut sum, mut below) = (1.0 / a, 1.0 / a, a);
    while term > f64::EPSILON * sum {
        below += 1.0;
        term *= x / below;
        sum += term;
    }
    factor * sum
}

/// b₀ + a₁ / (b₁ + a₂ / (b₂ + …)) from b₀ and the pairs (aₙ, bₙ), by Lentz's method (Thompson and Barnett 1986, "Coulomb and Bessel
/// functions of complex arguments and order").
fn continued_fraction(first: f64, terms: impl Fn(f64) -> (f64, f64)) -> f64 {
    let nonzero = |number: f64| if number == 0.0 { 1e-300 } else { number };
    let mut value = nonzero(first);
    let (mut c, mut d) = (value, 0.0);
    for n in 1..100_000 {
        let (a, b) = terms(f64::from(n));
        d = 1.0 / nonzero(b + a * d);
        c = nonzero(b + a / c);
        value *= c * d;
        if value.is_nan() || (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// The power of a two-sided t test at level `alpha`: the probability that it rejects if the statistic has a noncentral
/// t distribution. The noncentrality is the effect divided by its standard error.
///
/// Integrates the normal distribution over the chi-square of the standard error (Johnson, Kotz and Balakrishnan 1995,
/// "Continuous univariate distributions", volume 2, section 31.1).
///
/// # Panics
/// If the degrees of freedom are not positive, or the level is not between 0 and 1.
///
/// # Examples
/// ```
/// // Five clusters, and an effect of two standard deviations of a cluster.
/// let power = cambio_stats::t_power(2.0 * 5_f64.sqrt(), 4.0, 0.05);
/// assert!((power - 0.909).abs() < 1e-3);
/// ```
pub fn t_power(noncentrality: f64, freedom: f64, alpha: f64) -> f64 {
    let critical = t_quantile(1.0 - alpha / 2.0, freedom);
    let rejects =
        |error: f64| normal_cdf(noncentrality - critical * error) + normal_cdf(-noncentrality - critical * error);
    // `error` is the ratio of the estimated to the true standard error. Its square is chi-square divided by the degrees
    // of freedom; its standard deviation is about 1 / √(2 · freedom).
    if freedom > 1e7 {
        return rejects(1.0);
    }
    let half = freedom / 2.0;
    // The logarithm of the density's constant 2 (ν/2)^(ν/2) / Γ(ν/2).
    let constant = std::f64::consts::LN_2 + half * log(half) - lgamma(half);
    let spread = 9.0 / (2.0 * freedom).sqrt();
    let (low, high) = ((1.0 - spread).max(0.0), 1.0 + spread);
    // With one degree of freedom the density at an error of 0 is finite, but not 0.
    let density = |error: f64| {
        let error = error.max(1e-150);
        exp(constant + (freedom - 1.0) * log(error) - half * error * error) * rejects(error)
    };
    integral(low, high, 400, density).min(1.0)
}

/// The integral of a function by Simpson's rule in an even number of steps.
pub(crate) fn integral(low: f64, high: f64, steps: u32, density: impl Fn(f64) -> f64) -> f64 {
    let step = (high - low) / f64::from(steps);
    let weight = |index: u32| match index % 2 {
        _ if index == 0 || index == steps => 1.0,
        0 => 2.0,
        _ => 4.0,
    };
    (0..=steps).map(|index| weight(index) * density(low + f64::from(index) * step)).sum::<f64>() * step / 3.0
}

/// The standard normal distribution function.
///
/// # Examples
/// ```
/// assert!((cambio_stats::normal_cdf(1.96) - 0.975).abs() < 1e-4);
/// ```
pub fn normal_cdf(at: f64) -> f64 {
    libm::erfc(-at * FRAC_1_SQRT_2) / 2.0
}

/// The quantile of the standard normal distribution.
///
/// # Examples
/// ```
/// assert!((cambio_stats::normal_quantile(0.975) - 1.96).abs() < 1e-4);
/// ```
pub fn normal_quantile(probability: f64) -> f64 {
    let tail = probability.min(1.0 - probability);
    if tail >= 0.5 {
        return 0.0;
    }
    // Newton's method for the logarithm of the distribution function; as this is concave, it converges from the left.
    let mut at = -(-2.0 * log(tail)).sqrt();
    for _ in 0..100 {
        let found = normal_cdf(at);
        let by = log(found / tail) * found * (2.0 * PI).sqrt() * exp(at * at / 2.0);
        if by.is_nan() || by.abs() <= 1e-16 * at.abs() {
            break;
        }
        at -= by;
    }
    if probability < 0.5 { at } else { -at }
}

#[cfg(test)]
mod tests;
