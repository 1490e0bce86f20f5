# CMake package ortolan: the targets ortolan::ortolan (shared) and, where it was built, ortolan::ortolan_static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/ortolanTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ortolanStaticTargets.cmake OPTIONAL)
