#!/bin/sh
# `make run`: the game server of examples/game_server on every kind of memory that is there; --help tells the
# options.
exec python3 "$(dirname "$0")/../examples/game_server/run" "$@"
