// Fuzz target: lines of text become entries of session options, run options and an environment's pool, one a line; a
// small model is loaded and run with them. The first letter of a line says whose entry it is, the rest is KEY=VALUE:
//   s session, r run, d free dimension by name, a arena, any other: provider options of the CPU
// Nothing is written outside a folder of its own, for no value has a slash.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "session_run.h"
#include "small_models.h"

using namespace ortolan::fuzz;

namespace {

constexpr size_t kMostLines = 16;

/** Makes a new folder the current one, for models and profiles that options ask for. */
void enter_own_folder() {
  static bool entered = [] {
    char pattern[] = "/tmp/options_fuzz.XXXXXX";
    if (mkdtemp(pattern) == nullptr || chdir(pattern) != 0) std::abort();
    return true;
  }();
  (void)entered;
}

/** Files that the last input had written. */
void empty_own_folder() {
  for (const auto& entry : std::filesystem::directory_iterator(".")) std::filesystem::remove_all(entry.path());
}

struct Settings {
  OrtSessionOptions* session = limited_options(ORT_ENABLE_ALL);
  OrtRunOptions* run = nullptr;

  Settings() { ok(api().CreateRunOptions(&run)); }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  ~Settings() {
    api().ReleaseRunOptions(run);
    api().ReleaseSessionOptions(session);
  }
  void take(char whose, const std::string& key, const std::string& value) {
    const char *keys[] = {key.c_str()}, *values[] = {value.c_str()};
    switch (whose) {
      case 's':
        ok(api().AddSessionConfigEntry(session, keys[0], values[0]));
        break;
      case 'r':
        ok(api().AddRunConfigEntry(run, keys[0], values[0]));
        break;
      case 'd':
        ok(api().AddFreeDimensionOverrideByName(session, keys[0], std::atoll(values[0])));
        break;
      case 'a':
        take_arena(keys, values);
        break;
      default:
        ok(api().SessionOptionsAppendExecutionProvider(session, "CPU", keys, values, 1));
    }
  }

 private:
  static void take_arena(const char** keys, const char** values) {
    size_t number = static_cast<size_t>(std::atoll(values[0]));
    OrtArenaCfg* arena = nullptr;
    if (ok(api().CreateArenaCfgV2(keys, &number, 1, &arena))) api().ReleaseArenaCfg(arena);
  }
};

void take_line(Settings& settings, std::string_view line) {
  if (line.empty()) return;
  size_t equals = std::min(line.find('='), line.size());
  std::string key(line.substr(1, equals == 0 ? 0 : equals - 1));
  std::string value(line.substr(std::min(equals + 1, line.size())));
  std::ranges::replace(value, '/', '_');
  settings.take(line[0], key, value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  enter_own_folder();
  Settings settings;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (size_t i = 0; i < kMostLines && !rest.empty(); ++i) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    take_line(settings, line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  for (const std::string& model : small_models()) {
    OrtSession* session = nullptr;
    if (!ok(api().CreateSessionFromArray(environment(), model.data(), model.size(), settings.session, &session)))
      continue;
    run_once(session, static_cast<uint8_t>(size), settings.run);
    api().ReleaseSession(session);
  }
  empty_own_folder();
  return 0;
}
