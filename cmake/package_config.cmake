# What find_package(tarn) reads.
set(tarn_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tarn)
install(EXPORT tarnTargets NAMESPACE tarn:: DESTINATION ${tarn_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tarnConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tarnConfig.cmake
                              INSTALL_DESTINATION ${tarn_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tarnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tarnConfig.cmake ${PROJECT_BINARY_DIR}/tarnConfigVersion.cmake
        DESTINATION ${tarn_package_dir})
