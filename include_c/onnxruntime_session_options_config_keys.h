/** Keys for AddSessionConfigEntry. Keys are 1 to 128 bytes long and values up to 1024. A switch takes "0" or "1", and
 * is "0" unless its comment says otherwise. Unknown keys are kept and have no effect.
 */
#pragma once

/* ==== Model files ==== */

/** Format of the model to load: "ONNX", or "ORT" for the flat-buffer format. By default the file name (.ort) or the
 *  first bytes tell. */
static const char* const kOrtSessionOptionsConfigLoadModelFormat = "session.load_model_format";

/** Format of the optimised model to save: "ONNX" or "ORT". By default the file name tells. */
static const char* const kOrtSessionOptionsConfigSaveModelFormat = "session.save_model_format";

/** Switch: a model that is given as bytes in ORT format is used in place instead of copied; the caller keeps the
 *  bytes alive and unchanged as long as the session. */
static const char* const kOrtSessionOptionsConfigUseORTModelBytesDirectly = "session.use_ort_model_bytes_directly";

/** Switch: initializers too stay in the bytes of such a model. Needs the key above. */
static const char* const kOrtSessionOptionsConfigUseORTModelBytesForInitializers =
    "session.use_ort_model_bytes_for_initializers";

/** Folder of the external data of a model that is given as bytes. */
static const char* const kOrtSessionOptionsModelExternalInitializersFileFolderPath =
    "session.model_external_initializers_file_folder_path";

/** When the optimised model is saved: name of the file beside it that receives its large initializers. */
static const char* const kOrtSessionOptionsOptimizedModelExternalInitializersFileName =
    "session.optimized_model_external_initializers_file_name";

/** Size in bytes from which an initializer counts as large for the key above. */
static const char* const kOrtSessionOptionsOptimizedModelExternalInitializersMinSizeInBytes =
    "session.optimized_model_external_initializers_min_size_in_bytes";

/** Switch: write weights into that file in the packed form that kernels use. */
static const char* const kOrtSessionOptionsSavePrePackedConstantInitializers =
    "session.save_external_prepacked_constant_initializers";

/** Switch: a contradiction that type and shape inference finds is an error instead of a warning. */
static const char* const kOrtSessionOptionsConfigStrictShapeTypeInference = "session.strict_shape_type_inference";

/** Switch: refuse models that use an operator set newer than the newest released one. "1" by default. */
static const char* const kOrtSessionOptionsConfigStrictAllowReleasedOpsetsOnly = "session.allow_released_opsets_only";

/* ==== Rewriting the graph ==== */

/** Switch: leave QuantizeLinear and DequantizeLinear as they are, without integer kernels in place of the operators
 *  between. */
static const char* const kOrtSessionOptionsDisableQuantQDQ = "session.disable_quant_qdq";

/** Switch: keep pairs of DequantizeLinear and QuantizeLinear that undo one another. */
static const char* const kOrtSessionOptionsDisableDoubleQDQRemover = "session.disable_double_qdq_remover";

/** Switch: after all other rewriting, remove remaining QuantizeLinear and DequantizeLinear pairs; faster, and rounds
 *  less. */
static const char* const kOrtSessionOptionsEnableQuantQDQCleanup = "session.enable_quant_qdq_cleanup";

/** Switch: signed 8-bit activations are allowed where the target, such as ARM, has kernels for them. */
static const char* const kOrtSessionOptionsQDQIsInt8Allowed = "session.qdqisint8allowed";

/** Switch: on x86-64 without VNNI, avoid the saturating product of unsigned and signed bytes; slower and exact. */
static const char* const kOrtSessionOptionsAvx2PrecisionMode = "session.x64quantprecision";

/** Accuracy level given to MatMulNBits where it replaces DequantizeLinear and MatMul. "4" by default. */
static const char* const kOrtSessionOptionsQDQMatMulNBitsAccuracyLevel = "session.qdq_matmulnbits_accuracy_level";

