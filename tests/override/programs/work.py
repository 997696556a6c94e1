"""Objects of all sizes, threads, a fork and an exception, with every object from malloc."""
import hashlib
import json
import os
import threading

data = {f"key{i}": [i * j for j in range(i % 50)] for i in range(20000)}
text = json.dumps(data, sort_keys=True)
print(len(text), hashlib.sha256(text.encode()).hexdigest())
assert json.loads(text) == data
del data

results = [0] * 4


def work(number):
    blocks = [bytearray((i * 37) % 5000 + 1) for i in range(3000)]
    results[number] = sum(len(block) for block in blocks)


threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)

large = bytearray()
for i in range(200):
    large.extend(bytes([i]) * 40000)
print(len(large), hashlib.md5(large).hexdigest())

child = os.fork()
if child == 0:
    work(0)
    os._exit(0 if results[0] == results[1] else 1)
print("child", os.waitpid(child, 0)[1])
try:
    bytearray(1 << 46)
except MemoryError:
    print("MemoryError")
