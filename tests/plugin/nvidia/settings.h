// What the checks of NVIDIA's providers share: options of sessions, and what they say.
#pragma once

#include <dlfcn.h>

#include "conformance_host/runtime.h"
#include "ortolan.h"

namespace ortolan::plugin_test {

/** Of the library under test. */
extern void* handle_of_library;
#define EXPORTED(name) reinterpret_cast<decltype(&(name))>(dlsym(handle_of_library, #name))

/** The lines of the log, which keep_line adds to. */
extern std::string log_text;
void ORT_API_CALL keep_line(void*, OrtLoggingLevel, const char*, const char*, const char*, const char* line);

/** CUDA's keys with their defaults, as the official library's page on the provider lists them. */
const std::map<std::string, std::string>& defaults();
/** The same but for what is given. */
std::map<std::string, std::string> defaults_but(std::map<std::string, std::string> given);

/** The options' entries whose keys begin so, by what follows. */
std::map<std::string, std::string> entries(const Runtime& runtime, const OrtSessionOptions* options,
                                           const std::string& prefix = "ep.cudaexecutionprovider.");
/** Throws Mismatch unless CUDA's entries are these. */
void expect_entries(const Runtime& runtime, const OrtSessionOptions* options,
                    const std::map<std::string, std::string>& wanted);
/** The devices of the providers that a session with these options makes. */
std::string devices_chosen(const Runtime& runtime, const OrtSessionOptions* options, const char* library);

OrtStatus* append(const Runtime& runtime, OrtSessionOptions* options, const char* name, const Pairs& settings = {});
/** Lets TensorRT's names stand for CUDA. */
void ask_for_cuda(const Runtime& runtime, OrtSessionOptions* options);

using CudaOptions = Handle<OrtCUDAProviderOptionsV2>;
CudaOptions cuda_options(const Runtime& runtime);
OrtStatus* update(const Runtime& runtime, const CudaOptions& options, const char* key, const char* value);
std::string text_of(const Runtime& runtime, const CudaOptions& options);

/** The groups of checks of a provider that is there. */
void check_structs(Suite& suite, const Runtime& runtime);
void check_names(Suite& suite, const Runtime& runtime, const char* library);
void check_as_cuda(Suite& suite, const Runtime& runtime, const char* library);

}  // namespace ortolan::plugin_test
