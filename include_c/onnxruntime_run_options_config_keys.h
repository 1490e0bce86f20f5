/** Keys for AddRunConfigEntry. Keys are 1 to 128 bytes long and values up to 1024. A switch takes "0" or "1", and is
 * "0" unless its comment says otherwise. Unknown keys are kept and have no effect.
 */
#pragma once

/* ==== One run ==== */

/** Arenas that give unused memory back when the run ends: "cpu:0;gpu:0", device and number, without blanks. */
static const char* const kOrtRunOptionsConfigEnableMemoryArenaShrinkage = "memory.enable_memory_arena_shrinkage";

/** Switch: return without waiting for the devices; the caller waits. */
static const char* const kOrtRunOptionsConfigDisableSynchronizeExecutionProviders =
    "disable_synchronize_execution_providers";

/** Number of the recorded device graph to use or to record; "-1" runs without one. "0" is the default graph. */
static const char* const kOrtRunOptionsConfigCudaGraphAnnotation = "gpu_graph_id";

/** Switch: the caller is recording a device graph on the stream of the session, and the run only adds to it; an
 *  error when nobody is. */
static const char* const kOrtRunOptionsConfigExternalDeviceGraphCapture = "external_device_graph_capture";

/** For QNN: performance mode before the run. */
static const char* const kOrtRunOptionsConfigQnnPerfMode = "qnn.htp_perf_mode";

/** For QNN: performance mode after the run. */
static const char* const kOrtRunOptionsConfigQnnPerfModePostRun = "qnn.htp_perf_mode_post_run";

/** For QNN: latency of remote calls in microseconds. */
static const char* const kOrtRunOptionsConfigQnnRpcControlLatency = "qnn.rpc_control_latency";

/** For QNN: path of a file that says which adapters to apply. */
static const char* const kOrtRunOptionsConfigQnnLoraConfig = "qnn.lora_config";
