#include "commands/selection_options.h"

namespace tarn::tool {

void add_selection_options(CLI::App& command, Selection& selection, std::vector<std::string>& settings) {
  command
      .add_option("--with", selection.with,
                  "Besides glibc and tarn, only these: mimalloc, jemalloc, tcmalloc, tbb, the path of a .so, "
                  "NAME=PATH, all, none")
      ->type_name("NAME|PATH,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--without", selection.without, "Leave these out")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--set", settings, "Set an option of the library (see tarn options), for tarn alone")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace tarn::tool
