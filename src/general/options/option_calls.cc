// The functions of tarn/options.h.
#include <cerrno>
#include <cstring>

#include "base/options/option_parser.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "tarn/options.h"

namespace tarn::internal {
namespace {

using ValueText = FixedText<Configuration::kLongestValue>;

const OptionInfo* option_of(const char* key) { return key == nullptr ? nullptr : find_option(key); }

int error_of(OptionSetting setting) {
  switch (setting) {
    case OptionSetting::kDone:
      return 0;
    case OptionSetting::kTooLate:
      return EPERM;
    default:
      return EINVAL;
  }
}

void visit_option(const OptionInfo& option, void (*visit)(const tarn_option_state*, void*), void* context) {
  ValueText value;
  const OptionNow now = add_option_value(value, option);
  value.add('\0');
  const EnvironmentName environment = environment_name(option);
  const tarn_option_state state{sizeof state,     option.key,
                                environment.text, kind_name(option.kind),
                                option.choices,   option.help,
                                value.data(),     now.source,
                                now.may_change,   option.change == OptionChange::kAnyTime};
  visit(&state, context);
}

}  // namespace
}  // namespace tarn::internal

using namespace tarn::internal;

int tarn_set_option(const char* key, const char* value) noexcept {
  if (key == nullptr || value == nullptr) return EINVAL;
  const OptionInfo* const option = option_of(key);
  return option == nullptr ? ENOENT : error_of(set_option(*option, value, "set_option"));
}

int tarn_option(const char* key, char* text, std::size_t bytes) noexcept {
  const OptionInfo* const option = option_of(key);
  if (option == nullptr) return -1;
  ValueText value;
  add_option_value(value, *option);
  if (bytes != 0) {
    const std::size_t shown = value.length() < bytes ? value.length() : bytes - 1;
    std::memcpy(text, value.data(), shown);
    text[shown] = '\0';
  }
  return static_cast<int>(value.length());
}

void tarn_for_each_option(void (*visit)(const tarn_option_state* option, void* context),
                          void* context) noexcept {
  for (const OptionInfo& option : kOptionTable) visit_option(option, visit, context);
}
