// Offers functions under the version nodes of other releases as well; part of the shared library only, since version
// nodes exist only there. The node of the plain names needs nothing here: the version script gives it to them.
#include "onnxruntime_c_api.h"

extern "C" {

#define ORTOLAN_FORWARDER(name) ortolan_every_version_##name

const OrtApiBase* ORTOLAN_FORWARDER(OrtGetApiBase)(void) noexcept { return OrtGetApiBase(); }

#define ORTOLAN_FORWARD_APPEND(name)                                                       \
  OrtStatus* ORTOLAN_FORWARDER(name)(OrtSessionOptions * options, int argument) noexcept { \
    return name(options, argument);                                                        \
  }
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_CPU)
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_CUDA)
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_Dnnl)
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_MIGraphX)
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_ROCM)
ORTOLAN_FORWARD_APPEND(OrtSessionOptionsAppendExecutionProvider_Tensorrt)

// The assembler takes one version a symbol, hence one alias of the forwarder a version.
#define ORTOLAN_ALIAS(name, version, suffix)                                         \
  extern decltype(ORTOLAN_FORWARDER(name)) name##_in_##suffix                        \
      __attribute__((alias("ortolan_every_version_" #name), visibility("default"))); \
  __asm__(".symver " #name "_in_" #suffix ", " #name "@" version);
#include "exported_aliases.inc"
}
