/* Prints where a small and a large block lie. */
#include <stdio.h>
#include <stdlib.h>

int main(void) { return printf("%p %p\n", malloc(64), malloc(1 << 20)) < 0; }
