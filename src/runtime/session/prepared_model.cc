// The file of a prepared model: a head, then the blocks of weights and packed forms, then a table in protobuf's wire
// format, which holds the graph.
#include "runtime/session/prepared_model.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/build_id.h"
#include "base/cpu_features.h"
#include "base/digest.h"
#include "base/memory/aligned_block.h"
#include "base/memory/new_file.h"
#include "onnx/wire_writer.h"
#include "onnx/writer.h"

namespace ortolan::runtime {
namespace {

using base::PackedParts;
using onnx::Bytes;

constexpr char kPreparedMagic[16] = {'o', 'r', 't', 'o', 'l', 'a', 'n', ' ', 'p', 'r', 'e', 'p', 'a', 'r', 'e', 'd'};
constexpr size_t kLeastBlock = 4096;  // smaller weights stand in the graph; readers copy them
constexpr const char* kFileOfBlocks = "weights";

struct Head {
  char magic[16];
  uint64_t file_bytes, table_at, table_bytes, table_hash;
  uint64_t unused[2];
};
static_assert(sizeof(Head) == base::kBlockAlignment);

// The numbers of fields.
namespace table_field {
enum : uint32_t { kLibrary = 1, kMachine = 2, kKey = 3, kSource = 4, kGraph = 5, kBlock = 6, kForm = 7 };
}
namespace source_field {
enum : uint32_t { kPath = 1, kBytes = 2, kModified = 3, kHash = 4 };
}
namespace block_field {
enum : uint32_t { kAt = 1, kBytes = 2, kHash = 3 };
}
namespace form_field {
enum : uint32_t { kName = 1, kWeights = 2, kChoices = 3, kParts = 4 };
}

uint64_t digest_of(Bytes bytes) {
  base::Digest digest;
  digest.add(bytes);
  return digest.value();
}

/** What reads a file of this build only: names of operators and layouts change without notice. */
const std::string& this_library() {
  require(!base::build_id().empty(), ErrorCode::kNotImplemented,
          "this library was linked without a build identifier, by which prepared models tell libraries apart; link it "
          "with --build-id");
  return base::build_id();
}

/** What decides on layouts beside the names of forms. */
std::string this_machine() {
  const base::CpuFeatures& cpu = base::cpu_features();
  return join(base::isa_name(cpu.isa), " ", cpu.streaming_bytes, " ", cpu.l1d_bytes, " ", cpu.l2_bytes, " ",
              cpu.l3_bytes);
}

std::string form_key(uint64_t weights, std::string_view form) { return join(weights, "|", form); }

[[noreturn]] void fail_for_damage() {
  fail(ErrorCode::kFail, "the prepared model is damaged; make it again with 'ortolan prepare'");
}

/** Writes one file, block after block. */
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  void add_texts(const std::string& key, const std::vector<PreparedSource>& sources) {
    table_.text(table_field::kLibrary, this_library());
    table_.text(table_field::kMachine, this_machine());
    table_.text(table_field::kKey, key);
    for (const PreparedSource& source : sources) {
      onnx::WireWriter out;
      out.text(source_field::kPath, source.path);
      out.integer(source_field::kBytes, static_cast<int64_t>(source.stamp.bytes));
      out.integer(source_field::kModified, source.stamp.modified);
      out.integer(source_field::kHash, static_cast<int64_t>(source.hash));
      table_.message(table_field::kSource, std::move(out));
    }
  }

