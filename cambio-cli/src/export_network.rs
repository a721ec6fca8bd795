//! `cambio learn --export`: the weights of a network for other libraries.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::path::Path;

use cambio_agents::{FloatNetwork, Network};
use cambio_core::text::excerpt;
use cambio_exec::read_bytes;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, TensorView};

use crate::exit::{CliResult, Exit};
use crate::output::{OutputFile, is_stdout};

/// The maximum size of a network file.
const MAX_BYTES: u64 = 1 << 26;

/// Writes a network file, or the bundled network of this name, as safetensors.
pub(super) fn write(name: &str, out: &Path) -> CliResult {
    if is_stdout(out) && std::io::stdout().is_terminal() {
        return Err("--out must be a file, because a terminal cannot show a network".into());
    }
    let out = OutputFile::reserve(out)?;
    let bytes: Cow<'static, [u8]> = match Network::shipped_files().find(|(own, _)| own == name) {
        Some((_, bytes)) => bytes.into(),
        None => read_bytes(name.as_ref(), MAX_BYTES)
            .map_err(|error| {
                let names = Network::shipped_files().map(|(own, _)| own).collect::<Vec<_>>().join(", ");
                let name = excerpt(name);
                format!("cannot read {name}: {error}; --export must be a file or a bundled network: {names}")
            })?
            .into(),
    };
    let (network, facts) = Network::from_bytes(&bytes).map_err(|error| format!("{}: {error}", excerpt(name)))?;
    let inputs = network.inputs();
    let (count, width, second) = (inputs.count(), FloatNetwork::WIDTH, FloatNetwork::SECOND);
    let floats = network.floats();
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let tensors = [
        ("rows", vec![count, width], bytes(&floats.rows)),
        ("bias", vec![width], bytes(&floats.bias)),
        ("second", vec![second, width], bytes(&floats.second)),
        ("second_bias", vec![second], bytes(&floats.second_bias)),
        ("last", vec![second], bytes(&floats.last)),
        ("last_bias", vec![], bytes(&[floats.last_bias])),
    ];
    let tensors =
        tensors.iter().map(|(name, shape, bytes)| Ok((*name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)));
    let tensors = tensors.collect::<Result<Vec<_>, SafeTensorError>>()?;
    // One field, because the fields have no fixed order in the file.
    let about = serde_json::json!({
        "inputs": count, "highest": FloatNetwork::HIGHEST, "step": FloatNetwork::STEP,
        "policy": network.is_policy(), "general": inputs.are_general(), "rules": facts.rules.spec().to_json(), "made": facts.made,
    });
    let metadata = [("cambio".to_owned(), about.to_string())].into_iter().collect();
    let bytes = safetensors::serialize(tensors, Some(metadata))?;
    out.write_binary(&bytes)?;
    Ok(Exit::Done)
}
