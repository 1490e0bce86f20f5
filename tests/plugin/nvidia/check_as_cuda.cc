// TensorRT's options as those of CUDA, where a session asks for that.
#include "nvidia/settings.h"

namespace ortolan::plugin_test {
namespace {

void check_meanings(Suite& suite, const Runtime& runtime) {
  suite.check("TensorRT as CUDA: what its options mean", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(append(runtime, options.get(), "TensorrtExecutionProvider",
                      {{"device_id", "1"},
                       {"trt_fp16_enable", "True"},
                       {"trt_int8_enable", "1"},
                       {"trt_cuda_graph_enable", "1"},
                       {"trt_max_workspace_size", "1073741824"},
                       {"trt_dump_ep_context_model", "1"},
                       {"trt_ep_context_file_path", "there.onnx"},
                       {"trt_engine_cache_enable", "1"},
                       {"trt_engine_cache_path", "engines"}}));
    expect_entries(runtime, options.get(), {{"device_id", "1"}, {"precision", "fp16"}, {"enable_cuda_graph", "1"}});
    auto context = entries(runtime, options.get(), "ep.context_");
    expect_equal(context["enable"], "1", "ep.context_enable");
    expect_equal(context["file_path"], "there.onnx", "ep.context_file_path");
    auto ours = entries(runtime, options.get(), "ortolan.");
    expect_equal(ours["compiled_model_folder"], "engines", "ortolan.compiled_model_folder");
  });
}

void check_sessions(Suite& suite, const Runtime& runtime, const char* library) {
  suite.check("TensorRT as CUDA: the log says so once", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(append(runtime, options.get(), "TensorRT", {{"trt_fp16_enable", "1"}}));
    log_text.clear();
    expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 0;", "the devices");
    const std::string sentence = "CUDAExecutionProvider, with precision=fp16; TensorRT itself takes no part";
    size_t said = log_text.find(sentence);
    expect(said != std::string::npos && log_text.find(sentence, said + 1) == std::string::npos,
           "the log does not say it once: " + log_text);
  });
  suite.check("TensorRT as CUDA: programs ask for both, in either order", 22, [&] {
    for (const auto& [first, second] : {std::pair{"TensorRT", "CUDA"}, {"CUDA", "TensorRT"}}) {
      Handle<OrtSessionOptions> options = runtime.options();
      ask_for_cuda(runtime, options.get());
      runtime.ok(append(runtime, options.get(), first, {{"device_id", "1"}}));
      runtime.ok(append(runtime, options.get(), second));
      expect_equal(devices_chosen(runtime, options.get(), library), "CUDAExecutionProvider: 1;", "the devices");
    }
  });
}

void check_tensorrt_structs(Suite& suite, const Runtime& runtime) {
  suite.check("TensorRT as CUDA: the structs", 22, [&] {
    OrtTensorRTProviderOptions older{};
    older.device_id = 1;
    older.has_user_compute_stream = 1;
    older.user_compute_stream = reinterpret_cast<void*>(0xABC0);
    older.trt_fp16_enable = 1;
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_TensorRT(options.get(), &older));
    expect_entries(runtime, options.get(),
                   {{"device_id", "1"},
                    {"has_user_compute_stream", "1"},
                    {"user_compute_stream", "43968"},
                    {"precision", "fp16"}});
    OrtTensorRTProviderOptionsV2* made = nullptr;
    runtime.ok(runtime.api->CreateTensorRTProviderOptions(&made));
    Handle<OrtTensorRTProviderOptionsV2> newer(made, runtime.api->ReleaseTensorRTProviderOptions);
    runtime.ok(runtime.api->UpdateTensorRTProviderOptionsWithValue(made, "user_compute_stream", &older));
    options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_TensorRT_V2(options.get(), made));
    expect_entries(runtime, options.get(),
                   {{"has_user_compute_stream", "1"},
                    {"user_compute_stream", std::to_string(reinterpret_cast<uintptr_t>(&older))}});
  });
}

void check_unknown(Suite& suite, const Runtime& runtime) {
  suite.check("TensorRT as CUDA: an option that it has not", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    ask_for_cuda(runtime, options.get());
    runtime.fails(append(runtime, options.get(), "TensorRT", {{"trt_fp61_enable", "1"}}),
                  "no option 'trt_fp61_enable'");
  });
}

}  // namespace

void check_as_cuda(Suite& suite, const Runtime& runtime, const char* library) {
  check_meanings(suite, runtime);
  check_sessions(suite, runtime, library);
  check_tensorrt_structs(suite, runtime);
  check_unknown(suite, runtime);
}

}  // namespace ortolan::plugin_test
