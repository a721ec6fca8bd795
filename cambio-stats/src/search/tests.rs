use super::*;
use crate::resampling::stream;
use std::convert::Infallible;

#[test]
fn the_top_of_a_noisy_hill_is_found() {
    let mut search = CmaEs::new(3, stream(1, 5 << 16));
    let mut noise = stream(2, 2);
    let top = [0.2, 0.7, 0.95];
    for _ in 0..60 {
        search
            .step(|points| {
                let height = |point: &Vec<f64>| {
                    let off: f64 = point.iter().zip(top).map(|(place, top)| (place - top).powi(2)).sum();
                    -off + 0.002 * noise.normal()
                };
                Ok::<_, Infallible>(points.iter().map(height).collect())
            })
            .unwrap();
    }
    for (place, top) in search.centre().iter().zip(top) {
        assert!((place - top).abs() < 0.08, "{:?}", search.centre());
    }
}