/** Block size for the same, a power of two from "16"; "0" chooses 32, "-1" chooses by shape. */
static const char* const kOrtSessionOptionsQDQMatMulNBitsBlockSize = "session.qdq_matmulnbits_block_size";

/** Switch: replace DequantizeLinear and MatMul by MatMulNBits. */
static const char* const kOrtSessionOptionsEnableDQMatMulNBitsFusion = "session.enable_dq_matmulnbits_fusion";

/** Switch: allow the tanh form in place of the exact Gelu; changes results slightly. */
static const char* const kOrtSessionOptionsEnableGeluApproximation = "optimization.enable_gelu_approximation";

/** Switch: shorten chains of Cast nodes, also where the steps between would have rounded. */
static const char* const kOrtSessionOptionsEnableCastChainElimination = "optimization.enable_cast_chain_elimination";

/** Switch: keep functions of the model as calls until nodes are given to providers. */
static const char* const kOrtSessionOptionsDisableAheadOfTimeFunctionInlining = "session.disable_aot_function_inlining";

/** Names of rewriting passes to leave out, separated by commas. */
static const char* const kOrtSessionOptionsDisableSpecifiedOptimizers = "optimization.disable_specified_optimizers";

/** Whether passes are repeated until nothing changes: "0" never, "1" after changes by the extended level, "2" also
 *  for the basic level. */
static const char* const kOrtSessionOptionsGraphOptimizationsLoopLevel = "session.graph_optimizations_loop_level";

/** Largest result in bytes that constant folding may put into the model. */
static const char* const kOrtSessionOptionsConstantFoldingMaxOutputSizeInBytes =
    "optimization.constant_folding_max_output_size_in_bytes";

/** For models in ORT format: "save" records rewrites for small builds, "apply" uses only those; empty for neither. */
static const char* const kOrtSessionOptionsConfigMinimalBuildOptimizations = "optimization.minimal_build_optimizations";

/** Switch: save the model after each step of the change of data layout. */
static const char* const kDebugLayoutTransformation = "session.debug_layout_transformation";

/* ==== Memory ==== */

/** Switch: kernels use weights as they are instead of packing them once. */
static const char* const kOrtSessionOptionsConfigDisablePrepacking = "session.disable_prepacking";

/** Switch: use the allocators that were registered with the environment instead of ones of the session. */
static const char* const kOrtSessionOptionsConfigUseEnvAllocators = "session.use_env_allocators";

/** Switch: take memory for initializers from the device itself instead of from the arena. */
static const char* const kOrtSessionOptionsUseDeviceAllocatorForInitializers =
    "session.use_device_allocator_for_initializers";

/** Path of a CSV file that receives the memory that each node used. */
static const char* const kOrtSessionOptionsCollectNodeMemoryStatsToFile = "session.collect_node_memory_stats_to_file";

/** "limit in KiB,file of statistics": how much memory the CUDA provider may plan with. Either part may be empty. */
static const char* const kOrtSessionOptionsResourceCudaPartitioningSettings =
    "session.resource_cuda_partitioning_settings";

/* ==== Threads and arithmetic ==== */

/** Switch: threads within an operator spin for a while before they sleep. "1" by default. */
static const char* const kOrtSessionOptionsConfigAllowIntraOpSpinning = "session.intra_op.allow_spinning";

/** Switch: the same for threads between operators. "1" by default. */
static const char* const kOrtSessionOptionsConfigAllowInterOpSpinning = "session.inter_op.allow_spinning";

/** Switch: threads stop spinning as soon as the last Run at a time returns. */
static const char* const kOrtSessionOptionsConfigForceSpinningStop = "session.force_spinning_stop";

/** A positive number: work is handed out in blocks that shrink as it runs out, from 1/(threads * number) of the
 *  whole. */
static const char* const kOrtSessionOptionsConfigDynamicBlockBase = "session.dynamic_block_base";

/** Processors for each thread but the caller's: lists or ranges, threads separated by semicolons, as in "1,2;3-4".
 *  Processors count from 1. */
