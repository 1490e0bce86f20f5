// Values of every kind, operators written in Rust, models made in Rust, and what goes wrong.
use std::{collections::HashMap, time::Duration};

use clients::{digits_model, environment, model, picture};
use half::f16;
use ort::{
    editor,
    error::ErrorCode,
    inputs,
    memory::{AllocationDevice, Allocator},
    session::{RunOptions, Session},
    value::{
        DynMapValueType, DynTensorValueType, Map, Outlet, Sequence, Shape, SymbolicDimensions, Tensor,
        TensorElementType, ValueType,
    },
    Result,
};

fn session(name: &str) -> Result<Session> {
    Session::builder(environment())?.commit_from_file(model(name))
}

#[test]
fn element_types() -> Result<()> {
    let mut session = session("types")?;
    let words = ["", "Grüße, 日本語 🐦"];
    let outputs = session.run(inputs![
        "x_float" => Tensor::from_array(([2], vec![0f32, 7.]))?,
        "x_double" => Tensor::from_array(([2], vec![0f64, 7.]))?,
        "x_float16" => Tensor::from_array(([2], vec![f16::from_f32(0.), f16::from_f32(7.)]))?,
        "x_int8" => Tensor::from_array(([2], vec![0i8, 7]))?,
        "x_int16" => Tensor::from_array(([2], vec![0i16, 7]))?,
        "x_int32" => Tensor::from_array(([2], vec![0i32, 7]))?,
        "x_int64" => Tensor::from_array(([2], vec![0i64, 7]))?,
        "x_uint8" => Tensor::from_array(([2], vec![0u8, 7]))?,
        "x_uint16" => Tensor::from_array(([2], vec![0u16, 7]))?,
        "x_uint32" => Tensor::from_array(([2], vec![0u32, 7]))?,
        "x_uint64" => Tensor::from_array(([2], vec![0u64, 7]))?,
        "x_bool" => Tensor::from_array(([2], vec![true, false]))?,
        "x_string" => Tensor::from_string_array(([2], &words[..]))?
    ])?;
    assert_eq!(outputs["y_float"].try_extract_tensor::<f32>()?.1, [1., 15.]);
    assert_eq!(outputs["y_double"].try_extract_tensor::<f64>()?.1, [1., 15.]);
    assert_eq!(outputs["y_float16"].try_extract_tensor::<f16>()?.1, [f16::ONE, f16::from_f32(15.)]);
    assert_eq!(outputs["y_int8"].try_extract_tensor::<i8>()?.1, [1, 15]);
    assert_eq!(outputs["y_int16"].try_extract_tensor::<i16>()?.1, [1, 15]);
    assert_eq!(outputs["y_int32"].try_extract_tensor::<i32>()?.1, [1, 15]);
    assert_eq!(outputs["y_int64"].try_extract_tensor::<i64>()?.1, [1, 15]);
    assert_eq!(outputs["y_uint8"].try_extract_tensor::<u8>()?.1, [1, 15]);
    assert_eq!(outputs["y_uint16"].try_extract_tensor::<u16>()?.1, [1, 15]);
    assert_eq!(outputs["y_uint32"].try_extract_tensor::<u32>()?.1, [1, 15]);
    assert_eq!(outputs["y_uint64"].try_extract_tensor::<u64>()?.1, [1, 15]);
    assert_eq!(outputs["y_bool"].try_extract_tensor::<bool>()?.1, [false, true]);
    assert_eq!(outputs["y_string"].try_extract_strings()?.1, words);
    assert!(outputs["y_int8"].try_extract_tensor::<f32>().is_err());
    Ok(())
}

#[test]
fn sequences_of_maps() -> Result<()> {
    let mut session = session("words")?;
    let outputs = session.run(inputs![Tensor::from_array(([2, 3], vec![0f32, 0., 0., 0., 0., 9.]))?])?;
    assert_eq!(outputs["label"].try_extract_strings()?.1[1], "cat");
    assert!(outputs["scores"].dtype().is_sequence());
    let rows = outputs["scores"].try_extract_sequence::<DynMapValueType>()?;
    let even: HashMap<String, f32> = rows[0].try_extract_map()?;
    assert_eq!(even.len(), 3);
    assert!(even.values().all(|score| (score - 1. / 3.).abs() < 1e-6));
    assert!(rows[1].try_extract_map::<String, f32>()?["cat"] > 0.999);
    Ok(())
}

#[test]
fn sequences_and_maps_as_inputs() -> Result<()> {
    let pieces = [vec![1f32, 2.], vec![3., 4.]].map(|row| Tensor::from_array(([1, 2], row)).unwrap());
    let mut join = session("join")?;
    let outputs = join.run(inputs![Sequence::new(pieces)?])?;
    assert_eq!(outputs[0].try_extract_tensor::<f32>()?.1, [1., 2., 3., 4.]);

    let counts = Map::<String, f32>::new([("cat".to_string(), 3.), ("ant".to_string(), 5.)])?;
    let mut vocabulary = session("vocabulary")?;
    let outputs = vocabulary.run(inputs![counts])?;
    assert_eq!(outputs[0].try_extract_tensor::<f32>()?.1, [5., 0., 3.]);

    let mut split = session("pieces")?;
    let outputs = split.run(inputs![Tensor::from_array(([2, 2], vec![1f32, 2., 3., 4.]))?])?;
    let pieces = outputs[0].try_extract_sequence::<DynTensorValueType>()?;
    assert_eq!(pieces[1].try_extract_tensor::<f32>()?.1, [3., 4.]);
    Ok(())
}

