// Prepared models: the rewritten graph of a session, its weights, and the packed forms that kernels made of them, in
// one file that later sessions map.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory/mapped_file.h"
#include "base/memory/packed_parts.h"
#include "base/text_hash.h"
#include "onnx/reader.h"
#include "runtime/kernels/packed_weights.h"

namespace ortolan::runtime {

/** A file that a prepared model was made from, and how it was then. */
struct PreparedSource {
  std::string path;
  base::FileStamp stamp;
  uint64_t hash = 0;  // of the content
};

/** A prepared model's file, mapped. Thread-safe. */
class PreparedModel {
 public:
  /** Whether the file begins as prepared models do; false where it cannot be read. */
  static bool is_at(const std::string& path);
  /** Throws kFail, with what is to be done, for a file that is damaged, of another version of this library, or none. */
  static std::shared_ptr<const PreparedModel> open(const std::string& path);

  /** What decided on the graph beside the sources: PreparedKey. */
  const std::string& key() const { return key_; }
  /** Whether the files that it was made from are as they were: by size and time, or else by content. */
  bool is_current() const;
  /** Throws kFail unless all bytes are those that were written. Reads the whole file. */
  void check_content() const;

  /** The graph, whose large weights are views into the file, which stays mapped as long as they live. */
  std::unique_ptr<graph::Model> read(const onnx::ReadOptions& options) const;
  /** The parts of that form of weights from the file, or NULL. They are valid as long as `this`. */
  const base::PackedParts* find(const Tensor& weights, std::string_view form) const;
  /** Whether its forms are those of this processor; if not, there are none. */
  bool is_for_this_machine() const { return is_for_this_machine_; }

 private:
  PreparedModel() = default;
  struct Block {
    uint64_t at = 0, bytes = 0, hash = 0;
  };
  void read_table(std::span<const std::byte> table);
  void read_block(std::span<const std::byte> message);
  void read_form(std::span<const std::byte> message);

  std::shared_ptr<base::MappedFile> file_;
  std::span<const std::byte> graph_;
  uint64_t table_at_ = 0;
  std::vector<Block> blocks_;
  bool is_for_this_machine_ = false;
  std::string key_;
  std::vector<PreparedSource> sources_;
  std::unordered_map<std::string, base::PackedParts, base::TextHash, std::equal_to<>> forms_;
};

/** What the file says of its sources, as they are now. Throws where one cannot be read. */
std::vector<PreparedSource> sources_of(const std::vector<std::shared_ptr<base::MappedFile>>& files);

/** Writes the model, whose weights are all there, with what kernels packed of them. The file is replaced only once all
   is written. */
void write_prepared_model(const graph::Model& model, const std::vector<NotedForm>& forms, const std::string& key,
                          const std::vector<PreparedSource>& sources, const std::string& path);

}  // namespace ortolan::runtime
