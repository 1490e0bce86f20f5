// What the leak sanitiser is to leave out: drivers and their compilers keep memory until the process ends.

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang\n";
}
