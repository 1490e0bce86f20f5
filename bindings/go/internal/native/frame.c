/* Frames: see frame.h. */
#include "frame.h"

#include <stdlib.h>

enum { kMostDimensions = 8 };

/** What is known of an output; frame.go has the same. The type is 0 where the output is no tensor or has more
 * dimensions than fit. */
typedef struct {
  int64_t type;
  const void* data;
  int64_t size;
  int64_t rank;
  int64_t shape[kMostDimensions];
  int64_t on_cpu;
} Facts;

struct Frame {
  OrtStatus* status;
  int64_t shape[kMostDimensions];
  OrtValue** inputs;
  OrtValue** outputs;
  int32_t* input_choice;
  int32_t* output_choice;
  Facts* facts;
};

Frame* create_frame(size_t inputs, size_t outputs) {
  size_t values = inputs + outputs;
  char* block =
      calloc(1, sizeof(Frame) + outputs * sizeof(Facts) + values * sizeof(OrtValue*) + values * sizeof(int32_t));
  if (!block) return NULL;
  Frame* frame = (Frame*)block;
  frame->facts = (Facts*)(frame + 1);
  frame->inputs = (OrtValue**)(frame->facts + outputs);
  frame->outputs = frame->inputs + inputs;
  frame->input_choice = (int32_t*)(frame->outputs + outputs);
  frame->output_choice = frame->input_choice + inputs;
  return frame;
}

void release_frame(Frame* frame) { free(frame); }

void* frame_memory(Frame* frame) { return frame; }

OrtValue* copy_into_tensor(const void* elements, size_t size, int element_type, size_t rank, Frame* frame) {
  return tensor_copy(elements, size, frame->shape, rank, element_type, &frame->status);
}

static void learn(const OrtValue* value, Facts* facts) {
  enum { kHead = 4 };
  int is_tensor = 0;
  facts->type = 0;
  if (!value || OrtIsTensor(value, &is_tensor) || !is_tensor) return;
  int64_t numbers[kHead + kMostDimensions];
  OrtStatus* status = NULL;
  size_t count = tensor_facts(value, numbers, kHead + kMostDimensions, &status);
  const OrtMemoryInfo* memory = status ? NULL : tensor_memory(value, &status);
  OrtReleaseStatus(status);
  if (status || count > kHead + kMostDimensions) return;
  facts->type = numbers[0];
  facts->data = (const void*)(intptr_t)numbers[1];
  facts->size = numbers[2];
  facts->rank = numbers[3];
  for (size_t i = kHead; i < count; ++i) facts->shape[i - kHead] = numbers[i];
  facts->on_cpu = memory_device_type(memory) == OrtMemoryInfoDeviceType_CPU;
}

void run_frame(OrtSession* session, const OrtRunOptions* options, const TextList* feeds, size_t inputs,
               int choose_inputs, const TextList* fetches, size_t outputs, int choose_outputs, Frame* frame) {
  run_session(session, options, feeds, frame->input_choice, choose_inputs ? inputs : 0, frame->inputs, inputs, fetches,
              frame->output_choice, choose_outputs ? outputs : 0, frame->outputs, outputs, &frame->status);
  for (size_t i = 0; i < outputs && !frame->status; ++i) learn(frame->outputs[i], &frame->facts[i]);
}
