// The cache of packed weights.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/memory/packed_parts.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::runtime {

/** How a cache knows equal weights. */
enum class WeightsKey {
  kOwner,    // the same place in memory of the same owner, dead owners never being taken for living ones; without an
             // owner, the content: enough within one session
  kContent,  // a hash of the bytes, so that sessions of different files share (OrtPrepackedWeightsContainer)
};

class PreparedModel;

/** What a kernel packed of some weights: the memory they lay in, the form's name, and its parts. */
struct NotedForm {
  const void* weights = nullptr;
  size_t weights_bytes = 0;
  std::string name;
  std::unique_ptr<base::PackedParts> parts;
};

/** How many forms came from a prepared model, and how many were packed. */
struct FormCounts {
  size_t taken = 0, made = 0;
};

/** Finds packed weights by memory or content, layout, type and shape. Thread-safe. */
class PackedWeightsCache : public PackedWeights {
 public:
  explicit PackedWeightsCache(WeightsKey key) : key_(key) {}
  /** Throws where the weights' memory was given back. */
  std::shared_ptr<void> get(const Tensor& weights, std::string_view layout,
                            FunctionRef<std::shared_ptr<void>()> make) override;
  /** From now on, forms of weights that lie in the prepared model come from there, where it has them. */
  void take_from(std::shared_ptr<const PreparedModel> prepared) { prepared_ = std::move(prepared); }
  /** From now on, what is packed is noted. */
  void note_forms() { notes_ = true; }
  const std::vector<NotedForm>& noted() const { return noted_; }
  FormCounts counts() const { return counts_; }
  /** True when other sessions may get what is packed here. */
  bool across_sessions() const { return key_ == WeightsKey::kContent; }

 private:
  /** One form of some weights. The owner is not kept alive, but while it is named here no other can be equal to it. */
  struct Key {
    std::weak_ptr<void> owner;
    const void* place = nullptr;  // only beside an owner
    std::string text;
    bool operator<(const Key& other) const;
  };
  Key key_of(const Tensor& weights, std::string form) const;
  std::shared_ptr<void> make_form(const Tensor& weights, const std::string& form,
                                  FunctionRef<std::shared_ptr<void>()> make);

  const WeightsKey key_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<void>> packed_;
  std::shared_ptr<const PreparedModel> prepared_;
  bool notes_ = false;
  FormCounts counts_;
  std::vector<NotedForm> noted_;
};

}  // namespace ortolan::runtime
