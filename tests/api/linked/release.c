/* Stands for a release of the official library when the client is linked; never run. */
#include <stddef.h>

const void* OrtGetApiBase(void) { return NULL; }
void* OrtSessionOptionsAppendExecutionProvider_CUDA(void* options, int device) {
  (void)options, (void)device;
  return NULL;
}
