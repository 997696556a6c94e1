# What `make install` puts where, and the names other projects link:
#   tarn::tarn    the API alone (libtarn_core), include/tarn/*.h
#   tarn::malloc  the API and every entry point of malloc and operator new (libtarn)
# each also as tarn::tarn_static and tarn::malloc_static, and
#   tarn::hardened  libtarn-hardened, which has the same as libtarn and stops at misuse.
# They are the same after find_package(tarn), after
# FetchContent and after add_subdirectory. The command, its manual pages and its plot script are tools/tarn's.
include(CMakePackageConfigHelpers)

option(TARN_INSTALL "Make the install target" ${PROJECT_IS_TOP_LEVEL})

set(tarn_libraries)
function(tarn_public_library target public_name)
  if(TARGET ${target})
    add_library(tarn::${public_name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${public_name})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${tarn_soversion})
    endif()
    set(tarn_libraries ${tarn_libraries} ${target} PARENT_SCOPE)
  endif()
endfunction()
tarn_public_library(tarn_core_shared tarn)
tarn_public_library(tarn_core_static tarn_static)
tarn_public_library(tarn_malloc_shared malloc)
tarn_public_library(tarn_malloc_static malloc_static)
tarn_public_library(tarn_hardened_shared hardened)

# One name of each file of entry points, asked for by whoever links them. \why a program that calls malloc
# through other libraries alone would leave the archive's members out, and under --as-needed the shared
# library too.
set(tarn_entry_points -Wl,--undefined=malloc -Wl,--undefined=_Znwm)
if(TARN_LIBC_HAS_MALLINFO2)
  list(APPEND tarn_entry_points -Wl,--undefined=mallinfo2)
endif()
foreach(target tarn_malloc_shared tarn_malloc_static tarn_hardened_shared)
  if(TARGET ${target} AND NOT WIN32)
    target_link_options(${target} INTERFACE ${tarn_entry_points})
  endif()
endforeach()

if(NOT TARN_INSTALL)
  return()
endif()

# All that the install target copies, for those who want to build nothing else.
add_custom_target(tarn_installed DEPENDS ${tarn_libraries})
foreach(target tarn_tool tarn_tool_texts tarn_bench)
  if(TARGET ${target})
    add_dependencies(tarn_installed ${target})
  endif()
endforeach()

install(TARGETS ${tarn_libraries} EXPORT tarnTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tarn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
if(WIN32)
  include(cmake/install_windows.cmake)
  return()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/man/tarn.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES ${PROJECT_SOURCE_DIR}/tools/valgrind/tarn.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/tarn)
# gdb finds a library's printers by the library's path, below its own share/gdb/auto-load.
set(gdb_files ${PROJECT_SOURCE_DIR}/tools/gdb/tarn_gdb.py ${PROJECT_SOURCE_DIR}/tools/gdb/tarn_records.py)
install(FILES ${gdb_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/tarn)
foreach(target tarn_core_shared tarn_malloc_shared tarn_hardened_shared)
  if(TARGET ${target})
    set(auto_load "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
    list(GET gdb_files 0 printers)
    list(GET gdb_files 1 records)
    install(FILES ${printers} DESTINATION ${auto_load} RENAME $<TARGET_FILE_NAME:${target}>-gdb.py)
    install(FILES ${records} DESTINATION ${auto_load})
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

include(cmake/package_config.cmake)

# The .pc files find the prefix from where they lie, so that `cmake --install --prefix` needs no new
# configuration.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH pc_to_prefix /${pc_dir} /)
  string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
  set(pc_prefix "\${pcfiledir}/${pc_to_prefix}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# tarn_pc_file(NAME LIBRARIES DESCRIPTION [FLAGS of the compiler])
function(tarn_pc_file name libraries description)
  list(JOIN ARGN " " flags)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tarn.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pc_dir})
endfunction()
tarn_pc_file(tarn "-ltarn_core" "${PROJECT_DESCRIPTION}")
if(TARGET tarn_malloc_shared)
  list(JOIN tarn_entry_points " " entry_points)
  tarn_pc_file(tarn-malloc "${entry_points} -ltarn"
               "${PROJECT_DESCRIPTION}, in the place of malloc and operator new")
  tarn_pc_file(tarn-hardened "${entry_points} -ltarn-hardened"
               "${PROJECT_DESCRIPTION}, hardened, in the place of malloc" " -DTARN_HARDENED=1")
endif()

include(cmake/packages.cmake)

if(TARN_BUILD_TESTS)
  if(TARGET tarn_malloc_shared)
    add_test(NAME packaging.consumer COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/run.sh
             ${PROJECT_SOURCE_DIR}
             ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/consumer_test)
    set_tests_properties(packaging.consumer PROPERTIES LABELS packaging TIMEOUT 600 PROCESSORS 2)
    add_test(NAME packaging.make_install COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/make_install.sh
             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/make_install)
    add_test(NAME packaging.packages COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/packages.sh
             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/packages_test)
    add_test(NAME packaging.deb COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/deb.sh
             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/deb_test)
    add_test(NAME packaging.packages_aarch64
             COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/packages_aarch64.sh
             ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/packages_aarch64_test)
    set_tests_properties(packaging.make_install packaging.packages packaging.packages_aarch64 packaging.deb
                         PROPERTIES LABELS "packaging;long" SKIP_RETURN_CODE 77 TIMEOUT 1500 PROCESSORS 2)
  endif()
  if(TARGET tarn_tool)
    add_test(NAME packaging.options_page COMMAND ${PROJECT_SOURCE_DIR}/scripts/options_page.py
             $<TARGET_FILE:tarn_tool>
             --check ${PROJECT_SOURCE_DIR}/docs/options.md)
    set_tests_properties(packaging.options_page PROPERTIES LABELS packaging)
  endif()
  add_test(NAME packaging.release COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test/release.sh
           ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/release_test)
  set_tests_properties(packaging.release PROPERTIES LABELS packaging)
  add_test(NAME packaging.abi COMMAND ${CMAKE_COMMAND} -E env TARN_ABI_BUILD=${PROJECT_BINARY_DIR}/abi
           ${PROJECT_SOURCE_DIR}/scripts/abi.sh check)
  set_tests_properties(packaging.abi PROPERTIES LABELS "packaging;long" SKIP_RETURN_CODE 77 TIMEOUT 1500)
  add_test(NAME packaging.benchmark_claims COMMAND ${PROJECT_SOURCE_DIR}/scripts/benchmark_claims.py --check)
  set_tests_properties(packaging.benchmark_claims PROPERTIES LABELS packaging)
endif()
