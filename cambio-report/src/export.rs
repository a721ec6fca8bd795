//! The plots of a page as separate files.

/// The style of plots, with variables for colours.
const STYLE: &str = include_str!("../templates/plot.css");
/// The style of pages. Its first block has the colours of light pages.
const PAGE_STYLE: &str = include_str!("../templates/style.css");
/// The space around a plot.
const MARGIN: f64 = 10.0;

/// A plot as a separate file.
#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    /// The name of the file without its extension: the id of the figure in the page.
    pub name: String,
    /// The SVG file. It contains its style and has a white background.
    pub svg: String,
}

/// The plots of a page of this crate.
///
/// ```
/// use std::path::Path;
/// use cambio_report::{Run, of_run, plots};
/// use cambio_sim::{Executor, Experiment, PlayedBatches, Runner};
///
/// let experiment = Experiment { deals: 20, ..Experiment::at("classic", 2, &["random", "greedy"]) };
/// let plan = experiment.plan(&cambio_agents::roster(), Path::new("."))?;
/// let report = Runner::new(&Executor::new(1)?).play(&plan);
/// let all = plan.batch_count();
/// let extent = PlayedBatches { batches: all, of: all };
/// let run = Run { plan: &plan, spec: plan.toml(), extent, derived: &report.derived, timing: &report.timing };
/// let found = plots(&of_run(run));
/// assert_eq!(found[0].name, "means-1");
/// assert!(found[0].svg.starts_with("<svg ") && !found[0].svg.contains("var(--"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plots(page: &str) -> Vec<Plot> {
    let mut style = STYLE.to_owned();
    let colours = PAGE_STYLE.split(['{', '}']).nth(1).unwrap_or_default();
    for (name, value) in colours.split(';').filter_map(|line| line.trim().split_once(": ")) {
        style = style.replace(&format!("var({name})"), value);
    }
    let plot = |rest: &str| {
        let (drawing, _) = rest.split_once("</svg>")?;
        let (tag, content) = drawing.split_once('>')?;
        let value = |name: &str| tag.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        let name = value("aria-labelledby")?.0.split_once("-title")?.0.to_owned();
        let size = value("viewBox")?.0.split(' ').skip(2).map(str::parse).collect::<Result<Vec<f64>, _>>().ok()?;
        let [width, height] = [size.first()?, size.get(1)?].map(|size| size + 2.0 * MARGIN);
        let tag = tag.replace(value("viewBox")?.0, &format!("-{MARGIN} -{MARGIN} {width} {height}"));
        let (words, shapes) = content.split_once("</desc>")?;
        let svg = format!(
            "<svg width=\"{width}\" height=\"{height}\" {tag}>{words}</desc>\n<style>\n{style}</style>\n\
             <rect x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>{shapes}</svg>\n"
        );
        Some(Plot { name, svg })
    };
    page.split("<svg ").skip(1).filter_map(plot).collect()
}
