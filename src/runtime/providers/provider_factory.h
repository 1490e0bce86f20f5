// How a session gets its execution providers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ortolan::base {
class Logger;
}
namespace ortolan::graph {
struct Model;
}

namespace ortolan::runtime {

class ExecutionProvider;
enum class HardwareType : int;
struct SessionOptions;

/** Whether what a provider once compiled works now; numbers are those of OrtCompiledModelCompatibility. */
enum class Compatibility : int { kNotApplicable = 0, kOptimal = 1, kPreferRecompilation = 2, kUnsupported = 3 };

/** Makes a provider for one session. Thread-safe; sessions share it and keep what it needs loaded. */
class ProviderFactory {
 public:
  virtual ~ProviderFactory() = default;
  /** The type of the providers it makes, as "ExampleExecutionProvider". */
  virtual const std::string& type() const = 0;
  /** `options` and `logger` live as long as the provider. Throws when the provider cannot be made. */
  virtual std::unique_ptr<ExecutionProvider> make(const SessionOptions& options, const base::Logger& logger) const = 0;
  /** Judges a text that one of its providers gave as ExecutionProvider::compatibility_info. */
  virtual Compatibility judge(const std::string& info) const { return Compatibility::kNotApplicable; }
  /** The kinds of the devices that its providers use, as far as they are known. */
  virtual std::vector<HardwareType> device_types() const { return {}; }
};

/** A provider asked for, in priority order. */
struct ProviderRequest {
  std::string name;  // "CPUExecutionProvider"
  std::map<std::string, std::string> options;
  std::shared_ptr<const ProviderFactory> factory;  // NULL: the built-in provider of that name
  bool required = true;                            // false: a session goes on, with a warning, where it cannot be made
};

/** The session entry that holds a provider's option: "ep.<type in lower case>.<key>". */
std::string provider_entry(const std::string& type, const std::string& key);

/** Chooses providers when a session is made, once its model is read. It may add config entries to the options. */
using SelectProviders = std::function<std::vector<ProviderRequest>(SessionOptions& options, const graph::Model& model)>;

}  // namespace ortolan::runtime
