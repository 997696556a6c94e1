# Compiles a target's files in groups where TARN_COMPILE_TOGETHER asks for it: most of the time goes into
# headers that all of them include. Not the library as it is shipped, nor what is measured.
# tarn_compile_together(TARGET [OF N] [APART FILE...]): a group has N files, or eight. Each FILE, of the
# caller's folder, is compiled alone: its names, or macros of a header of its own, do not go with others'.
function(tarn_compile_together target)
  if(NOT TARN_COMPILE_TOGETHER)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 files "" "OF" "APART")
  if(NOT files_OF)
    set(files_OF 8)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_OF})
  # g++ 12 finds an overlap in what it inlines of std::string where there is none (its bug 105651). A local
  # name may be another file's, which shadows nothing: tarn_warnings leaves -Wshadow away.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(files_APART)
    set_source_files_properties(${files_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
