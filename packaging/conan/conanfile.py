"""The library, without its command, from the sources around this file: conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Tarn(ConanFile):
    name = "tarn"
    license = "MIT"
    description = "A memory pool for C++ servers on Linux, and malloc made of it"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"  # the archives come along, as targets of their own

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "../../include/tarn/version.h"))
        self.version = ".".join(re.findall(r"TARN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "include/*", "man/*", "src/*",
                        "tools/gdb/*", "tools/valgrind/*"):
            copy(self, pattern, os.path.join(self.recipe_folder, "../.."), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tarn runs on Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "TESTS", "BENCH", "EXAMPLES"):
            toolchain.cache_variables[f"TARN_BUILD_{part}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        """The targets are those of tarn's own tarnConfig.cmake."""
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/tarn"]
