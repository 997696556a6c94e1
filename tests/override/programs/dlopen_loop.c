/* Loads and unloads a library a hundred times, and uses it from a thread that ends before it goes. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef size_t (*plugin_function)(void);

static void* work(void* argument) {
  plugin_function function = *(plugin_function*)argument;
  return (void*)function();
}

int main(int count, char** arguments) {
  size_t sum = 0;
  if (count != 2) return 64;
  for (int i = 0; i < 100; ++i) {
    void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return puts(dlerror()), 1;
    plugin_function function = (plugin_function)dlsym(library, "plugin_work");
    pthread_t thread;
    void* result = NULL;
    pthread_create(&thread, NULL, work, &function);
    pthread_join(thread, &result);
    sum += function() + (size_t)result;
    dlclose(library);
  }
  printf("%zu\n", sum);
  return 0;
}
