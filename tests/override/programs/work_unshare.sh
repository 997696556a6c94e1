# Namespaces that need no file; some of them the kernel makes only for a process that has one thread.
LC_ALL=C.UTF-8
export LC_ALL
test "$(id -u)" = 0 && unshare --user true && unshare --mount --pid --net true || exit 77
unshare --user true && echo user
unshare --map-root-user id -u
unshare --mount true && echo mount
unshare --net --ipc --uts true && echo net, ipc and uts
unshare --pid --fork sh -c 'echo $$'
unshare --user --mount --pid --fork --map-root-user sh -c 'echo $$; id -u'
unshare --map-root-user unshare --map-root-user id -g
nsenter --target $$ --mount true && echo entered
