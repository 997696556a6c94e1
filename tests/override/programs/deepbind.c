/* A program and a library opened with RTLD_DEEPBIND give each other blocks back, if both have the same free.
 * Usage: deepbind same|different   what is expected */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* opened_library(void);

typedef void* (*take_function)(size_t);
typedef void (*give_function)(void*);
typedef give_function (*address_function)(void);

static void exchange_blocks(void* library) {
  take_function take_block = (take_function)dlsym(library, "take_block");
  give_function give_block = (give_function)dlsym(library, "give_block");
  for (size_t size = 1; size < 1000000; size += size / 2 + 1) {
    free(take_block(size));
    give_block(malloc(size));
  }
}

int main(int count, char** arguments) {
  if (count != 2) return 64;
  void* library = opened_library();
  if (library == NULL) return puts("the RUNPATH of the library that calls dlopen does not count"), 1;
  address_function address_of_free = (address_function)dlsym(library, "address_of_free");
  const char* found = address_of_free() == free ? "same" : "different";
  if (strcmp(found, arguments[1]) != 0)
    return printf("the program and the library have %s frees\n", found), 1;
  if (strcmp(found, "same") == 0) exchange_blocks(library);
  if (dlopen("libof_this_name_there_is_none.so", RTLD_NOW | RTLD_DEEPBIND) != NULL || dlerror() == NULL)
    return puts("a failure is not told"), 1;
  return 0;
}