  void add_graph(const graph::Model& model) {
    auto place = [&](std::string_view, const Tensor& value) { return place_of(value); };
    const onnx::PlaceInitializer as_block = place;
    onnx::WriteOptions options;
    options.place = &as_block;
    std::string message;
    onnx::write_model(model, options, "", [&](Bytes piece, uint64_t) {
      message.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    table_.bytes(table_field::kGraph, message);
  }

  void add_form(const NotedForm& form) {
    auto weights = places_.find({form.weights, form.weights_bytes});
    if (weights == places_.end()) return;  // small, or made while kernels were made
    onnx::WireWriter out;
    out.text(form_field::kName, form.name);
    out.integer(form_field::kWeights, static_cast<int64_t>(weights->second));
    out.bytes(form_field::kChoices,
              {reinterpret_cast<const char*>(form.parts->choices.data()), form.parts->choices.size()});
    std::vector<int64_t> blocks;
    for (const PackedParts::Block& block : form.parts->blocks) {
      blocks.push_back(block_count_);
      add_block({static_cast<const std::byte*>(block.data.get()), block.bytes});
    }
    out.packed(form_field::kParts, blocks);
    table_.message(table_field::kForm, std::move(out));
  }

  void commit() {
    Head head{};
    std::memcpy(head.magic, kPreparedMagic, sizeof kPreparedMagic);
    head.table_at = end_;
    std::string table;
    for (Bytes piece : table_.pieces()) table.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    const Bytes bytes = std::as_bytes(std::span(table));
    head.table_bytes = bytes.size();
    head.table_hash = digest_of(bytes);
    head.file_bytes = end_ + bytes.size();
    file_.write(bytes, end_);
    file_.write(std::as_bytes(std::span(&head, 1)), 0);
    file_.commit();
  }

 private:
  std::optional<tensor::ExternalPlace> place_of(const Tensor& value) {
    const size_t bytes = value.byte_count();
    if (bytes < kLeastBlock || value.type() == ElementType::kString) return std::nullopt;
    require(value.raw() != nullptr, ErrorCode::kRuntimeException, "weights of shape ", value.shape(),
            " are to be written, but their memory was given back");
    auto [place, is_new] = places_.try_emplace({value.raw(), bytes}, 0);
    if (is_new) place->second = add_block({static_cast<const std::byte*>(value.raw()), bytes});
    return tensor::ExternalPlace{kFileOfBlocks, place->second, bytes};
  }

  uint64_t add_block(Bytes bytes) {
    const uint64_t at = end_;
    file_.write(bytes, at);
    onnx::WireWriter out;
    out.integer(block_field::kAt, static_cast<int64_t>(at));
    out.integer(block_field::kBytes, static_cast<int64_t>(bytes.size()));
    out.integer(block_field::kHash, static_cast<int64_t>(digest_of(bytes)));
    table_.message(table_field::kBlock, std::move(out));
    end_ = (at + bytes.size() + base::kBlockAlignment - 1) / base::kBlockAlignment * base::kBlockAlignment;
    ++block_count_;
    return at;
  }

  base::NewFile file_;
  onnx::WireWriter table_;
  std::map<std::pair<const void*, size_t>, uint64_t> places_;  // of weights, by memory and size
  uint64_t end_ = sizeof(Head);
  int64_t block_count_ = 0;
};

PreparedSource read_source(Bytes message) {
  PreparedSource source;
  onnx::WireReader reader(message, "source");
  while (reader.next()) {
    if (reader.number() == source_field::kPath) source.path = reader.field().text();
    if (reader.number() == source_field::kBytes) source.stamp.bytes = static_cast<uint64_t>(reader.field().integer());
    if (reader.number() == source_field::kModified) source.stamp.modified = reader.field().integer();
    if (reader.number() == source_field::kHash) source.hash = static_cast<uint64_t>(reader.field().integer());
  }
  return source;
}

/** Whether the file is as it was: by its size and time, or else by its content. */
bool is_as_it_was(const PreparedSource& source) {
  try {
    const auto file = base::MappedFile::open(source.path);
    const base::FileStamp now = file->stamp(), &then = source.stamp;
    if (now.bytes != then.bytes) return false;
    return (now.modified != 0 && now.modified == then.modified) || digest_of(file->bytes()) == source.hash;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool PreparedModel::is_at(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char begin[sizeof kPreparedMagic];
  const bool is_prepared =
      ::read(fd, begin, sizeof begin) == sizeof begin && std::memcmp(begin, kPreparedMagic, sizeof begin) == 0;
  ::close(fd);
  return is_prepared;
}

std::shared_ptr<const PreparedModel> PreparedModel::open(const std::string& path) {
  try {
    std::shared_ptr<PreparedModel> model(new PreparedModel);
    model->file_ = base::MappedFile::open(path);
    const Bytes all = model->file_->bytes();
    Head head;
    if (all.size() < sizeof head) fail_for_damage();
    std::memcpy(&head, all.data(), sizeof head);
    const bool fits = std::memcmp(head.magic, kPreparedMagic, sizeof kPreparedMagic) == 0 &&
                      head.file_bytes == all.size() && head.table_at >= sizeof head && head.table_at <= all.size() &&
                      head.table_bytes == all.size() - head.table_at;
    if (!fits) fail_for_damage();
    model->table_at_ = head.table_at;
    const Bytes table = all.subspan(head.table_at);
    if (digest_of(table) != head.table_hash) fail_for_damage();
    model->read_table(table);
    return model;
  } catch (const Error& error) {
    throw error.within(join("cannot load model '", path, "'"));
  }
}

void PreparedModel::read_table(Bytes table) {
  onnx::WireReader reader(table, "prepared model");
  std::vector<Bytes> forms;
  std::string_view library, machine;
  while (reader.next()) {
    const onnx::Field& field = reader.field();
    if (field.number() == table_field::kLibrary) library = field.text();
    if (field.number() == table_field::kMachine) machine = field.text();
    if (field.number() == table_field::kKey) key_ = field.text();
    if (field.number() == table_field::kSource) sources_.push_back(read_source(field.bytes()));
    if (field.number() == table_field::kGraph) graph_ = field.bytes();
    if (field.number() == table_field::kBlock) read_block(field.bytes());
    if (field.number() == table_field::kForm) forms.push_back(field.bytes());
  }
  require(library == this_library(), ErrorCode::kFail, "it was prepared by another build of this library (", library,
          "; this one is ", this_library(), "); prepare it again with 'ortolan prepare'");
  is_for_this_machine_ = machine == this_machine();
  if (!is_for_this_machine_) return;
  for (Bytes form : forms) read_form(form);
}

void PreparedModel::read_block(Bytes message) {
  Block block;
  onnx::WireReader reader(message, "block");
  while (reader.next()) {
    const auto value = static_cast<uint64_t>(reader.field().integer());
    if (reader.number() == block_field::kAt) block.at = value;
    if (reader.number() == block_field::kBytes) block.bytes = value;
    if (reader.number() == block_field::kHash) block.hash = value;
  }
  const bool fits =
      block.at % base::kBlockAlignment == 0 && block.at <= table_at_ && block.bytes <= table_at_ - block.at;
  if (!fits) fail_for_damage();
  blocks_.push_back(block);
}

void PreparedModel::read_form(Bytes message) {
  std::string_view name;
  uint64_t weights = 0;
  PackedParts parts;
  onnx::WireReader reader(message, "form");
  while (reader.next()) {
    const onnx::Field& field = reader.field();
    if (field.number() == form_field::kName) name = field.text();
    if (field.number() == form_field::kWeights) weights = static_cast<uint64_t>(field.integer());
    if (field.number() == form_field::kChoices) {
      for (std::byte choice : field.bytes()) parts.choices.push_back(static_cast<uint8_t>(choice));
    }
    if (field.number() == form_field::kParts) {
      field.each_integer([&](int64_t index) {
        if (index < 0 || static_cast<size_t>(index) >= blocks_.size()) fail_for_damage();
        const Block& block = blocks_[static_cast<size_t>(index)];
        auto* data = const_cast<std::byte*>(file_->bytes().data() + block.at);  // the mapping is read only
        parts.blocks.push_back({std::shared_ptr<void>(file_, data), block.bytes});
      });
    }
  }
  forms_.emplace(form_key(weights, name), std::move(parts));
}

bool PreparedModel::is_current() const { return std::ranges::all_of(sources_, is_as_it_was); }

void PreparedModel::check_content() const {
  for (const Block& block : blocks_) {
    if (digest_of(file_->bytes().subspan(block.at, block.bytes)) != block.hash) fail_for_damage();
  }
}

std::unique_ptr<graph::Model> PreparedModel::read(const onnx::ReadOptions& options) const {
  onnx::ReadOptions own = options;
  own.external_files[kFileOfBlocks] = {file_->bytes(), file_};
  try {
    auto model = onnx::read_model_bytes({graph_, file_}, own);
    model->path = file_->path();
    return model;
  } catch (const Error& error) {
    throw error.within(join("prepared model '", file_->path(), "'"));
  }
}

const PackedParts* PreparedModel::find(const Tensor& weights, std::string_view form) const {
  if (!file_->contains(weights.raw())) return nullptr;
  const auto at = static_cast<uint64_t>(static_cast<const std::byte*>(weights.raw()) - file_->bytes().data());
  auto found = forms_.find(form_key(at, form));
  return found == forms_.end() ? nullptr : &found->second;
}

std::vector<PreparedSource> sources_of(const std::vector<std::shared_ptr<base::MappedFile>>& files) {
  std::vector<PreparedSource> sources;
  for (const auto& file : files) {
    const std::string path = std::filesystem::absolute(file->path()).string();
    sources.push_back({path, file->stamp(), digest_of(file->bytes())});
  }
  return sources;
}

void write_prepared_model(const graph::Model& model, const std::vector<NotedForm>& forms, const std::string& key,
                          const std::vector<PreparedSource>& sources, const std::string& path) {
  try {
    Writer writer(path);
    writer.add_texts(key, sources);
    writer.add_graph(model);
    for (const NotedForm& form : forms) writer.add_form(form);
    writer.commit();
  } catch (const Error& error) {
    throw error.within(join("cannot write the prepared model '", path, "'"));
  }
}

}  // namespace ortolan::runtime
