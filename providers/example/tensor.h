// Tensors as addresses and shapes, and what computations on them need.
#pragma once

#include <vector>

#include "device.h"
#include "host.h"

namespace ortolan::example {

using Shape = std::vector<int64_t>;

struct Tensor {
  Shape shape;
  void* address = nullptr;  // on the host or on the device: Device::holds tells
  size_t bytes = 0;
  std::shared_ptr<Buffer> owner = nullptr;  // where this library made it; queued work keeps it alive
  bool reached_by_host = true;              // of values that the runtime gave; false: only a device reaches it
};

/** What is behind a value that the runtime gave. Throws Failure unless it is a tensor. */
Tensor tensor_of(const Host& host, const OrtValue* value);

size_t element_count(const Shape& shape);

/** The shape of the results of an elementwise operation; throws Failure when the two do not broadcast. */
Shape broadcast(const Shape& left, const Shape& right);

enum class Operation { kMul, kAdd };

/** Queues out = left operation right, all of them floats on the device; null for the queue computes at once. */
void compute(Device& device, Queue* queue, Operation operation, const Tensor& left, const Tensor& right,
             const Tensor& out);

/** Puts work into the queue; without one, all queues finish and the work is done at once. */
void submit(Device& device, Queue* queue, Queue::Work work);

/** The queue on which the runtime wants a kernel to compute; null when there is none. */
Queue* queue_of(const Host& host, Device& device, const OrtKernelContext* context);

/** An input of a kernel, which must be on the device or on the host. */
Tensor input_of(const Host& host, const OrtKernelContext* context, size_t index);

/** An output of a kernel, made by the runtime. */
Tensor output_of(const Host& host, OrtKernelContext* context, size_t index, const Shape& shape);

/** A tensor of floats for results that the runtime does not see. */
Tensor new_tensor(Device& device, const Shape& shape);

/** The tensor itself where it is on the device, else a copy there. Throws Failure for memory of another device: one of
 *  this library's before it was unregistered and registered again has the same name. */
Tensor on_device(Device& device, Queue* queue, const Tensor& tensor);

}  // namespace ortolan::example
