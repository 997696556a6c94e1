/* A C program that brings defaults of its own along, unless WITHOUT_CONF is defined: it prints an option's
 * value and source, and whether set_option works before its first allocation and after it. Where no library
 * of tarn is linked, tarn's functions come with the preloaded one. */
#include <stdio.h>
#include <stdlib.h>

#include "tarn/options.h"

#ifndef WITHOUT_CONF
const char* tarn_conf = "decay:500ms,thread_cache:1M,colour:red,classes:none";
#endif

#ifdef TARN_IS_PRELOADED
#pragma weak tarn_set_option
#pragma weak tarn_for_each_option
#endif

static void print(const struct tarn_option_state* option, void* context) {
  if (option->key[0] == 'd' && option->key[2] == 'c')
    printf("%s %s from %s\n", option->key, option->value, option->source);
  (void)context;
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0); /* no allocation by stdio */
  tarn_for_each_option(print, NULL);
  free(malloc(100));
  printf("classes: %d, decay: %d\n", tarn_set_option("classes", "default"), tarn_set_option("decay", "3s"));
  tarn_for_each_option(print, NULL);
  return 0;
}
