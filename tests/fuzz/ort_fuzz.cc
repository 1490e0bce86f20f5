// Fuzz target: any bytes that bear the mark of ORT format become a session, copied and used in place.
#include <cstring>
#include <vector>

#include "session_run.h"

using namespace ortolan::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> marked(data, data + size);
  if (size >= 8) std::memcpy(marked.data() + 4, "ORTM", 4);
  for (const char* in_place : {"0", "1"}) {
    OrtSessionOptions* options = limited_options(ORT_ENABLE_ALL);
    for (const char* key : {"session.use_ort_model_bytes_directly", "session.use_ort_model_bytes_for_initializers"}) {
      ok(api().AddSessionConfigEntry(options, key, in_place));
    }
    load_and_run(marked, options);
    api().ReleaseSessionOptions(options);
  }
  return 0;
}
