# The debugger debugs a program; both run on the preloaded library.
gdb --batch -nx -ex 'set confirm off' -ex 'set width 0' -ex 'break note_size' -ex run -ex 'print size' \
    -ex 'info args' -ex continue -ex 'print size' -ex kill "$1" 2>&1 | grep -E '^\$|^size = '
