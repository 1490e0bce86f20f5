// What plugins report, as errors.
#include "api/plugins/ep_members.h"

namespace ortolan::api {

void throw_plugin_status(OrtStatus* status, std::string_view provider, const char* function) {
  try {
    throw_status(status);
  } catch (const base::Error& error) {
    throw error.within(base::join("execution provider ", provider, ": ", function));
  }
}

}  // namespace ortolan::api
