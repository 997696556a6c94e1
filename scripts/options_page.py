#!/usr/bin/env python3
"""Writes docs/options.md from the library's table of options, as `tarn options --json` prints it.

Usage: options_page.py PATH_OF_TARN > docs/options.md       (make docs does this)
       options_page.py PATH_OF_TARN --check docs/options.md  exit status 1 when the page is not what it would
       write
"""

import json
import subprocess
import sys

HEAD = """\
# Options

<!-- Generated from the table in src/base/options/option_table.h by scripts/options_page.py: `make docs`. Do not edit. -->

Every option has a key and an environment name. Later sources win:

1. `tarn_conf`, the program's own defaults
2. `/etc/tarn.conf`
3. the file that `TARN_CONF_FILE` names
4. `TARN_CONF="key:value,key:value"`
5. one environment variable per option, `TARN_KEY=value`
6. `tarn::set_option`, called by the program ([run_time_options.md](run_time_options.md), also on `tarn_conf`)

A file holds `key:value` or `key=value` pairs, one per line or separated by commas; `#` starts a comment. Sizes take the
suffixes `K`, `M`, `G` (powers of 1024), times `ms` and `s`. An unknown key or a bad value costs one line on standard
error and leaves the value as it was. In a set-uid program the environment is ignored. All of it is read once, before the
first block is handed out. From then on the program can set the options that the table marks.

`tarn options` prints this table, `TARN_PRINT_OPTIONS=1 PROGRAM` the values that a program really runs with and
who set them, and `tarn run --set KEY=VALUE -- PROGRAM` sets one for one run.

"""


def page(options):
    rows = ["| key | environment | default | takes | at run time | what it does |",
            "|---|---|---|---|---|---|"]
    for option in options:
        cells = [f"`{option['name']}`", f"`{option['environment']}`", option["default"] or "none",
                 option["accepts"].replace("|", ", "),
                 "may change" if option["changes_at_run_time"] else "fixed", option["help"]]  # fmt: skip
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return HEAD + "\n".join(rows) + "\n"


def main():
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--check"):
        sys.exit(__doc__)
    printed = subprocess.run([sys.argv[1], "options", "--json"], stdout=subprocess.PIPE, check=True,
                             text=True).stdout
    text = page(json.loads(printed)["options"])
    if len(sys.argv) == 2:
        print(text, end="")
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        if file.read() != text:
            sys.exit(f"{sys.argv[3]} is not what the table of options says: make docs")


main()
