// What the library can compute, operator by operator: schema rows, kernel rows and signatures put together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/schema.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::runtime {

/** An input or output of an operator. */
struct CatalogValue {
  std::string name;
  std::string parameter;           // its type parameter; empty where the type is fixed or nothing is known of it
  std::vector<std::string> types;  // that the schema, and with kernels some kernel, accepts: "tensor(float)"
};

/** An operator in the versions [since, until] of its domain, in which nothing of this changes. */
struct CatalogForm {
  const ops::SchemaRow* schema = nullptr;
  int since = 0;
  int until = 0;
  bool has_kernel = false;
  std::vector<CatalogValue> inputs;
  std::vector<CatalogValue> outputs;
};

/** Every form of every operator that has a schema, by domain, name and version; `kernels` are those of one provider. */
std::vector<CatalogForm> operator_catalog(std::span<const KernelTable* const> kernels);

}  // namespace ortolan::runtime
