//! The static files of the pages, compiled into the program.

use cambio_view::VIEWER_FILES;

/// The files whose path is not `assets/` and the name of a file of the viewer. The names of pages end in `.html`, because any host of files
/// serves these.
const FILES: [(&str, &str); 20] = [
    ("", include_str!("../assets/home.html")),
    ("play.html", include_str!("../assets/play.html")),
    ("watch.html", include_str!("../assets/watch.html")),
    ("analyse.html", include_str!("../assets/analyse.html")),
    ("runs.html", include_str!("../assets/runs.html")),
    ("assets/app.css", include_str!("../assets/app.css")),
    ("assets/icon.svg", include_str!("../assets/icon.svg")),
    ("assets/common.js", include_str!("../assets/common.js")),
    ("assets/sounds.js", include_str!("../assets/sounds.js")),
    ("assets/guide.js", include_str!("../assets/guide.js")),
    ("assets/deck.js", include_str!("../assets/deck.js")),
    ("assets/result.js", include_str!("../assets/result.js")),
    ("assets/home.js", include_str!("../assets/home.js")),
    ("assets/play.js", include_str!("../assets/play.js")),
    ("assets/watch-page.js", include_str!("../assets/watch-page.js")),
    ("assets/analyse.js", include_str!("../assets/analyse.js")),
    ("assets/links.js", include_str!("../assets/links.js")),
    ("assets/transport.js", include_str!("../assets/transport.js")),
    ("assets/published.js", include_str!("../assets/published.js")),
    ("assets/runs.js", include_str!("../assets/runs.js")),
];

/// The type and the text of the file at a path that does not begin with a slash.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    let named = |files: &[(&str, &'static str)], path: &str| Some(files.iter().find(|(name, _)| *name == path)?.1);
    let text = named(&FILES, path).or_else(|| named(&VIEWER_FILES, path.strip_prefix("assets/")?))?;
    let kind = match path.rsplit_once('.').map_or("html", |(_, ending)| ending) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    Some((kind, text))
}
