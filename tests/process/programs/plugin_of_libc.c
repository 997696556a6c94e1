/* The control: a plugin with the same face and libc's blocks. */
#include <stdlib.h>
void* tarn_plugin_allocate(size_t size) { return malloc(size); }
void tarn_plugin_deallocate(void* block) { free(block); }
int tarn_plugin_work(void) { return 0; }
