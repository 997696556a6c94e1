/* Which tarn these headers are of, for C and C++. CMake reads the version from here. */
#pragma once

#define TARN_VERSION_MAJOR 0
#define TARN_VERSION_MINOR 2
#define TARN_VERSION_PATCH 0

/* One number to compare: 10203 is 1.2.3. */
#define TARN_VERSION (TARN_VERSION_MAJOR * 10000 + TARN_VERSION_MINOR * 100 + TARN_VERSION_PATCH)

/* What programs inline of the library: headers and a library with different numbers do not go together. */
#define TARN_ABI 3

#define TARN_TEXT_OF_(number) #number
#define TARN_TEXT_OF(number) TARN_TEXT_OF_(number)
#define TARN_VERSION_STRING \
  TARN_TEXT_OF(TARN_VERSION_MAJOR) "." TARN_TEXT_OF(TARN_VERSION_MINOR) "." TARN_TEXT_OF(TARN_VERSION_PATCH)
