/* Calls about session options and run options. */
#include "texts.h"

OrtSessionOptions* create_session_options(OrtStatus** status) {
  OrtSessionOptions* options = OrtCreateSessionOptions();
  return options ? options : refuse_memory(status);
}

OrtSessionOptions* clone_session_options(const OrtSessionOptions* options, OrtStatus** status) {
  OrtSessionOptions* clone = NULL;
  *status = OrtCloneSessionOptions(options, &clone);
  return clone;
}

void release_session_options(OrtSessionOptions* options) { OrtReleaseSessionOptions(options); }

void set_optimization_level(OrtSessionOptions* options, int level, OrtStatus** status) {
  *status = OrtSetSessionGraphOptimizationLevel(options, (GraphOptimizationLevel)level);
}

void set_execution_mode(OrtSessionOptions* options, int mode, OrtStatus** status) {
  *status = OrtSetSessionExecutionMode(options, (ExecutionMode)mode);
}

void set_intra_op_threads(OrtSessionOptions* options, int threads, OrtStatus** status) {
  *status = OrtSetIntraOpNumThreads(options, threads);
}

void set_inter_op_threads(OrtSessionOptions* options, int threads, OrtStatus** status) {
  *status = OrtSetInterOpNumThreads(options, threads);
}

void disable_session_threads(OrtSessionOptions* options, OrtStatus** status) {
  *status = OrtDisablePerSessionThreads(options);
}

void set_profiling(OrtSessionOptions* options, const char* prefix, OrtStatus** status) {
  *status = prefix ? OrtEnableProfiling(options, prefix) : OrtDisableProfiling(options);
}

void set_memory_pattern(OrtSessionOptions* options, int on, OrtStatus** status) {
  *status = on ? OrtEnableMemPattern(options) : OrtDisableMemPattern(options);
}

void set_cpu_arena(OrtSessionOptions* options, int on, OrtStatus** status) {
  *status = on ? OrtEnableCpuMemArena(options) : OrtDisableCpuMemArena(options);
}

void set_session_log_id(OrtSessionOptions* options, const char* log_id, OrtStatus** status) {
  *status = OrtSetSessionLogId(options, log_id);
}

void set_session_severity(OrtSessionOptions* options, int severity, OrtStatus** status) {
  *status = OrtSetSessionLogSeverityLevel(options, severity);
}

void set_session_verbosity(OrtSessionOptions* options, int verbosity, OrtStatus** status) {
  *status = OrtSetSessionLogVerbosityLevel(options, verbosity);
}

void set_session_log(OrtSessionOptions* options, OrtLoggingFunction log, void* log_param, OrtStatus** status) {
  *status = OrtSetUserLoggingFunction(options, log, log_param);
}

void set_optimized_model_path(OrtSessionOptions* options, const char* path, OrtStatus** status) {
  *status = OrtSetOptimizedModelFilePath(options, path);
}

void set_deterministic(OrtSessionOptions* options, int on, OrtStatus** status) {
  *status = OrtSetDeterministicCompute(options, on != 0);
}

void add_session_setting(OrtSessionOptions* options, const char* key, const char* value, OrtStatus** status) {
  *status = OrtAddSessionConfigEntry(options, key, value);
}

char* session_setting(const OrtSessionOptions* options, const char* key, OrtStatus** status) {
  int present = 0;
  size_t size = 0;
  if ((*status = OrtHasSessionConfigEntry(options, key, &present)) || !present) return NULL;
  if ((*status = OrtGetSessionConfigEntry(options, key, NULL, &size))) return NULL;
  char* value = malloc(size);
  if (!value) return refuse_memory(status);
  if (!(*status = OrtGetSessionConfigEntry(options, key, value, &size))) return value;
  free(value);
  return NULL;
}

void add_free_dimension(OrtSessionOptions* options, const char* denotation, int64_t size, OrtStatus** status) {
  *status = OrtAddFreeDimensionOverride(options, denotation, size);
}

void add_free_dimension_by_name(OrtSessionOptions* options, const char* name, int64_t size, OrtStatus** status) {
  *status = OrtAddFreeDimensionOverrideByName(options, name, size);
}

void add_initializer(OrtSessionOptions* options, const char* name, const OrtValue* value, OrtStatus** status) {
  *status = OrtAddInitializer(options, name, value);
}

void register_custom_operators(OrtSessionOptions* options, const char* library_path, OrtStatus** status) {
  *status = OrtRegisterCustomOpsLibrary_V2(options, library_path);
}

void append_provider(OrtSessionOptions* options, const char* name, const OrtKeyValuePairs* settings,
                     OrtStatus** status) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  if (settings) OrtGetKeyValuePairs(settings, &keys, &values, &count);
  *status = OrtSessionOptionsAppendExecutionProviderByName(options, name, keys, values, count);
}

void append_provider_devices(OrtSessionOptions* options, OrtEnv* environment, const OrtEpDevice* const* devices,
                             size_t devices_length, const OrtKeyValuePairs* settings, OrtStatus** status) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  if (settings) OrtGetKeyValuePairs(settings, &keys, &values, &count);
  *status =
      OrtSessionOptionsAppendExecutionProvider_V2(options, environment, devices, devices_length, keys, values, count);
}

void set_device_policy(OrtSessionOptions* options, int policy, OrtStatus** status) {
  *status = OrtSessionOptionsSetEpSelectionPolicy(options, (OrtExecutionProviderDevicePolicy)policy);
}

OrtRunOptions* create_run_options(OrtStatus** status) {
  OrtRunOptions* options = OrtCreateRunOptions();
  return options ? options : refuse_memory(status);
}

void release_run_options(OrtRunOptions* options) { OrtReleaseRunOptions(options); }

void set_run_tag(OrtRunOptions* options, const char* tag, OrtStatus** status) {
  *status = OrtRunOptionsSetRunTag(options, tag);
}

const char* run_tag(const OrtRunOptions* options, OrtStatus** status) {
  const char* tag = NULL;
  *status = OrtRunOptionsGetRunTag(options, &tag);
  return tag;
}

void set_run_severity(OrtRunOptions* options, int severity, OrtStatus** status) {
  *status = OrtRunOptionsSetRunLogSeverityLevel(options, severity);
}

int run_severity(const OrtRunOptions* options, OrtStatus** status) {
  int severity = 0;
  *status = OrtRunOptionsGetRunLogSeverityLevel(options, &severity);
  return severity;
}

void set_run_verbosity(OrtRunOptions* options, int verbosity, OrtStatus** status) {
  *status = OrtRunOptionsSetRunLogVerbosityLevel(options, verbosity);
}

int run_verbosity(const OrtRunOptions* options, OrtStatus** status) {
  int verbosity = 0;
  *status = OrtRunOptionsGetRunLogVerbosityLevel(options, &verbosity);
  return verbosity;
}

void set_terminate(OrtRunOptions* options, int terminate, OrtStatus** status) {
  *status = terminate ? OrtRunOptionsSetTerminate(options) : OrtRunOptionsUnsetTerminate(options);
}

void add_run_setting(OrtRunOptions* options, const char* key, const char* value, OrtStatus** status) {
  *status = OrtAddRunConfigEntry(options, key, value);
}
