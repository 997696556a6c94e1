# A repository with some history, packed, cloned and searched; no configuration of the machine's user.
set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='2020-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git init -q -b main one
cd one
for i in $(seq 1 15); do
  for j in $(seq 1 8); do seq "$i" $((i + j * 400)) > "file$j"; done
  git add .
  git commit -q -m "commit $i"
done
git gc -q
git fsck --no-progress
git log --stat --format='%H %s' | tail -40
git diff HEAD~7 HEAD --stat
git blame file3 | md5sum
cd ..
git clone -q --no-local one two
git -C two rev-parse HEAD
git -C two grep -c 1234 HEAD
