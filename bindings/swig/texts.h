/* How the calls make what they return: lists of texts, texts of one's own, and statuses of their own. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "calls.h"

/** Copies of `count` texts; NULL, with a status, when there is no memory. NULL texts count as empty. */
TextList* copy_texts(const char* const* texts, size_t count, OrtStatus** status);

/** A malloc'd, terminated copy of the first `length` bytes of a text; NULL, with a status, when there is no memory. */
char* copy_text(const char* text, size_t length, OrtStatus** status);

/** A malloc'd copy of a text that came from the default allocator, which is freed; NULL for NULL. */
char* take_text(char* allocated, OrtStatus** status);

/** The process's default allocator; it always exists. */
OrtAllocator* default_allocator(void);

static inline void* refuse(OrtStatus** status, OrtErrorCode code, const char* message) {
  *status = OrtCreateStatus(code, message);
  return NULL;
}

static inline void* refuse_memory(OrtStatus** status) { return refuse(status, ORT_FAIL, "there is no memory left"); }
