// Modules: libraries of our own that hold what needs libraries of others, opened for the first model that asks for it.
#pragma once

namespace ortolan::cpu {

/** The function of that name in the module of that file name, which is looked for beside this library, in the folder of
    its private modules, and where the system looks. NULL where there is none, or where a library that it needs is
    missing. The module stays open. */
void* find_in_module(const char* module, const char* function);

}  // namespace ortolan::cpu
