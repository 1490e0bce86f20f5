// What tests ask of the stand-ins of NVIDIA's libraries, beside NVIDIA's own functions. The environment says the rest
// when libcuda starts: ORTOLAN_STANDIN_DEVICES (default 1), ORTOLAN_STANDIN_CAPABILITY (70), ORTOLAN_STANDIN_MEMORY
// (bytes of each device, 4 GiB), and NVRTC's ORTOLAN_STANDIN_ARCHS (50 to 90, in commas) and ORTOLAN_REAL_NVRTC (a
// library that compiles each text too).
#pragma once

#include <cstdint>

extern "C" {

/** From now on the driver's function gives the code instead of doing its work, after it has worked `works` times; code
 * 0: it works. */
void standin_fail(const char* function, int code, int works);
/** How often the driver's function was called until now. */
int standin_calls(const char* function);
/** Every device says this number for that attribute; -1: the truth. */
void standin_lie(int attribute, int value);
/** Bytes of device memory that are allocated. */
uint64_t standin_bytes_in_use();
/** How much was queued in a stream until now. */
uint64_t standin_work_of(void* stream);
/** Ends what a sticky error left, as a new process would. */
void standin_recover();
/** Queues work in a stream, for other stand-ins; `end` ends the data once the work cannot run again. */
void standin_enqueue(void* stream, void (*work)(void*), void* data, void (*end)(void*));
/** The host's side of `bytes` at an address of a device, for work that runs; NULL where they are not in one block. */
void* standin_memory(uint64_t address, uint64_t bytes);

}  // extern "C"
