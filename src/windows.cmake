# The libraries on Windows: an archive with the API, one that has operator new and delete too, and a DLL with
# the C API. malloc stays the runtime's.
function(tarn_windows_library target output)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} INTERFACE Threads::Threads)
  target_compile_features(${target} INTERFACE cxx_std_20)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output}
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
set(tarn_windows_calls synchronization ntdll)  # WaitOnAddress, and what is told of the end of the process

add_library(tarn_core_static STATIC $<TARGET_OBJECTS:tarn_core_objects> $<TARGET_OBJECTS:${tarn_archive_api}>)
add_library(tarn_malloc_static STATIC $<TARGET_OBJECTS:tarn_core_objects>
            $<TARGET_OBJECTS:${tarn_archive_api}> override/windows_new.cc)
target_include_directories(tarn_malloc_static PRIVATE ${PROJECT_SOURCE_DIR}/include)
foreach(target tarn_core_static tarn_malloc_static)
  target_link_libraries(${target} INTERFACE ${tarn_windows_calls})
endforeach()
tarn_windows_library(tarn_core_static tarn_core)
tarn_windows_library(tarn_malloc_static tarn_new)

target_compile_definitions(tarn_api_objects PRIVATE TARN_EXPORTS_API)
add_library(tarn_core_shared SHARED $<TARGET_OBJECTS:tarn_core_objects> $<TARGET_OBJECTS:tarn_api_objects>)
target_link_libraries(tarn_core_shared PRIVATE ${tarn_windows_calls})
target_link_options(tarn_core_shared PRIVATE -static -Wl,--gc-sections)
tarn_windows_library(tarn_core_shared tarn)
