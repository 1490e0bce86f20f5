// The one place where exceptions become statuses.
#include "api/guard.h"

#include <exception>
#include <new>

#include "api/status.h"
#include "base/error.h"

namespace ortolan::api {

OrtStatus* guard(base::FunctionRef<void()> body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const base::Error& error) {
    return make_status(static_cast<OrtErrorCode>(error.code()), error.text());
  } catch (const std::bad_alloc&) {
    return make_status(ORT_FAIL, "out of memory");
  } catch (const std::exception& error) {
    return make_status(ORT_RUNTIME_EXCEPTION, error.what());
  } catch (...) {
    return make_status(ORT_RUNTIME_EXCEPTION, "an exception of unknown type");
  }
}

}  // namespace ortolan::api
