#include "general/pools/pool_header.h"

#include "base/printable.h"
#include "base/text.h"
#include "os/fatal.h"

namespace tarn::internal {

// Names stand in messages of one line, and in formats that want characters.
void PoolHeader::set_name(const char* text, const char* fallback) {
  Text shown(name, kNameBytes - 1);
  add_shown(shown, text != nullptr ? text : fallback, kNameBytes - 1);
  name[shown.length()] = '\0';
}

void PoolHeader::report_live(std::size_t count, std::size_t object_bytes) const {
  FixedText<256> line;
  line.add("tarn: '").add(name).add("' ended with ").add_decimal(count);
  line.add(count == 1 ? " live object of " : " live objects of ").add_decimal(object_bytes).add(" bytes\n");
  os::write_line(line.data(), line.length());
}

}  // namespace tarn::internal
