# The RPM that `make packages` makes of the install target.
set(CPACK_GENERATOR RPM)
set(CPACK_SET_DESTDIR ON)  # the printers of gdb lie below the path of the library
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_PACKAGE_VENDOR "the tarn authors")
set(CPACK_PACKAGE_CONTACT "the tarn authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_PACKAGE_FILE_NAME tarn-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_AUTOREQPROV ON)
# Folders of the system, which other packages have too.
set(share ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR})
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    ${CMAKE_INSTALL_FULL_LIBDIR}/cmake ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    ${CMAKE_INSTALL_FULL_MANDIR} ${CMAKE_INSTALL_FULL_MANDIR}/man1 ${CMAKE_INSTALL_FULL_MANDIR}/man3
    ${CMAKE_INSTALL_FULL_MANDIR}/man5 ${share}/bash-completion ${share}/bash-completion/completions
    ${share}/fish ${share}/fish/vendor_completions.d ${share}/zsh ${share}/zsh/site-functions ${share}/gdb
    ${share}/gdb/auto-load ${share}/gdb/auto-load${CMAKE_INSTALL_PREFIX}
    ${share}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR})
include(CPack)
