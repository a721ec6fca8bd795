//! Learns by a recipe and writes the network: `cargo run --release -p cambio-learn --example learn -- RECIPE.toml NET`
use std::time::Instant;

use cambio_core::Rules;
use cambio_learn::{Crew, Learner, Recipe};
use cambio_sim::CancelToken;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (recipe, to) = (args.next().ok_or("RECIPE")?, args.next().ok_or("NET")?);
    let recipe = Recipe::from_toml(&std::fs::read_to_string(recipe)?)?;
    let rules = Rules::preset(&recipe.rules)?;
    let roster = cambio_agents::roster();
    let mut learner = Learner::new(recipe, &rules, &roster, None)?;
    let start = Instant::now();
    let mut last = 0.0;
    let crew = Crew::new(0, &CancelToken::new())?;
    while let Some(progress) = learner.step(&crew)? {
        let now = start.elapsed().as_secs_f64();
        if progress.judgements.is_empty() && now < last + 10.0 {
            continue;
        }
        last = now;
        println!(
            "{now:6.0} s  {} matches  {} rounds ({:.0}/s)  loss {:.4}  won {:?}  turns {:.1}  rate {:.5}",
            progress.matches,
            progress.rounds,
            progress.rounds as f64 / now,
            progress.loss,
            progress.won,
            progress.turns,
            progress.rate
        );
        for judgement in &progress.judgements {
            println!("        {}: {:.4} ± {:?}", judgement.against, judgement.share.mean, judgement.share.half_width());
        }
    }
    std::fs::write(to, learner.network().to_bytes(&serde_json::json!({})))?;
    Ok(())
}
