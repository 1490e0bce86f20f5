// An operator that the caller brings: its schema and its kernel's maker.
#pragma once

#include <memory>
#include <string>

#include "ops/infer_context.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::runtime {

/** A schema row that carries its own rule and kernel. The row's strings must live as long as the object; its `rule` is
    set here. Rows of one domain and name are tried in the order given; the first whose types fit the node wins. */
class CustomOperator : public ops::SchemaRow {
 public:
  explicit CustomOperator(const ops::SchemaRow& row) : SchemaRow(row) {
    rule = [](ops::InferContext& context) {
      static_cast<const CustomOperator*>(context.node().schema)->infer(context);
    };
    flags |= ops::kCustom;
  }
  virtual ~CustomOperator() = default;
  CustomOperator(const CustomOperator&) = delete;
  CustomOperator& operator=(const CustomOperator&) = delete;

  /** The provider whose nodes it computes; "" and "CPUExecutionProvider" both mean the CPU. */
  virtual std::string_view provider() const { return ""; }
  /** The shape rule; types of outputs must be set, shapes where they can be known. */
  virtual void infer(ops::InferContext& context) const = 0;
  virtual std::unique_ptr<OpKernel> make(const KernelInfo& info) const = 0;
  virtual Reuse reuse() const { return Reuse::kNone; }
};

}  // namespace ortolan::runtime
