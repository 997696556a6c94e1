/* Opens the library that lies where only this library's own RUNPATH leads, from its constructor: the first
 * dlopen of the process, before the constructors of the library that is preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static void* library;

__attribute__((constructor)) static void open_library(void) {
  library = dlopen("liboverride_deep_library.so", RTLD_NOW | RTLD_DEEPBIND);
}

void* opened_library(void) { return library; }
