# What is handed out runs on older systems than the one it is made on. With TARN_SYSROOT, which
# scripts/sysroot.sh makes, all that loads libc is compiled with that system's headers and linked with its
# libc. The command does not: it is static.
set(TARN_SYSROOT "" CACHE PATH "Root of the system whose libc the libraries are made for")

# tarn_compile_with_libc_of_sysroot(TARGET)
function(tarn_compile_with_libc_of_sysroot target)
  if(NOT TARN_SYSROOT)
    return()
  endif()
  set(options -nostdinc)
  foreach(folder IN LISTS CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    if(folder MATCHES "/(c\\+\\+|gcc)")  # not the libc that a cross compiler has beside its own
      list(APPEND options -isystem${folder})
    endif()
  endforeach()
  foreach(folder ${CMAKE_LIBRARY_ARCHITECTURE}/ "")
    list(APPEND options -isystem${TARN_SYSROOT}/usr/include/${folder})
  endforeach()
  target_compile_options(${target} PRIVATE ${options})
endfunction()

# tarn_link_libc_alone(TARGET): nothing of the C++ runtime, which a small C program must not load because of
# us. Before glibc 2.34 threads and the loader's calls are in libraries of their own.
function(tarn_link_libc_alone target)
  if(TARN_SYSROOT)
    target_link_options(${target} PRIVATE --sysroot=${TARN_SYSROOT}
                        -B${TARN_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  if(NOT TARN_SANITIZE)
    target_link_options(${target} PRIVATE -nodefaultlibs)
    target_link_libraries(${target} PRIVATE pthread dl c gcc)
  endif()
endfunction()
