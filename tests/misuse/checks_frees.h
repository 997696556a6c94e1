// Included first by a program that is compiled as in a build without NDEBUG.
#pragma once
#undef TARN_CHECK_FREES
#define TARN_CHECK_FREES 1
