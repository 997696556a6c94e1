// What a file says to the linker.
#pragma once

#if defined(_WIN32)
/// The files with these symbols are not built here.
#define TARN_KEEP_LINKED(symbol) static_cast<void>(0)

/// A text that the program may define; else it is the null pointer. \why a default: a symbol that is nowhere
/// is an error here.
#define TARN_MAY_BE_DEFINED(text)                                                  \
  extern "C" [[gnu::used]] constinit const char* const text##_of_nobody = nullptr; \
  asm(".weak " #text "\n.set " #text ", " #text "_of_nobody")
/// Whether it can be read.
#define TARN_IS_THERE(text) true
#else
/// Names a symbol that nobody calls, so that a program linked with an archive has it; adds no byte. clang's
/// assembler forgets the name of a symbol that it does not know.
#define TARN_KEEP_LINKED(symbol) asm volatile(".globl " #symbol "\n.reloc ., BFD_RELOC_NONE, " #symbol)

/// A text that the program may define; else its address is null.
#define TARN_MAY_BE_DEFINED(text) extern "C" [[gnu::weak]] const char* text
#define TARN_IS_THERE(text) (&text != nullptr)
#endif
