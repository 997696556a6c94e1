/* The library's options (docs/options.md lists them), set and read by the program itself, for C and C++.
 *
 *   const char* tarn_conf = "decay:500ms,thread_cache:1M";       // at file scope: the program's own defaults
 *
 *   tarn::set_option("decay", "10s");                            // C++, while the program runs
 *   char text[64];
 *   tarn::option("decay", text);                                 // "10000ms"
 *
 * Which value wins, the weakest first: the library's default, tarn_conf, /etc/tarn.conf, the file that
 * TARN_CONF_FILE names, TARN_CONF, TARN_<KEY>, set_option. The last call of set_option wins, also one before
 * the first allocation: a call can ask first what the administrator has set.
 *
 * When: the library sets itself up with the first allocation, or with another call that needs the options.
 * Until then every option can be set; to set or read one does not begin it. Afterwards only those can that
 * docs/options.md marks, and a change has effect soon: what a thread has cached shrinks at its next miss,
 * memory that may no longer be kept goes back before the call returns, or by the library's thread.
 *
 * Threads: any, at any time, but in a signal handler or inside of the library's calls of hooks. No call
 * allocates or throws. Cost: a lock, and what the change itself costs; nothing on any allocation. */
#ifndef TARN_OPTIONS_H
#define TARN_OPTIONS_H

#include <errno.h>
#include <stddef.h>

#include "tarn/detail/c_api.h"

/** Defaults that a program brings along: "key:value,key:value", read once. The library defines no such
 *  variable; a program may, with a constant initialiser, in C or C++ alike once this header is included.
 *  A program that is to have libtarn.so preloaded must export it (link with -rdynamic, or with
 *  -Wl,--export-dynamic-symbol=tarn_conf); one that is linked with a library of tarn need do nothing. An
 *  unknown key or a bad value costs one line on standard error. */
TARN_C_API const char* tarn_conf;

/** Sets an option from text, as in TARN_CONF: tarn_set_option("decay", "500ms").
 *  \returns 0; ENOENT when there is no such option; EINVAL when the option takes no such value, or an
 *  argument is NULL; EPERM when the option is fixed since the library has set itself up. Then nothing has
 *  changed. */
TARN_C_API int tarn_set_option(const char* key, const char* value) TARN_C_NOEXCEPT;

/** Writes the present value of an option, such that tarn_set_option takes it, into `text` of `bytes` bytes,
 *  cut off where it does not fit, with a 0 behind it unless `bytes` is 0.
 *  \returns the length of the whole value without that 0, below 600; -1 when there is no such option. */
TARN_C_API int tarn_option(const char* key, char* text, size_t bytes) TARN_C_NOEXCEPT;

/** An option as it is now. All texts are valid until the visit returns. */
struct tarn_option_state {
  size_t bytes;            /* of this struct as the library knows it; members are only added, at the end */
  const char* key;         /* "decay" */
  const char* environment; /* "TARN_DECAY" */
  const char* kind;        /* "switch", "bytes", "milliseconds", "choice" or "path" */
  const char* choices;     /* of a choice: "never|auto|always"; else NULL */
  const char* help;        /* a sentence */
  const char* value;       /* as tarn_option tells it */
  const char* source;      /* who set it: "default", "tarn_conf", "/etc/tarn.conf", "TARN_CONF_FILE",
                              "TARN_CONF", "environment" (its own variable), "set_option" or "mallopt" */
  int may_change;          /* whether tarn_set_option can set it from now on */
  int changes_at_run_time; /* whether it could also after the library has set itself up */
};

/** Calls `visit` for each option, in the order of docs/options.md. No lock is held during `visit`, which may
 *  set options and must not throw. */
TARN_C_API void tarn_for_each_option(void (*visit)(const struct tarn_option_state* option, void* context),
                                     void* context) TARN_C_NOEXCEPT;

#ifdef __cplusplus
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

enum class OptionResult : int {
  kSet = 0,
  kUnknownOption = ENOENT,
  kBadValue = EINVAL,  // also a null pointer
  kTooLate = EPERM,    // fixed since the library has set itself up
};

/// tarn_set_option for C++.
TARN_LOCAL inline OptionResult set_option(const char* key, const char* value) noexcept {
  return static_cast<OptionResult>(tarn_set_option(key, value));
}

/// tarn_option for C++.
TARN_LOCAL inline int option(const char* key, char* text, size_t bytes) noexcept {
  return tarn_option(key, text, bytes);
}
template <size_t kBytes>
TARN_LOCAL int option(const char* key, char (&text)[kBytes]) noexcept {
  return tarn_option(key, text, kBytes);
}

using OptionState = ::tarn_option_state;

/// tarn_for_each_option for C++: calls visit(const OptionState&) for each option.
template <typename Visit>
TARN_LOCAL void for_each_option(Visit visit) noexcept {
  tarn_for_each_option(
      [](const OptionState* option, void* context) { (*static_cast<Visit*>(context))(*option); }, &visit);
}

}  // namespace TARN_NAMESPACE
#endif

#endif /* TARN_OPTIONS_H */
