/* Lists of texts, and settings: what both sides of the border pass as plain words. */
#include "texts.h"

/** One block: this, the pointers, then the texts that they point to. */
struct TextList {
  size_t count;
  const char* texts[];
};

size_t text_count(const TextList* list) { return list->count; }

const char* text_at(const TextList* list, size_t index) { return index < list->count ? list->texts[index] : NULL; }

void release_texts(TextList* list) { free(list); }

static size_t size_with_terminator(const char* text) { return text ? strlen(text) + 1 : 1; }

TextList* copy_texts(const char* const* texts, size_t count, OrtStatus** status) {
  size_t bytes = sizeof(TextList) + count * sizeof(char*);
  for (size_t i = 0; i < count; ++i) bytes += size_with_terminator(texts[i]);
  TextList* list = malloc(bytes);
  if (!list) return refuse_memory(status);
  list->count = count;
  char* free_place = (char*)(list->texts + count);
  for (size_t i = 0; i < count; ++i) {
    size_t size = size_with_terminator(texts[i]);
    memcpy(free_place, texts[i] ? texts[i] : "", size);
    list->texts[i] = free_place;
    free_place += size;
  }
  return list;
}

OrtAllocator* default_allocator(void) {
  OrtAllocator* allocator = NULL;
  OrtReleaseStatus(OrtGetAllocatorWithDefaultOptions(&allocator));
  return allocator;
}

char* copy_text(const char* text, size_t length, OrtStatus** status) {
  char* copy = malloc(length + 1);
  if (!copy) return refuse_memory(status);
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

char* take_text(char* allocated, OrtStatus** status) {
  if (!allocated) return NULL;
  char* copy = copy_text(allocated, strlen(allocated), status);
  OrtReleaseStatus(OrtAllocatorFree(default_allocator(), allocated));
  return copy;
}

OrtKeyValuePairs* create_settings(void) {
  OrtKeyValuePairs* settings = NULL;
  OrtCreateKeyValuePairs(&settings);
  return settings;
}

void add_setting(OrtKeyValuePairs* settings, const char* key, const char* value) {
  OrtAddKeyValuePair(settings, key, value);
}

typedef struct {
  const char* const* keys;
  const char* const* values;
  size_t count;
} Pairs;

static Pairs pairs_of(const OrtKeyValuePairs* settings) {
  Pairs pairs = {NULL, NULL, 0};
  if (settings) OrtGetKeyValuePairs(settings, &pairs.keys, &pairs.values, &pairs.count);
  return pairs;
}

size_t setting_count(const OrtKeyValuePairs* settings) { return pairs_of(settings).count; }

const char* setting_key(const OrtKeyValuePairs* settings, size_t index) {
  Pairs pairs = pairs_of(settings);
  return index < pairs.count ? pairs.keys[index] : NULL;
}

const char* setting_value(const OrtKeyValuePairs* settings, size_t index) {
  Pairs pairs = pairs_of(settings);
  return index < pairs.count ? pairs.values[index] : NULL;
}

void release_settings(OrtKeyValuePairs* settings) { OrtReleaseKeyValuePairs(settings); }

const char* library_version(void) { return OrtGetVersionString(); }

const char* library_build_info(void) { return OrtGetBuildInfoString(); }

TextList* available_providers(OrtStatus** status) {
  char** names;
  int count;
  if ((*status = OrtGetAvailableProviders(&names, &count))) return NULL;
  TextList* list = copy_texts((const char* const*)names, (size_t)count, status);
  OrtReleaseStatus(OrtReleaseAvailableProviders(names, count));
  return list;
}
