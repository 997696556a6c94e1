// The look of every --help: one usage line, options, examples; and the command's own front page.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>  // defines what App.hpp only declares
#include <CLI/Formatter.hpp>
#include <string>

namespace tarn::tool {

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;

 private:
  std::string usage_;
};

/// Dresses the tool itself: description, usage, commands, examples.
void set_front_page(CLI::App& app);

}  // namespace tarn::tool
