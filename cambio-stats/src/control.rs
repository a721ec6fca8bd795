//! Control variates whose coefficients are fitted on earlier clusters.

/// The coefficient of a control variate, fitted on the clusters that were added so far.
///
/// A control variate X has the expected value 0, so Y − βX has the mean of Y for every constant β, and the smallest
/// variance at β = Cov(X, Y) / Var(X) (Lavenberg and Welch 1981, "A perspective on the use of control variables to
/// increase the efficiency of Monte Carlo simulations"). A coefficient from the same data would be correlated with X. A
/// coefficient from earlier clusters is not: given these clusters it is a constant, so the adjusted mean has no bias, and
/// the adjusted values keep the martingale property that sequential tests need.
///
/// ```
/// use cambio_stats::ControlVariate;
///
/// let mut control = ControlVariate::new(1.0);
/// assert_eq!(control.coefficient(), 1.0);
/// for x in [-2.0, 1.0, 3.0, -1.0, -1.0].repeat(10) {
///     control.add(x, 0.5 * x);
///     control.end_cluster();
/// }
/// assert_eq!(control.coefficient(), 0.5);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ControlVariate {
    initial: f64,
    clusters: u64,
    cross: f64,
    squares: f64,
}

impl ControlVariate {
    /// The number of clusters before the coefficient is fitted. With fewer, the fit is less precise than `initial`.
    const FIRST: u64 = 30;

    /// The sum of the squares of the control variate before the coefficient is fitted. The error of the coefficient is
    /// inversely proportional to its root: clusters in which the control variate hardly varies do not determine it.
    const SQUARES: f64 = 3.0;

    /// A control variate with this coefficient for the first clusters.
    pub fn new(initial: f64) -> ControlVariate {
        ControlVariate { initial, clusters: 0, cross: 0.0, squares: 0.0 }
    }

    /// The coefficient for the next cluster.
    pub fn coefficient(&self) -> f64 {
        if self.clusters < ControlVariate::FIRST || self.squares < ControlVariate::SQUARES {
            return self.initial;
        }
        self.cross / self.squares
    }

    /// Adds a pair of the current cluster: the control variate, and the deviation of the result from its mean.
    pub fn add(&mut self, x: f64, deviation: f64) {
        self.cross += x * deviation;
        self.squares += x * x;
    }

    /// Ends a cluster.
    pub fn end_cluster(&mut self) {
        self.clusters += 1;
    }
}
