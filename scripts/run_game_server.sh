#!/bin/sh
# `make run`: the game server of examples/game_server plays a day on every kind of memory that is there. What
# stands behind BUILD goes to `tarn compare`: --rounds 5, --with jemalloc, -o FILE.json.
set -eu
build=${1:?usage: run_game_server.sh BUILD [OPTIONS of tarn compare]}
shift
suite=$(dirname "$0")/../examples/game_server/suite.json
"$build/tarn" compare --suite "$suite" --rounds 2 --warmup 0 -o "$build/game_server.json" \
  -o "$build/game_server.html" "$@"
echo "Drawn: $build/game_server.html. Every figure: $build/game_server.json."
echo "Your own server: $build/tarn compare --load 'COMMAND THAT LOADS IT' --port PORT -- ./your_server"
