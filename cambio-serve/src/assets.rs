//! The static files of the pages, compiled into the program.

use std::borrow::Cow;

use cambio_view::{CARDS_JS, CHANCES_JS, PARTS_JS, STORY_JS, TABLE_JS, VIEWER_CSS, WATCH_JS};

pub(crate) struct Asset {
    pub(crate) kind: &'static str,
    pub(crate) text: Cow<'static, str>,
}

/// The page at a path that does not begin with a slash. The names end in `.html`, because any host of files serves these.
pub(crate) fn page(path: &str) -> Option<Asset> {
    let text = match path {
        "" => include_str!("../assets/home.html"),
        "play.html" => include_str!("../assets/play.html"),
        "watch.html" => include_str!("../assets/watch.html"),
        "runs.html" => include_str!("../assets/runs.html"),
        _ => return None,
    };
    Some(Asset { kind: "text/html; charset=utf-8", text: Cow::Borrowed(text) })
}

/// A page for a guest at a table. A mark tells its scripts that they reach only this table.
pub(crate) fn guest_page(path: &str) -> Option<Asset> {
    let page = page(path).filter(|_| ["play.html", "watch.html"].contains(&path))?;
    let mark = "<meta name=\"access\" content=\"guest\">\n<title>";
    Some(Asset { text: page.text.replacen("<title>", mark, 1).into(), ..page })
}

pub(crate) fn file(name: &str) -> Option<Asset> {
    const JS: &str = "text/javascript; charset=utf-8";
    let (kind, text) = match name {
        "viewer.css" => ("text/css; charset=utf-8", VIEWER_CSS),
        "app.css" => ("text/css; charset=utf-8", include_str!("../assets/app.css")),
        "icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        "cards.js" => (JS, CARDS_JS),
        "table.js" => (JS, TABLE_JS),
        "watch.js" => (JS, WATCH_JS),
        "common.js" => (JS, include_str!("../assets/common.js")),
        "chances.js" => (JS, CHANCES_JS),
        "parts.js" => (JS, PARTS_JS),
        "story.js" => (JS, STORY_JS),
        "sounds.js" => (JS, include_str!("../assets/sounds.js")),
        "guide.js" => (JS, include_str!("../assets/guide.js")),
        "deck.js" => (JS, include_str!("../assets/deck.js")),
        "room.js" => (JS, include_str!("../assets/room.js")),
        "result.js" => (JS, include_str!("../assets/result.js")),
        "home.js" => (JS, include_str!("../assets/home.js")),
        "play.js" => (JS, include_str!("../assets/play.js")),
        "watch-page.js" => (JS, include_str!("../assets/watch-page.js")),
        "links.js" => (JS, include_str!("../assets/links.js")),
        "transport.js" => (JS, include_str!("../assets/transport.js")),
        "published.js" => (JS, include_str!("../assets/published.js")),
        "runs.js" => (JS, include_str!("../assets/runs.js")),
        _ => return None,
    };
    Some(Asset { kind, text: Cow::Borrowed(text) })
}
