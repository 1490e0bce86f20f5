/* What the frequent calls read and write, in C's memory: there Go's rules about pointers have nothing to check or copy.
 */
#pragma once

#include "calls.h"

/** What one call reads and writes; frame.go gives Go its parts. One call uses it at a time. */
typedef struct Frame Frame;

/** A frame for runs of at most so many inputs and outputs; NULL when there is no memory. */
Frame* create_frame(size_t inputs, size_t outputs);
void release_frame(Frame* frame);
/** The frame's memory. */
void* frame_memory(Frame* frame);

/** tensor_copy with the first `rank` numbers of the frame's shape. */
OrtValue* copy_into_tensor(const void* elements, size_t size, int element_type, size_t rank, Frame* frame);

/** run_session with the frame's first inputs and outputs, and its choices where these are asked for. Writes the facts
 * of the outputs that it makes. */
void run_frame(OrtSession* session, const OrtRunOptions* options, const TextList* feeds, size_t inputs,
               int choose_inputs, const TextList* fetches, size_t outputs, int choose_outputs, Frame* frame);
