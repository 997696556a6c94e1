// The files that a program has mapped, as a profile tells of them.
//
// Threads: one at a time.
#pragma once
#include <vector>

#include "observer/process/source.h"
#include "profile/symbols/heap_profile.h"

namespace tarn::tool {

/// By ascending addresses. Those with code have their build ids: a process of its own reads them, as a page
/// of a file system that does not answer would keep this one. A file that does not answer soon is marked.
std::vector<profile::ProfileModule> mapped_modules(const observer::Source& source);

}  // namespace tarn::tool
