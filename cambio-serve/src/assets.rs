//! The static files of the pages, compiled into the program.

use cambio_view::{CARDS_JS, CHANCES_JS, PARTS_JS, STORY_JS, TABLE_JS, VIEWER_CSS, WATCH_JS};

/// The type and the text of the file at a path that does not begin with a slash. The names of pages end in `.html`, because any host of files
/// serves these.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    const HTML: &str = "text/html; charset=utf-8";
    const CSS: &str = "text/css; charset=utf-8";
    const JS: &str = "text/javascript; charset=utf-8";
    Some(match path {
        "" => (HTML, include_str!("../assets/home.html")),
        "play.html" => (HTML, include_str!("../assets/play.html")),
        "watch.html" => (HTML, include_str!("../assets/watch.html")),
        "analyse.html" => (HTML, include_str!("../assets/analyse.html")),
        "runs.html" => (HTML, include_str!("../assets/runs.html")),
        "assets/viewer.css" => (CSS, VIEWER_CSS),
        "assets/app.css" => (CSS, include_str!("../assets/app.css")),
        "assets/icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        "assets/cards.js" => (JS, CARDS_JS),
        "assets/table.js" => (JS, TABLE_JS),
        "assets/watch.js" => (JS, WATCH_JS),
        "assets/chances.js" => (JS, CHANCES_JS),
        "assets/parts.js" => (JS, PARTS_JS),
        "assets/story.js" => (JS, STORY_JS),
        "assets/common.js" => (JS, include_str!("../assets/common.js")),
        "assets/sounds.js" => (JS, include_str!("../assets/sounds.js")),
        "assets/guide.js" => (JS, include_str!("../assets/guide.js")),
        "assets/deck.js" => (JS, include_str!("../assets/deck.js")),
        "assets/result.js" => (JS, include_str!("../assets/result.js")),
        "assets/home.js" => (JS, include_str!("../assets/home.js")),
        "assets/play.js" => (JS, include_str!("../assets/play.js")),
        "assets/watch-page.js" => (JS, include_str!("../assets/watch-page.js")),
        "assets/analyse.js" => (JS, include_str!("../assets/analyse.js")),
        "assets/links.js" => (JS, include_str!("../assets/links.js")),
        "assets/transport.js" => (JS, include_str!("../assets/transport.js")),
        "assets/published.js" => (JS, include_str!("../assets/published.js")),
        "assets/runs.js" => (JS, include_str!("../assets/runs.js")),
        _ => return None,
    })
}
