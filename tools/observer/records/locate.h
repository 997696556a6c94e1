// Finds the descriptor of a library in a program's memory by its ELF note: also of a stripped, a statically
// linked, or a deleted file, and from outside of a container.
#pragma once
#include <optional>
#include <string>
#include <string_view>

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

/// \param field what a library that is not too old says
/// \param lacks what an older one does not do, as "guards no blocks"
/// \throws ObserveError when no mapping has the note, or the library is too old.
Layout layout_with(const Source& source, std::string_view field, std::string_view lacks);

}  // namespace tarn::observer