static const char* const kOrtSessionOptionsConfigIntraOpThreadAffinities = "session.intra_op_thread_affinities";

/** Switch: subnormal numbers count as zero. */
static const char* const kOrtSessionOptionsConfigSetDenormalAsZero = "session.set_denormal_as_zero";

/** Switch: on arm64, multiply matrices of floats in bfloat16, as kOrtolanSessionOptionsCpuFp32Precision says; that
 * entry goes before this one. */
static const char* const kOrtSessionOptionsMlasGemmFastMathArm64Bfloat16 = "mlas.enable_gemm_fastmath_arm64_bfloat16";

/** Switch: multiply by matrices of few bits through tables. */
static const char* const kOrtSessionOptionsMlasLutGemm = "mlas.use_lut_gemm";

/** Switch: leave out kernels of the KleidiAI library. */
static const char* const kOrtSessionOptionsMlasDisableKleidiAi = "mlas.disable_kleidiai";

/* ==== Execution providers ==== */

/** Switch: creating the session fails when the providers that were added leave a node to the CPU provider. */
static const char* const kOrtSessionOptionsDisableCPUEPFallback = "session.disable_cpu_ep_fallback";

/** Switch: remember which provider took which nodes, for Session_GetEpGraphAssignmentInfo. */
static const char* const kOrtSessionOptionsRecordEpGraphAssignmentInfo = "session.record_ep_graph_assignment_info";

/** Which annotated layers go to which device, as in "gpu(layer1,layer2);cpu(layer3)". */
static const char* const kOrtSessionOptionsLayerAssignmentSettings = "session.layer_assignment_settings";

/** For NNAPI: operator types, separated by commas, from which on nodes are not taken. */
static const char* const kOrtSessionOptionsConfigNnapiEpPartitioningStopOps = "ep.nnapi.partitioning_stop_ops";

/** Path of a file that says which stream runs which nodes. */
static const char* const kNodePartitionConfigFile = "session.node_partition_config_file";

/** Switch: save a model in which the compiled parts are EPContext nodes. */
static const char* const kOrtSessionOptionEpContextEnable = "ep.context_enable";

/** Path of that model. By default the path of the source model with _ctx before its ending. */
static const char* const kOrtSessionOptionEpContextFilePath = "ep.context_file_path";

/** Switch: the compiled data stands in the model; otherwise in files beside it. */
static const char* const kOrtSessionOptionEpContextEmbedMode = "ep.context_embed_mode";

/** Prefix of the names of EPContext nodes, so that several such models can be joined. */
static const char* const kOrtSessionOptionEpContextNodeNamePrefix = "ep.context_node_name_prefix";

/** Switch: providers of several sessions share compiled data. */
static const char* const kOrtSessionOptionShareEpContexts = "ep.share_ep_contexts";

/** Switch: this session is the last one that shares. */
static const char* const kOrtSessionOptionStopShareEpContexts = "ep.stop_share_ep_contexts";

/** Name of the file that receives the initializers of that model. */
static const char* const kOrtSessionOptionsEpContextModelExternalInitializersFileName =
    "ep.context_model_external_initializers_file_name";

/** Switch: EPContext nodes leave out weights, which stay in the source model. */
static const char* const kOrtSessionOptionEpEnableWeightlessEpContextNodes = "ep.enable_weightless_ep_context_nodes";

/** Switch: the newer name of the same, which ModelCompilationOptions_SetWeightlessEnabled sets. */
static const char* const kOrtSessionOptionEpEnableWeightless = "ep.enable_weightless";

/** Switch: creating the session fails with ORT_MODEL_REQUIRES_COMPILATION where a provider would have to compile. */
static const char* const kOrtSessionOptionsDisableModelCompile = "session.disable_model_compile";

/** Switch: creating the session fails when the compiled model works but should be compiled anew. */
static const char* const kOrtSessionOptionsFailOnSuboptimalCompiledModel = "session.fail_on_suboptimal_compiled_model";

