#!/bin/sh
# What a program with defaults of its own (programs/own_conf.c) prints: own_conf.sh EXPECTED PROGRAM
# EXPECTED: conf, none (the program has none), or overruled (a stronger source has set it)
set -eu
complaints="tarn: tarn_conf: unknown option 'colour'; 'tarn options' lists the names
tarn: tarn_conf: bad value 'none' for classes; it stays 'default' (default)"
case $1 in
  conf) first="decay 500ms from tarn_conf" ;;
  none) first="decay 2000ms from default" complaints= ;;
  overruled) first="decay 7ms from TARN_CONF" TARN_CONF=decay:7 && export TARN_CONF ;;
esac
printed=$("$2" 2>&1)
expected="${complaints:+$complaints
}$first
classes: 1, decay: 0
decay 3000ms from set_option"
[ "$printed" = "$expected" ] || { printf 'printed:\n%s\nexpected:\n%s\n' "$printed" "$expected"; exit 1; }
