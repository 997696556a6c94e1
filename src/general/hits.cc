// The hits of the general pool as functions, for programs that take their addresses.
#define TARN_DEFINES_HITS
#include "tarn/memory_pool.h"
