// Nothing: libonnxruntime.so.1 is what it needs and its version nodes (CMakeLists.txt).
typedef int ortolan_compat;
