// The functions of libortolan_regex, the module that matches regular expressions by RE2. It is loaded for the first
// one, so that the runtime itself does not depend on that library.
#pragma once

#include <stddef.h>

extern "C" {

/** May be called by many threads at once, for the same pattern too. Texts are UTF-8; a byte that is not matches
    nothing. */
struct OrtolanRegex {
  /** The pattern, to be released; NULL with the reason as a text in `error`, of at most `error_size` bytes. */
  void* (*compile)(const char* pattern, size_t size, char* error, size_t error_size);
  void (*release)(void* pattern);
  /** 1 where it matches all of the text, 0 where it does not, -1 without the memory to find out. */
  int (*match_all)(const void* pattern, const char* text, size_t size);
  /** The leftmost match that begins at `from` or later, of these the longest, from byte match[0] to before match[1].
     What stands before `from` is seen by ^, \b and the like. Returns as match_all does. */
  int (*find)(const void* pattern, const char* text, size_t size, size_t from, size_t* match);
};

typedef const struct OrtolanRegex* OrtolanGetRegex(void);
__attribute__((visibility("default"))) OrtolanGetRegex ortolan_get_regex;
}
