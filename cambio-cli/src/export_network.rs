//! `cambio export-network`.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::PathBuf;

use cambio_agents::{FloatNetwork, Network, WordEnum as _};
use cambio_core::Rules;
use cambio_core::text::excerpt;
use cambio_exec::read_bytes;
use safetensors::tensor::{Dtype, View};

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;

/// The maximum size of a network file.
const MOST: u64 = 1 << 26;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A network file, or the name of a bundled network, such as classic or faessler-many
    network: String,
    /// The file to write, which must not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &Args) -> CliResult {
    let out = OutputFile::reserve(&args.out)?;
    let bytes: Cow<'static, [u8]> = match bundled(&args.network) {
        Some(bytes) => bytes.into(),
        None => read_bytes(args.network.as_ref(), MOST)
            .map_err(|error| {
                let name = excerpt(&args.network);
                format!(
                    "cannot read {name}: {error}; NETWORK must be a file, or a bundled network such as classic-many"
                )
            })?
            .into(),
    };
    let (network, facts) = Network::from_bytes(&bytes).map_err(|error| format!("{}: {error}", args.network))?;
    let inputs = network.inputs();
    let (count, width, second) = (inputs.count(), FloatNetwork::WIDTH, FloatNetwork::SECOND);
    let floats = network.floats();
    let tensors = [
        ("rows", Floats(vec![count, width], &floats.rows)),
        ("bias", Floats(vec![width], &floats.bias)),
        ("second", Floats(vec![second, width], &floats.second)),
        ("second_bias", Floats(vec![second], &floats.second_bias)),
        ("last", Floats(vec![second], &floats.last)),
        ("last_bias", Floats(vec![], std::slice::from_ref(&floats.last_bias))),
    ];
    let groups: Vec<&str> = inputs.groups().iter().map(|group| group.word()).collect();
    // One field, because the fields have no fixed order in the file.
    let about = serde_json::json!({
        "inputs": count, "groups": groups, "highest": FloatNetwork::HIGHEST, "step": FloatNetwork::STEP,
        "policy": network.is_policy(), "rules": facts.rules.spec().to_json(), "made": facts.made,
    });
    let metadata = [("cambio".to_owned(), about.to_string())].into_iter().collect();
    let bytes = safetensors::serialize(tensors, Some(metadata))?;
    out.write(|file| file.write_all(&bytes))?;
    Ok(Exit::Done)
}

fn bundled(name: &str) -> Option<&'static [u8]> {
    let (preset, seats) = name.strip_suffix("-many").map_or((name, 2), |preset| (preset, 4));
    Network::shipped_file(&Rules::preset(preset).ok()?, seats)
}

/// A tensor of 32-bit floats: its shape and values.
struct Floats<'f>(Vec<usize>, &'f [f32]);

impl View for Floats<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.0
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.1.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>().into()
    }

    fn data_len(&self) -> usize {
        size_of_val(self.1)
    }
}
