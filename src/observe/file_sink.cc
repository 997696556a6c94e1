// The sink of TextWriter that writes to a descriptor. Apart from it, so that tools which write text elsewhere
// need no part of the tier of the operating system.
#include "observe/text_writer.h"
#include "os/process/process.h"

namespace tarn::internal {

void FileSink::write(const char* text, std::size_t bytes, void* sink) {
  auto& file = *static_cast<FileSink*>(sink);
  if (file.is_good()) file.error_ = os::write_all(file.descriptor_, text, bytes);
}

}  // namespace tarn::internal
