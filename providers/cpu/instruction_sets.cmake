# The instruction sets of each architecture: their names (`isas`), which are those of namespaces and the suffixes of files, the
# compiler's options for each (`isa_<name>`), and, where one adds to the set before it, the families that it compiles anew
# (`families_of_<name>`); the others compile all.
if(ORTOLAN_SANITIZE MATCHES "undefined")
  set(only_address -fno-sanitize=undefined)  # would take five minutes a file; the same bodies are watched at other levels
endif()
if(ORTOLAN_ARCHITECTURE STREQUAL x86_64)
  set(isas generic avx2 avxvnni avx512 avx512vnni amx)
  set(isa_avx2 -mavx2 -mfma -mf16c)
  if(ORTOLAN_SANITIZE MATCHES "fuzzer")
    list(APPEND isa_avx2 -fno-sanitize=all)  # takes minutes a file; fuzzing runs the generic kernels (tests/fuzz)
  endif()
  set(isa_avxvnni ${isa_avx2} ${only_address} -mavxvnni)
  set(isa_avx512 ${isa_avx2} ${only_address} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mprefer-vector-width=512
      -Wno-uninitialized -Wno-maybe-uninitialized)  # GCC 12 warns of its own intrinsics
  set(isa_avx512vnni ${isa_avx512} -mavx512vnni)
  set(isa_amx ${isa_avx512vnni} -mavx512bf16 -mamx-tile -mamx-bf16 -mamx-int8)
  set(families_of_avxvnni quantised/gemm_int8 quantised/matmul_nbits)
  set(families_of_avx512vnni convolution_int8/depthwise_int8 quantised/gemm_int8 quantised/matmul_nbits)
elseif(ORTOLAN_ARCHITECTURE STREQUAL aarch64)
  set(isas generic dotprod i8mm sme)  # generic: NEON
  set(isa_dotprod -march=armv8.2-a+dotprod)
  set(isa_i8mm -march=armv8.2-a+dotprod+i8mm+bf16)
  set(families_of_dotprod quantised/gemm_int8 quantised/matmul_nbits)
  set(isa_sme ${isa_i8mm})
  set(families_of_i8mm products/split_neon quantised/gemm_int8 quantised/matmul_nbits)
  set(families_of_sme products/gemm_sme)
  enable_language(ASM)  # what no compiler here has intrinsics for
  set(assembly_sources kernels/products/sme_block_aarch64.S kernels/products/sme_transpose_aarch64.S)
  set_source_files_properties(${assembly_sources} PROPERTIES
                              COMPILE_OPTIONS -Wa,-I${PROJECT_SOURCE_DIR}/providers
                              OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/providers/cpu/kernels/products/sme_streaming_aarch64.inc)
else()
  set(isas generic)
endif()
