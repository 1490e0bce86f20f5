// The digits network as Rust services use it: arrays, batches, threads, bindings, async runs, metadata.
use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
};

use clients::{best, digits_model, environment, model, picture};
use ndarray::{concatenate, Axis};
use ort::{
    inputs,
    memory::{Allocator, MemoryInfo},
    session::{builder::GraphOptimizationLevel, OutputSelector, RunOptions, Session},
    value::{Tensor, TensorElementType, TensorRef, ValueType},
    Result,
};

fn session() -> Result<Session> {
    Session::builder(environment())?.commit_from_file(digits_model())
}

fn classify(session: &mut Session, digit: usize) -> Result<usize> {
    let image = picture(digit);
    let outputs = session.run(inputs!["image" => TensorRef::from_array_view(&image)?])?;
    Ok(best(outputs["probabilities"].try_extract_array::<f32>()?.iter()))
}

#[test]
fn library_is_ortolan() {
    environment();
    if std::env::var("CLIENTS_LIBRARY").unwrap_or_default().is_empty() {
        return;
    }
    assert!(ort::info().contains("Ortolan"), "{}", ort::info());
    let file = std::fs::canonicalize(std::env::var_os("CLIENTS_FILE").unwrap()).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains(file.to_str().unwrap()), "{file:?} is not loaded");
}

#[test]
fn every_digit() -> Result<()> {
    let mut session = session()?;
    for digit in 0..10 {
        assert_eq!(classify(&mut session, digit)?, digit);
    }
    Ok(())
}

#[test]
fn batches() -> Result<()> {
    let mut session = session()?;
    let pictures: Vec<_> = (0..10).map(picture).collect();
    let views: Vec<_> = pictures.iter().map(|one| one.view()).collect();
    let batch = concatenate(Axis(0), &views).unwrap();
    let outputs = session.run(inputs![Tensor::from_array(batch)?])?;
    let scores = outputs[0].try_extract_array::<f32>()?;
    assert_eq!(scores.shape(), [10, 10]);
    for (digit, row) in scores.axis_iter(Axis(0)).enumerate() {
        assert_eq!(best(row.iter()), digit);
        assert!((row.sum() - 1.0).abs() < 1e-5);
    }
    Ok(())
}

#[test]
fn sessions_from_memory() -> Result<()> {
    let mut bytes = std::fs::read(digits_model()).unwrap();
    let kept = bytes.clone();
    let mut copied = Session::builder(environment())?.commit_from_memory(&bytes)?;
    bytes.fill(0);
    assert_eq!(classify(&mut copied, 4)?, 4);
    let mut builder = Session::builder(environment())?;
    let borrowed = builder.commit_from_memory_directly(&kept)?;
    assert_eq!(borrowed.inputs()[0].name(), "image");
    Ok(())
}

#[test]
fn every_option() -> Result<()> {
    for level in [
        GraphOptimizationLevel::Disable,
        GraphOptimizationLevel::Level1,
        GraphOptimizationLevel::Level2,
        GraphOptimizationLevel::Level3,
        GraphOptimizationLevel::All,
    ] {
        let mut session = Session::builder(environment())?
            .with_optimization_level(level)?
            .with_intra_threads(2)?
            .with_inter_threads(1)?
            .with_parallel_execution(false)?
            .with_memory_pattern(false)?
            .with_deterministic_compute(true)?
            .with_log_id("clients")?
            .with_config_entry("session.intra_op.allow_spinning", "0")?
            .with_dimension_override("N", 1)?
            .commit_from_file(digits_model())?;
        assert_eq!(classify(&mut session, 2)?, 2);
    }
    Ok(())
}

