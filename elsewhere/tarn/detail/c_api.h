/* How functions are declared elsewhere (docs/elsewhere.md): those of C have no definitions there. */
#pragma once

#ifdef __cplusplus
#define TARN_C_LINKAGE extern "C"
#define TARN_C_NOEXCEPT noexcept
#define TARN_LOCAL
#else
#define TARN_C_LINKAGE extern
#define TARN_C_NOEXCEPT
#endif
#define TARN_C_ATTRIBUTES(...)
#define TARN_C_API TARN_C_LINKAGE
#if defined(_WIN32)
#define TARN_HEADER_OF_IOVEC "tarn/detail/iovec.h"
#else
#define TARN_HEADER_OF_IOVEC <sys/uio.h>
#endif