#[test]
fn copies() -> Result<()> {
    environment();
    let original = Tensor::from_array(([2, 2], vec![1i64, 2, 3, 4]))?;
    let copy = original.clone();
    assert_eq!(copy.try_extract_tensor::<i64>()?.1, [1, 2, 3, 4]);
    assert_ne!(copy.data_ptr(), original.data_ptr());
    let moved = Tensor::from_array(([3], vec![1f32, 2., 3.]))?.to(AllocationDevice::CPU, 0)?;
    assert_eq!(moved.try_extract_tensor::<f32>()?.1, [1., 2., 3.]);
    Ok(())
}

#[test]
fn initializers() -> Result<()> {
    let factor = Tensor::from_array(([1], vec![-1f32]))?.into_dyn();
    let mut builder = Session::builder(environment())?.with_initializer("factor", factor)?;
    let mut given = builder.commit_from_file(model("defaults"))?;
    let x = || Tensor::from_array(([2], vec![1f32, 2.]));
    assert_eq!(given.run(inputs!["x" => x()?])?[0].try_extract_tensor::<f32>()?.1, [-1., -2.]);
    let mut own = session("defaults")?;
    assert_eq!(own.run(inputs!["x" => x()?])?[0].try_extract_tensor::<f32>()?.1, [3., 6.]);
    let two = Tensor::from_array(([1], vec![2f32]))?;
    assert_eq!(own.run(inputs!["x" => x()?, "factor" => two])?[0].try_extract_tensor::<f32>()?.1, [2., 4.]);
    Ok(())
}

fn vector(length: i64) -> ValueType {
    ValueType::Tensor {
        ty: TensorElementType::Float32,
        shape: Shape::new([length]),
        dimension_symbols: SymbolicDimensions::empty(1),
    }
}

#[test]
fn models_made_by_the_program() -> Result<()> {
    let mut graph = editor::Graph::new()?;
    graph.set_inputs([Outlet::new("x", vector(3))])?;
    graph.set_outputs([Outlet::new("y", vector(3))])?;
    let mut offset = Tensor::<f32>::new(&Allocator::default(), [3_usize])?;
    offset.extract_tensor_mut().1.copy_from_slice(&[10., 20., 30.]);
    graph.add_initializer("offset", offset, false)?;
    graph.add_node(editor::Node::new("Add", editor::ONNX_DOMAIN, "add", ["x", "offset"], ["y"], [])?)?;
    let mut made = editor::Model::new([editor::Opset::new(editor::ONNX_DOMAIN, 18)?])?;
    made.set_graph(graph)?;
    let mut session = made.into_session(&Session::builder(environment())?)?;
    let outputs = session.run(inputs![Tensor::from_array(([3], vec![1f32, 2., 3.]))?])?;
    assert_eq!(outputs["y"].try_extract_tensor::<f32>()?.1, [11., 22., 33.]);
    Ok(())
}

#[test]
fn a_run_that_is_told_to_end() -> Result<()> {
    let mut session = session("endless")?;
    let options = RunOptions::new()?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            options.terminate().unwrap();
        });
        let many = Tensor::from_array(((), vec![1i64 << 40])).unwrap();
        let error = session.run_with_options(inputs![many], &options).err().expect("it has ended by itself");
        assert!(error.to_string().contains("terminate"), "{error}");
    });
    options.unterminate()?;
    let outputs = session.run_with_options(inputs![Tensor::from_array(((), vec![5i64]))?], &options)?;
    assert_eq!(outputs[0].try_extract_scalar::<f32>()?, 5.);
    Ok(())
}

#[test]
fn errors() -> Result<()> {
    let missing = Session::builder(environment())?.commit_from_file("/nowhere/model.onnx").err().unwrap();
    assert!(missing.to_string().contains("/nowhere/model.onnx"), "{missing}");
    let broken = Session::builder(environment())?.commit_from_memory(b"no model").err().unwrap();
    assert_eq!(broken.code(), ErrorCode::InvalidProtobuf, "{broken}");

    let mut session = Session::builder(environment())?.commit_from_file(digits_model())?;
    let small = Tensor::from_array(([1, 1, 7, 7], vec![0f32; 49]))?;
    let error = session.run(inputs![small]).err().unwrap();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(error.to_string().contains("image") && error.to_string().contains('7'), "{error}");
    let wide = Tensor::from_array(([1, 1, 8, 8], vec![0f64; 64]))?;
    assert_eq!(session.run(inputs![wide]).err().unwrap().code(), ErrorCode::InvalidArgument);
    let error = session.run(inputs!["picture" => Tensor::from_array(picture(1))?]).err().unwrap();
    assert!(error.to_string().contains("picture"), "{error}");
    Ok(())
}
