// example: main.rs
use ort::{inputs, session::Session, value::TensorRef};

fn main() -> ort::Result<()> {
    let environment = ort::init().build()?;
    let mut session = Session::builder(&environment)?.commit_from_file("tests/models/digits.onnx")?;
    let image = ndarray::Array4::<f32>::zeros((1, 1, 8, 8));
    let outputs = session.run(inputs!["image" => TensorRef::from_array_view(&image)?])?;
    for (digit, p) in outputs["probabilities"].try_extract_array::<f32>()?.iter().enumerate() {
        println!("{digit}: {p:.3}");
    }
    Ok(())
}
