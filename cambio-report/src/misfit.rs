//! The pairs of one cell that the ratings do not describe.

use cambio_stats::ELO;
use cambio_stats::hotelling::HotellingTest;
use cambio_stats::ratings::{Misfit, Residual};

use crate::cell_report::{CellReport, described};
use crate::numbers::{number, signed, spread};
use crate::parts::code;
use crate::plot::{Figure, Forest, IntervalPoint};
use crate::verdict::p_value;

/// The maximum number of pairs in the plot of the residuals.
const MOST_RESIDUALS: usize = 12;

/// The residual of a pair, with the agent first that is stronger than the ratings say.
type NamedResidual<'a> = (Residual, [&'a str; 2]);

impl CellReport<'_> {
    /// The residuals of the ratings, the most significant first.
    fn residuals(&self) -> Option<(&Misfit, Vec<NamedResidual<'_>>)> {
        let misfit = self.derived.misfits[self.index].as_ref()?;
        let size = |residual: &Residual| residual.interval.statistic(0.0).map_or(0.0, f64::abs);
        let mut residuals = misfit.residuals.clone();
        residuals.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let named = |own: Residual| {
            let (one, other) = own.players;
            let (one, other) = if own.interval.mean < 0.0 { (other, one) } else { (one, other) };
            (own, [one, other].map(|agent| self.plan.agents[agent].label.as_str()))
        };
        (!residuals.is_empty()).then(|| (misfit, residuals.into_iter().map(named).collect()))
    }

    /// Describes whether one rating for each agent describes the results.
    pub(super) fn misfit_note(&self) -> Option<String> {
        let (misfit, residuals) = self.residuals()?;
        let Some(HotellingTest { f, freedom: (numerator, denominator), p }) = misfit.test else {
            return Some(
                "There are too few deals to test whether one rating for each agent describes all pairs.".into(),
            );
        };
        let test = format!(
            "goodness of fit{}, F = {f:.2} with {numerator} and {denominator} degrees of freedom, {}",
            self.plan.with_luck(),
            p_value(p)
        );
        if p >= 0.05 {
            return Some(format!("One rating for each agent describes all pairs as far as these deals show ({test})."));
        }
        let (most, [one, other]) = &residuals[0];
        Some(format!(
            "One rating for each agent does not describe all pairs ({test}). Beyond chance, the pairs deviate from the ratings by {} Elo \
             points (root mean square); the most significant deviation is that {} is {} Elo points stronger against {} than the ratings \
             say. To predict the result of a pair, use the score of the pair, not the two ratings.",
            number(misfit.size() * ELO, 0),
            code(one),
            number((most.interval.mean * ELO).abs(), 0),
            code(other)
        ))
    }

    /// The plot of the residuals.
    pub(super) fn misfit(&self) -> Option<Figure<Forest>> {
        let (misfit, residuals) = self.residuals()?;
        let estimate = |(own, [one, other]): &NamedResidual<'_>| {
            let turned = |(low, high): (f64, f64)| {
                let (low, high) = if own.interval.mean < 0.0 { (-high, -low) } else { (low, high) };
                (low * ELO, high * ELO)
            };
            let (mean, ends) = ((own.interval.mean * ELO).abs(), own.interval.ends().map(turned));
            IntervalPoint {
                label: format!("{one} – {other}"),
                figure: format!("{}{}", signed(mean, 0), spread(mean, ends, 0)),
                mean,
                interval: ends,
                wide: misfit.wide(own).map(turned),
                is_best: false,
            }
        };
        let estimates: Vec<IntervalPoint> = residuals.iter().take(MOST_RESIDUALS).map(estimate).collect();
        let most = match residuals.len() {
            ..=MOST_RESIDUALS => "The most significant is first.".to_owned(),
            pairs => format!("The {MOST_RESIDUALS} most significant of {pairs} pairs; pairwise.csv has all."),
        };
        Some(Figure {
            id: format!("misfit-{}", self.index + 1),
            title: format!("Deviations of pairs from the ratings, {}", self.title()),
            description: described(&estimates),
            caption: format!(
                "By how many Elo points the first agent of a pair is stronger against the second than the ratings say{}. {most} The thick \
                 bar is the single 95 % interval, the thin line holds for all pairs together (Bonferroni).",
                self.plan.with_luck()
            ),
            drawing: Forest::new(&estimates, Some(0.0), ("Elo points", 0)),
        })
    }
}
