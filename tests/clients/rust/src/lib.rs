// What the tests share: the environment, models, pictures.
use std::{path::PathBuf, sync::OnceLock};

use ndarray::Array4;
use ort::environment::Environment;

pub fn environment() -> &'static Environment {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| ort::init().with_name("clients").build().expect("there is no environment"))
}

fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable).expect(variable).into()
}

pub fn model(name: &str) -> PathBuf {
    folder("CLIENTS_MODELS").join(format!("{name}.onnx"))
}

pub fn digits_model() -> PathBuf {
    folder("CLIENTS_DIGITS").join("digits.onnx")
}

/// The pixels of digit_N.pgm, ink from 0 to 1.
pub fn picture(digit: usize) -> Array4<f32> {
    let path = folder("CLIENTS_DIGITS").join(format!("digit_{digit}.pgm"));
    let text = std::fs::read_to_string(path).expect("there is no picture");
    let numbers = text.split_once("8 8\n16\n").expect("the picture has another size").1;
    let pixels = numbers.split_whitespace().map(|word| word.parse::<f32>().unwrap() / 16.0).collect();
    Array4::from_shape_vec((1, 1, 8, 8), pixels).unwrap()
}

pub fn best<'a>(scores: impl IntoIterator<Item = &'a f32>) -> usize {
    let scores: Vec<f32> = scores.into_iter().copied().collect();
    (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
}