#[test]
fn threads() -> Result<()> {
    std::thread::scope(|scope| {
        for worker in 0..6 {
            scope.spawn(move || {
                let mut own = session().unwrap();
                for i in 0..40 {
                    assert_eq!(classify(&mut own, (worker + i) % 10).unwrap(), (worker + i) % 10);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn binding() -> Result<()> {
    let mut session = session()?;
    let mut binding = session.create_binding()?;
    binding.bind_input("image", &Tensor::from_array(picture(7))?)?;
    binding.bind_output("probabilities", Tensor::<f32>::new(&Allocator::default(), [1_usize, 10])?)?;
    {
        let outputs = session.run_binding(&binding)?;
        assert_eq!(best(outputs["probabilities"].try_extract_array::<f32>()?.iter()), 7);
    }
    binding.clear();
    binding.bind_input("image", &Tensor::from_array(picture(1))?)?;
    binding.bind_output_to_device("probabilities", &MemoryInfo::default())?;
    binding.synchronize_inputs()?;
    let outputs = session.run_binding(&binding)?;
    binding.synchronize_outputs()?;
    assert_eq!(best(outputs["probabilities"].try_extract_array::<f32>()?.iter()), 1);
    Ok(())
}

#[test]
fn preallocated_outputs() -> Result<()> {
    let mut session = session()?;
    let own = Tensor::<f32>::new(&Allocator::default(), [1_usize, 10])?;
    let place = own.data_ptr();
    let selected = OutputSelector::no_default().with("probabilities").preallocate("probabilities", own);
    let options = RunOptions::new()?.with_outputs(selected);
    let outputs = session.run_with_options(inputs![Tensor::from_array(picture(9))?], &options)?;
    assert_eq!(best(outputs[0].try_extract_array::<f32>()?.iter()), 9);
    assert_eq!(outputs[0].try_extract_tensor::<f32>()?.1.as_ptr().cast(), place);
    Ok(())
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_for<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn async_runs() -> Result<()> {
    let mut session = Session::builder(environment())?.with_intra_threads(2)?.commit_from_file(digits_model())?;
    let options = RunOptions::new()?;
    for digit in 0..10 {
        let outputs = wait_for(session.run_async(inputs![Tensor::from_array(picture(digit))?], &options)?)?;
        assert_eq!(best(outputs[0].try_extract_array::<f32>()?.iter()), digit);
    }
    Ok(())
}

#[test]
fn inputs_outputs_and_metadata() -> Result<()> {
    let session = session()?;
    assert_eq!(session.inputs()[0].name(), "image");
    let ValueType::Tensor { ty, shape, dimension_symbols } = session.inputs()[0].dtype() else { panic!("no tensor") };
    assert_eq!(*ty, TensorElementType::Float32);
    assert_eq!(shape[..], [-1, 1, 8, 8]);
    assert_eq!(dimension_symbols[0], "N");
    assert_eq!(session.outputs()[0].dtype().tensor_shape().unwrap()[..], [-1, 10]);
    assert_eq!(session.opset_for_domain(""), Some(13));

    let session = Session::builder(environment())?.commit_from_file(model("defaults"))?;
    let metadata = session.metadata()?;
    assert_eq!(metadata.producer().as_deref(), Some("make_models"));
    assert_eq!(metadata.name().as_deref(), Some("defaults"));
    assert_eq!(metadata.domain().as_deref(), Some("org.example"));
    assert_eq!(metadata.description().as_deref(), Some("Drei mal – très bien"));
    assert_eq!(metadata.version(), Some(42));
    assert_eq!(metadata.custom("language").as_deref(), Some("Ελληνικά"));
    assert_eq!(metadata.custom("nothing"), None);
    assert_eq!(metadata.custom_keys()?.len(), 2);
    assert_eq!(session.overridable_initializers()[0].name(), "factor");
    Ok(())
}

#[test]
fn profiles() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("clients-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut session =
        Session::builder(environment())?.with_profiling(folder.join("profile"))?.commit_from_file(digits_model())?;
    assert_eq!(classify(&mut session, 3)?, 3);
    assert!(session.profiling_start_ns()? > 0);
    let profile = session.end_profiling()?;
    assert!(std::fs::read_to_string(&profile).unwrap().contains("\"Softmax\""));
    std::fs::remove_dir_all(folder).unwrap();
    Ok(())
}
