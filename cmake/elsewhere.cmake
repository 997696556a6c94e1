# For systems that the library does not support: its headers over the standard library's allocator
# (docs/elsewhere.md). The targets have the names of the library's.
add_library(tarn_elsewhere INTERFACE)
target_include_directories(tarn_elsewhere BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/elsewhere
                           ${PROJECT_SOURCE_DIR}/include)
target_compile_features(tarn_elsewhere INTERFACE cxx_std_20)
target_link_libraries(tarn_elsewhere INTERFACE Threads::Threads)
if(TARN_ELSEWHERE)
  foreach(name tarn tarn_static malloc malloc_static hardened)
    add_library(tarn::${name} ALIAS tarn_elsewhere)
  endforeach()
endif()
