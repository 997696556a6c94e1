# Strings, arrays, subshells and pipes: what a script makes the shell allocate.
declare -A counts
for ((i = 0; i < 20000; ++i)); do
  word="word$((i * 7919 % 1013))"
  counts[$word]=$((${counts[$word]:-0} + 1))
  text+="$word "
done
echo "${#text} ${#counts[@]} ${counts[word5]}"
for i in 1 2 3 4 5; do
  (large=$(printf 'x%.0s' {1..5000}); echo "$i ${#large}" | tr 1-5 a-e)
done
sorted=$(for word in "${!counts[@]}"; do echo "$word ${counts[$word]}"; done | sort | tail -3)
echo "$sorted"
