# The library, without its command, from the sources around this folder:
# `vcpkg install tarn --overlay-ports=packaging/vcpkg`.
get_filename_component(SOURCE_PATH ${CURRENT_PORT_DIR}/../.. ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH}
                      OPTIONS -DTARN_BUILD_TOOLS=OFF -DTARN_BUILD_TESTS=OFF -DTARN_BUILD_BENCH=OFF
                              -DTARN_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tarn)
vcpkg_fixup_pkgconfig()

# Each build has the shared libraries and the archives, whose targets have names of their own.
set(VCPKG_POLICY_DLLS_IN_STATIC_LIBRARY enabled)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
