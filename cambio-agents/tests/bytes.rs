//! Arbitrary bytes as network files and as specs of agents never cause a panic. The fuzz targets call the same functions.

use cambio_agents::{Learned, Network, roster};
use cambio_core::rng::Key;
use cambio_core::{MatchSetup, Rules, play_match};

/// Reads bytes as a network file without its hash, and plays a match with the network. Returns whether it is a network.
///
/// # Panics
/// If reading or playing panics.
pub(crate) fn network(bytes: &[u8]) -> bool {
    let mut file = bytes.to_vec();
    file.extend_from_slice(blake3::hash(bytes).as_bytes());
    let Ok((network, made)) = Network::from_bytes(&file) else { return false };
    let written = network.to_bytes(&made.made);
    assert!(Network::from_bytes(&written).is_ok(), "a written network can be read");
    let rules = Rules::preset("classic").expect("a preset");
    if let Ok(network) = network.fitting(&rules) {
        let mut agents = [(); 2].map(|()| Learned::new(network.clone()));
        let setup = MatchSetup { rules, seats: 2, key: Key::new(1, 0) };
        play_match(&setup, &mut agents, &mut ()).expect("a network decides legally");
    }
    true
}

/// Reads bytes as the spec of an agent. Returns whether it is a spec.
///
/// # Panics
/// If a written spec cannot be read, or an error is not one short line.
pub(crate) fn spec(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match roster().parse(&text) {
        Ok(agent) => {
            let written = agent.to_string();
            assert_eq!(roster().parse(&written).map(|agent| agent.to_string()), Ok(written));
            true
        }
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty() && said.len() < 4000 && !said.contains(char::is_control), "{said:?}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use cambio_agents::{FloatNetwork, NetworkInputs};
    use cambio_core::Seat;
    use cambio_core::rng::Bounded as _;
    use flate2::Compression;
    use flate2::read::DeflateDecoder;
    use flate2::write::DeflateEncoder;

    use super::*;
    use crate::play::amount;
    use crate::play::mutate::mutate;

    /// The two lines at the beginning of a network file, and its weights. Most of its rows are 0.
    fn seed() -> (Vec<u8>, Vec<u8>) {
        let inputs = NetworkInputs::new(&Rules::preset("classic").unwrap());
        let mut floats = FloatNetwork::zero(inputs.count());
        floats.second.iter_mut().chain(&mut floats.last).zip(1..).for_each(|(to, n)| *to = (n % 7) as f32 - 3.0);
        floats.rows[..FloatNetwork::WIDTH].fill(0.5);
        let mut file = Network::new(&inputs, &floats).to_bytes(&serde_json::json!({"by": "a test"}));
        file.truncate(file.len() - blake3::OUT_LEN);
        let line = |from: usize| from + file[from..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let (head, packed) = file.split_at(line(line(0)));
        let mut weights = Vec::new();
        DeflateDecoder::new(packed).read_to_end(&mut weights).unwrap();
        (head.to_vec(), weights)
    }

    /// A network file without its hash.
    fn file(head: &[u8], weights: &[u8]) -> Vec<u8> {
        let mut packed = DeflateEncoder::new(head.to_vec(), Compression::fast());
        packed.write_all(weights).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn changed_network_files_never_panic() {
        let ((head, weights), mut stream, mut read) = (seed(), Key::new(611, 0).agent(Seat::A), 0);
        let seed = file(&head, &weights);
        assert!(network(&seed));
        for _ in 0..amount(300, 30_000) {
            // Changes only weights, so that most files are networks, or any byte of the file.
            let bytes = if stream.chance(1, 2) {
                let mut changed = mutate(&weights, &seed, &mut stream);
                changed.resize(weights.len(), 0x7f);
                file(&head, &changed)
            } else {
                mutate(&seed, &[], &mut stream)
            };
            read += usize::from(network(&bytes));
        }
        assert!(read > 20, "{read}");
    }

    #[test]
    fn weights_that_could_overflow_are_refused() {
        let (head, weights) = seed();
        // The last weights of a file: the bias of the output as four bytes.
        let mut changed = weights.clone();
        let end = changed.len();
        changed[end - 4..].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(!network(&file(&head, &changed)));
        changed[end - 4..].copy_from_slice(&(1_i32 << 27).to_le_bytes());
        assert!(network(&file(&head, &changed)));
        // All weights after the rows are as large as their bytes allow.
        let mut changed = weights;
        changed[end - 4096..].fill(0x7f);
        assert!(!network(&file(&head, &changed)));
    }

    #[test]
    fn changed_specs_never_panic() {
        let seeds = [
            "greedy(call_at=7)",
            "random(pass=0.9)",
            "heuristic(decay=0.05,capacity=3,threshold=0.7)",
            "rollout(n=5,epsilon=0.2,blueprint=sharp,final=mean)",
            "ismcts(iterations=5,mode=so,utility=points)",
            "external(\"true\",deadline_ms=5,start_ms=5)",
            "lookahead(worlds=10,proposals=1)",
            "learned(\"x.net\",temperature=0.5)",
        ];
        let (mut stream, mut read) = (Key::new(612, 0).agent(Seat::A), 0);
        for (one, seed) in seeds.iter().enumerate() {
            for _ in 0..amount(300, 30_000) {
                let other = seeds[(one + 1) % seeds.len()].as_bytes();
                read += usize::from(spec(&mutate(seed.as_bytes(), other, &mut stream)));
            }
        }
        assert!(read > 50, "{read}");
    }
}
