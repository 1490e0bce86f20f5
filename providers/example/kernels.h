// The kernel registry, and the kernels in it.
#pragma once

#include <string>

#include "host.h"

namespace ortolan::example {

class Provider;

/** What a kernel is for. Versions count as in the operator set; both are included. */
struct KernelRow {
  const char* operation;
  int since;
  int until;
  OrtMemType input;   // of all inputs
  OrtMemType output;  // of all outputs
  const char* typed;  // the type parameter that must be a float tensor; null for none
  OrtKernelCreateFunc make;
};

/** Empty, and NULL for the runtime, while nothing was added. */
class KernelRegistry {
 public:
  explicit KernelRegistry(const Host& host) : host_(host) {}
  ~KernelRegistry();
  KernelRegistry(const KernelRegistry&) = delete;
  KernelRegistry& operator=(const KernelRegistry&) = delete;

  /** `state` goes to the row's function. */
  void add(const KernelRow& row, const std::string& provider, void* state);
  const OrtKernelRegistry* get() const { return registry_; }

 private:
  const Host host_;
  OrtKernelRegistry* registry_ = nullptr;
};

/** MemcpyFromHost and MemcpyToHost: nodes that a runtime puts between providers. */
void add_copy_kernels(KernelRegistry& registry, Provider& provider);

/** Mul and Add of floats. */
void add_compute_kernels(KernelRegistry& registry, Provider& provider);

}  // namespace ortolan::example
