#include "observe/leaks/leak_suppressions.h"

#include <dlfcn.h>

#include "base/leak_rules.h"
#include "observe/profile/code_modules.h"
#include "os/fatal.h"
#include "os/process/process.h"

// Weak: a static program has none, and needs none because of the library.
#pragma weak dladdr

namespace tarn::internal {
namespace {

void complain(std::string_view name, std::size_t line, std::string_view what) {
  FixedText<1024> text;
  text.add("tarn: ").add(name);
  if (line != 0) text.add(':').add_decimal(line);
  text.add(": ").add(what).add('\n');
  os::write_line(text.data(), text.length());
}

std::string_view fault_of(LeakLine kind) {
  switch (kind) {
    case LeakLine::kNone:
      return "no suppression: write leak:PATTERN, or # before a comment";
    case LeakLine::kOfAll:
      return "the pattern would suppress every leak";
    case LeakLine::kTooLong:
      return "the pattern is too long";
    default:
      return {};
  }
}

}  // namespace

const char* exported_function(std::uint64_t address) {
  Dl_info info{};
  if (&dladdr == nullptr || dladdr(reinterpret_cast<void*>(address), &info) == 0) return nullptr;
  return info.dli_sname;
}

void LeakSuppressions::read(const char* path) {
  if (path[0] == '\0') return;
  if (!text_.reserve(kLargestLeakFile + 1)) return complain(path, 0, "no memory to read it");
  const long length = os::read_file(path, text_.begin(), kLargestLeakFile + 1);
  if (length < 0) return complain(path, 0, "cannot be read; no leak is suppressed");
  if (static_cast<std::size_t>(length) > kLargestLeakFile)
    return complain(path, 0, "is larger than 1 MiB; no leak is suppressed");
  parse({text_.begin(), static_cast<std::size_t>(length)}, path);
}

void LeakSuppressions::parse(std::string_view text, std::string_view name) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(front_of(text, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    Known known{};
    const LeakLine kind = read_leak_line(line, &known.pattern);
    if (const std::string_view fault = fault_of(kind); !fault.empty())
      complain(name, number, fault);
    else if (kind == LeakLine::kPattern && (known_.size() == kMostLeakPatterns || !known_.push(known)))
      return complain(name, number, "too many suppressions");
  }
}

LeakSuppressions::Known* LeakSuppressions::find_in(const char* module, const char* function) {
  for (Known& known : known_)
    if ((module != nullptr && is_leak_match(known.pattern, module)) ||
        (function != nullptr && is_leak_match(known.pattern, function)))
      return &known;
  return nullptr;
}

LeakSuppressions::Known* LeakSuppressions::find(std::uint32_t stack, const LoadedModules& modules) {
  Known* first = nullptr;
  const SampledStack* const sampled = samples.stack(stack);
  for (std::uint32_t i = 0; sampled != nullptr && i < sampled->count && known_.size() != 0; ++i) {
    const std::uint64_t call = sampled->addresses[i] - 1;
    const CodeModule* const gone = code_modules.find_gone(stack, call);
    const LoadedModule* const module = modules.find(call);
    Known* const found = gone != nullptr
                             ? find_in(gone->path, nullptr)
                             : find_in(module != nullptr ? module->path : nullptr, exported_function(call));
    if (found != nullptr && (first == nullptr || found < first)) first = found;
  }
  return first;
}

}  // namespace tarn::internal
