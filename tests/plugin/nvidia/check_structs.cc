// CUDA's option structs: their defaults, members, keys and texts.
#include "nvidia/settings.h"

namespace ortolan::plugin_test {
namespace {

void check_members(Suite& suite, const Runtime& runtime) {
  suite.check("struct: it has the defaults", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(), defaults());
  });
  suite.check("struct: every member", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.device_id = 1;
    cuda.cudnn_conv_algo_search = OrtCudnnConvAlgoSearchHeuristic;
    cuda.gpu_mem_limit = 5'000'000'000;
    cuda.arena_extend_strategy = 1;
    cuda.do_copy_in_default_stream = 0;
    cuda.has_user_compute_stream = 1;
    cuda.user_compute_stream = reinterpret_cast<void*>(0xABC0);
    cuda.tunable_op_enable = cuda.tunable_op_tuning_enable = 1;
    cuda.tunable_op_max_tuning_duration_ms = 70;
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(),
                   defaults_but({{"device_id", "1"},
                                 {"cudnn_conv_algo_search", "HEURISTIC"},
                                 {"gpu_mem_limit", "5000000000"},
                                 {"arena_extend_strategy", "kSameAsRequested"},
                                 {"do_copy_in_default_stream", "0"},
                                 {"has_user_compute_stream", "1"},
                                 {"user_compute_stream", "43968"},
                                 {"tunable_op_enable", "1"},
                                 {"tunable_op_tuning_enable", "1"},
                                 {"tunable_op_max_tuning_duration_ms", "70"}}));
  });
}

void check_limits(Suite& suite, const Runtime& runtime) {
  suite.check("struct: an arena's limits come first; no limit is none", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.gpu_mem_limit = 0;
    runtime.ok(runtime.api->CreateArenaCfg(4096, 1, -1, -1, &cuda.default_memory_arena_cfg));
    Handle<OrtArenaCfg> owner(cuda.default_memory_arena_cfg, runtime.api->ReleaseArenaCfg);
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(),
                   defaults_but({{"gpu_mem_limit", "4096"}, {"arena_extend_strategy", "kSameAsRequested"}}));
    cuda.default_memory_arena_cfg = nullptr;
    options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda));
    expect_entries(runtime, options.get(), defaults());
  });
  suite.check("struct: numbers that mean nothing", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    OrtCUDAProviderOptions cuda;
    cuda.arena_extend_strategy = 2;
    runtime.fails(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda),
                  "'arena_extend_strategy' is 2; it must be from 0 to 1");
    cuda = {};
    cuda.device_id = 2;
    runtime.fails(runtime.api->SessionOptionsAppendExecutionProvider_CUDA(options.get(), &cuda),
                  "device 2 is not one of the 2");
  });
}

void check_keys(Suite& suite, const Runtime& runtime) {
  suite.check("newer struct: its text has all defaults", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    std::string wanted;
    for (const auto& [key, value] : defaults()) wanted += (wanted.empty() ? "" : ";") + key + "=" + value;
    expect_equal(text_of(runtime, cuda), wanted, "the text");
  });
  suite.check("newer struct: keys are spelled one way and reach the provider", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.ok(update(runtime, cuda, "use_tf32", "False"));
    runtime.ok(update(runtime, cuda, "enable_cuda_graph", "true"));
    runtime.ok(update(runtime, cuda, "device_id", "1"));
    runtime.ok(update(runtime, cuda, "precision", "fp16"));
    expect(text_of(runtime, cuda).find("use_tf32=0") != std::string::npos, "another spelling");
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    expect_entries(
        runtime, options.get(),
        defaults_but({{"use_tf32", "0"}, {"enable_cuda_graph", "1"}, {"device_id", "1"}, {"precision", "fp16"}}));
  });
  suite.check("newer struct: values that a key cannot have", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.fails(update(runtime, cuda, "use_tf32", "yes"),
                  "CUDA option 'use_tf32' cannot be 'yes'; it must be 0 or 1");
    runtime.fails(update(runtime, cuda, "gpu_mem_limit", "-1"), "not negative");
    runtime.fails(update(runtime, cuda, "arena_extend_strategy", "1"), "kNextPowerOfTwo or kSameAsRequested");
    runtime.fails(update(runtime, cuda, "cudnn_conv_algo_search", "x"), "EXHAUSTIVE, HEURISTIC or DEFAULT");
  });
}

void check_streams_and_entries(Suite& suite, const Runtime& runtime) {
  suite.check("newer struct: a stream as an address", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    int stream = 0;
    void* read = &stream;
    runtime.ok(runtime.api->GetCUDAProviderOptionsByName(cuda.get(), "user_compute_stream", &read));
    expect(read == nullptr, "there is a stream");
    runtime.ok(runtime.api->UpdateCUDAProviderOptionsWithValue(cuda.get(), "user_compute_stream", &stream));
    runtime.ok(runtime.api->GetCUDAProviderOptionsByName(cuda.get(), "user_compute_stream", &read));
    expect(read == &stream, "another stream");
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    std::string address = std::to_string(reinterpret_cast<uintptr_t>(&stream));
    expect_entries(runtime, options.get(),
                   defaults_but({{"has_user_compute_stream", "1"}, {"user_compute_stream", address}}));
  });
  suite.check("newer struct: entries of the session stay before defaults", 22, [&] {
    CudaOptions cuda = cuda_options(runtime);
    runtime.ok(update(runtime, cuda, "prefer_nhwc", "1"));
    Handle<OrtSessionOptions> options = runtime.options();
    for (const char* key : {"ep.cudaexecutionprovider.device_id", "ep.cudaexecutionprovider.enable_cuda_graph",
                            "ep.cudaexecutionprovider.prefer_nhwc"}) {
      runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), key, key[25] == 'p' ? "0" : "1"));
    }
    runtime.ok(runtime.api->SessionOptionsAppendExecutionProvider_CUDA_V2(options.get(), cuda.get()));
    expect_entries(runtime, options.get(),
                   defaults_but({{"device_id", "1"}, {"enable_cuda_graph", "1"}, {"prefer_nhwc", "1"}}));
  });
}

}  // namespace

void check_structs(Suite& suite, const Runtime& runtime) {
  check_members(suite, runtime);
  check_limits(suite, runtime);
  check_keys(suite, runtime);
  check_streams_and_entries(suite, runtime);
}

}  // namespace ortolan::plugin_test