/* ==== For SetEpDynamicOptions, at any time ==== */

/** "Default", or "Efficient" to spend less power. */
static const char* const kOrtEpDynamicOptionsWorkloadType = "ep.dynamic.workload_type";

/** For QNN: its performance mode, as in "burst". */
static const char* const kOrtEpDynamicOptionsQnnHtpPerformanceMode = "ep.dynamic.qnn_htp_performance_mode";

/* ==== Ours ==== */

/** How the CPU provider multiplies matrices of floats: "x6" (or "default", and where the entry is missing) is at least
 *  as exact as plain float arithmetic, on processors with AMX by six products of bfloat16; "exact" forces plain float
 *  instructions and convolutions without Winograd's transform; "x3" and "bf16" allow three products or one there,
 *  which are less exact and faster; "bf16" does so for products of matrices on processors with the instruction BFMMLA
 *  of arm64 too. */
static const char* const kOrtolanSessionOptionsCpuFp32Precision = "ortolan.cpu.fp32_precision";

/** The bytes that one run may hold at a time, as a positive number: values that are made in it (strings and lists by
 *  what they hold), the block planned for them and scratch memory, but neither what the caller gives nor weights. A
 *  node that needs more ends the run with ORT_FAIL. Where the entry is missing: four fifths of the memory that the
 *  machine or the process's control group has. The max_mem of an arena that the session shares with others of its
 *  environment bounds runs too, where it is less. */
static const char* const kOrtolanSessionOptionsMaxRunBytes = "ortolan.max_run_bytes";

/** Switch: on machines with several nodes of memory (NUMA), threads within an operator are pinned to a node each, in
 *  proportion to the nodes' processors, and the same share of an operator's items, and so of its weights, belongs to
 * the same node in each run; a node's threads help the others only where they have nothing left. Means nothing on one
 * node, beside session.intra_op_thread_affinities, and for pools that sessions share. "0" by default. */
static const char* const kOrtolanSessionOptionsNuma = "ortolan.numa";

/** Switch, set before the provider is added: TensorRT's names and options stand for the CUDA provider, where no
 *  registered library has TensorrtExecutionProvider. trt_fp16_enable lets float16 products compute in 16 bits, device,
 *  stream and graphs are CUDA's, trt_engine_cache_enable keeps compiled models in the folder trt_engine_cache_path, and
 *  options on how TensorRT builds its engines mean nothing. The session's log says so. */
static const char* const kOrtolanSessionOptionsTensorrtAsCuda = "ortolan.tensorrt_as_cuda";

/** A folder, which is made where it is missing: a session from a file keeps there what its providers compile, as a
 *  compiled model, and reads the model that an earlier session kept for the same file, weights and provider options. It
 *  compiles anew where a provider cannot use what is there. A provider that compiles but gives no EPContext node, or a
 *  folder that cannot be written, fails the session. Nothing is ever removed. */
static const char* const kOrtolanSessionOptionsCompiledModelFolder = "ortolan.compiled_model_folder";

/** A file: a session from a model's file is made from this prepared model, which holds the rewritten graph, the weights
 *  and what the CPU's kernels pack of them, so that creation takes milliseconds and all processes share its memory. It
 *  is written first where it is not there, damaged, or made of another state of the model (size and time of its files,
 *  else content), by another build of this library, for another processor, or with another level, dimensions, precision
 *  or quantisation; a warning says so. A file that cannot be written fails the session. Sessions with other providers,
 *  custom operators or weights of the caller's are made without, after a warning. Such a file is also a model by
 * itself, for sessions from its path; see the command `ortolan prepare`. Do not write into a file that sessions use;
 * replacing it is safe. */
static const char* const kOrtolanSessionOptionsPreparedModelPath = "ortolan.prepared_model_path";

/** Switch: a session from a prepared model first compares every byte with what was written, which reads all of it. */
static const char* const kOrtolanSessionOptionsCheckPreparedModel = "ortolan.check_prepared_model";
