// Finds the descriptor of a library in a program's memory by its ELF note: also of a stripped, a statically
// linked, or a deleted file, and from outside of a container.
#pragma once
#include <optional>
#include <string>

#include "observer/process/source.h"
#include "observer/records/layout.h"

namespace tarn::observer {

struct Located {
  Address descriptor = 0;
  std::string library;  // the file of the mapping that has the note
};

/// \returns nothing when no mapping has the note. Of several libraries in one program, the first one (in the
/// order of addresses) that has begun its heap, else the first.
std::optional<Located> locate(const Source& source);

/// \throws ObserveError when no mapping has the note.
Layout layout_of(const Source& source);

}  // namespace tarn::observer
