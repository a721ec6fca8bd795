//! Renders pages from templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use crate::parts::html;
use crate::plot::{HEIGHTS, RIGHT, WIDTH};

const TEMPLATES: [(&str, &str); 8] = [
    ("comparison.html", include_str!("../templates/comparison.html")),
    ("curves.html", include_str!("../templates/curves.html")),
    ("frame.html", include_str!("../templates/frame.html")),
    ("leaderboard.html", include_str!("../templates/leaderboard.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("plot.css", include_str!("../templates/plot.css")),
    ("run.html", include_str!("../templates/run.html")),
    ("style.css", include_str!("../templates/style.css")),
];

pub(crate) fn page(template: &str, view: impl Serialize) -> String {
    let render = || -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.add_filter("prose", |text: &str| Value::from_safe_string(html(text)));
        for (name, length) in [("width", WIDTH), ("left", HEIGHTS.0), ("right", RIGHT), ("top", HEIGHTS.1)] {
            environment.add_global(name, length);
        }
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        environment.get_template(template)?.render(Serde(view))
    };
    render().expect("the templates are valid and use only defined variables")
}
