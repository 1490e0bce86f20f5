// Calls about sessions: made of small models, asked, run and run without waiting.
#include <atomic>
#include <thread>

#include "calls.h"
#include "small_models.h"

namespace ortolan::fuzz {
namespace {

void create_session(Handles& h) {
  const std::string& model = h.choices.one_of(small_models());
  Held<OrtSessionOptions> options = h.options.pick(h.choices);
  Held<OrtPrepackedWeightsContainer> container = h.containers.pick(h.choices);
  OrtSession* session = nullptr;
  if (!options) return;
  if (container) {
    if (!ok(api().CreateSessionFromArrayWithPrepackedWeightsContainer(environment(), model.data(), model.size(),
                                                                      options.get(), container.get(), &session))) {
      return;
    }
  } else if (!ok(api().CreateSessionFromArray(environment(), model.data(), model.size(), options.get(), &session))) {
    return;
  }
  h.sessions.add(held(session, api().ReleaseSession, {container}));
}

void create_weights_container(Handles& h) {
  OrtPrepackedWeightsContainer* container = nullptr;
  if (ok(api().CreatePrepackedWeightsContainer(&container))) {
    h.containers.add(held(container, api().ReleasePrepackedWeightsContainer));
  }
}

void ask_session(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  if (!session) return;
  size_t index = h.choices.below(4), count = 0;
  char* name = nullptr;
  OrtTypeInfo* type = nullptr;
  ok(api().SessionGetOverridableInitializerCount(session.get(), &count));
  bool input = h.choices.once_in(2);
  auto get_name = input ? api().SessionGetInputName : api().SessionGetOutputName;
  auto get_type = input ? api().SessionGetInputTypeInfo : api().SessionGetOutputTypeInfo;
  if (ok(get_name(session.get(), index, h.default_allocator(), &name))) h.free(name);
  if (ok(get_type(session.get(), index, &type))) h.types.add(held(type, api().ReleaseTypeInfo));
}

void create_metadata(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  OrtModelMetadata* metadata = nullptr;
  if (session && ok(api().SessionGetModelMetadata(session.get(), &metadata))) {
    h.metadata.add(held(metadata, api().ReleaseModelMetadata));
  }
}

void ask_metadata(Handles& h) {
  Held<OrtModelMetadata> metadata = h.metadata.pick(h.choices);
  if (!metadata) return;
  char* text = nullptr;
  int64_t version = 0;
  if (ok(api().ModelMetadataGetProducerName(metadata.get(), h.default_allocator(), &text))) h.free(text);
  text = nullptr;
  if (ok(api().ModelMetadataLookupCustomMetadataMap(metadata.get(), h.default_allocator(), h.text(), &text))) {
    h.free(text);
  }
  ok(api().ModelMetadataGetVersion(metadata.get(), &version));
}

void create_allocator(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  Held<OrtMemoryInfo> info = h.memory_infos.pick(h.choices);
  OrtAllocator* allocator = nullptr;
  if (session && info && ok(api().CreateAllocator(session.get(), info.get(), &allocator))) {
    h.allocators.add(held(allocator, api().ReleaseAllocator, {session}));
  }
}

/** The arguments of a run: the session's names, sometimes one that is wrong, and values of any kind. */
class Arguments {
 public:
  Arguments(Handles& h, OrtSession* session) : handles_(h) {
    size_t inputs = 0, outputs = 0;
    ok(api().SessionGetInputCount(session, &inputs));
    ok(api().SessionGetOutputCount(session, &outputs));
    for (size_t i = 0; i < inputs; ++i) {
      add_name(api().SessionGetInputName, session, i, input_names_);
      kept_.push_back(h.values.pick(h.choices));
      inputs_.push_back(kept_.back().get());
    }
    for (size_t i = 0; i < outputs; ++i) {
      add_name(api().SessionGetOutputName, session, i, output_names_);
      kept_.push_back(h.choices.once_in(4) ? h.values.pick(h.choices) : nullptr);
      given_.push_back(kept_.back().get());
    }
    results_ = given_;
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  /** New results become values. */
  ~Arguments() {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (results_[i] != given_[i]) handles_.add_value(results_[i]);
    }
    for (char* name : texts_) handles_.free(name);
  }

  bool run(OrtSession* session, const OrtRunOptions* options) {
    return ok(api().Run(session, options, input_names_.data(), inputs_.data(), inputs_.size(), output_names_.data(),
                        given_.size(), results_.data()));
  }
  void run_async(OrtSession* session, const OrtRunOptions* options) {
    std::atomic<bool> done{false};
    auto callback = [](void* state, OrtValue**, size_t, OrtStatusPtr status) {
      ok(status);
      static_cast<std::atomic<bool>*>(state)->store(true);
    };
    if (!ok(api().RunAsync(session, options, input_names_.data(), inputs_.data(), inputs_.size(), output_names_.data(),
                           given_.size(), results_.data(), callback, &done))) {
      return;
    }
    while (!done) std::this_thread::yield();
  }

 private:
  template <class Get>
  void add_name(Get get, OrtSession* session, size_t i, std::vector<const char*>& names) {
    char* name = nullptr;
    ok(get(session, i, handles_.default_allocator(), &name));
    texts_.push_back(name);
    names.push_back(handles_.choices.once_in(16) ? handles_.text() : name);
  }

  Handles& handles_;
  std::vector<char*> texts_;
  std::vector<Held<OrtValue>> kept_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<const OrtValue*> inputs_;
  std::vector<OrtValue*> given_, results_;
};

void run(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  Held<OrtRunOptions> options = h.run_options.pick(h.choices);
  if (session) Arguments(h, session.get()).run(session.get(), options.get());
}

void run_without_waiting(Handles& h) {
  Held<OrtSession> session = h.sessions.pick(h.choices);
  Held<OrtRunOptions> options = h.run_options.pick(h.choices);
  if (session) Arguments(h, session.get()).run_async(session.get(), options.get());
}

void run_on_what_fits(Handles& h) {
  if (Held<OrtSession> session = h.sessions.pick(h.choices)) run_once(session.get(), h.choices.byte());
}

void drop(Handles& h) {
  switch (h.choices.below(3)) {
    case 0:
      return h.sessions.drop(h.choices);
    case 1:
      return h.metadata.drop(h.choices);
    default:
      return h.containers.drop(h.choices);
  }
}

constexpr Call kCalls[] = {create_session,      create_weights_container, ask_session, create_metadata,
                           ask_metadata,        create_allocator,         run,         run,
                           run_without_waiting, run_on_what_fits,         drop};

}  // namespace

std::span<const Call> session_calls() { return kCalls; }

}  // namespace ortolan::fuzz
