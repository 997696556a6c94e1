"""Work for `make run`: builds, serialises, parses, groups and sorts 25,000 records.

About 2.7 million allocations, most of them of 16 to 160 bytes, many freed in another order than they were
made in. The records come from a fixed seed and the output depends on them alone. Python must take each object
from malloc (PYTHONMALLOC=malloc), or its own pools hide the allocator.
"""

import json
import random

RECORDS = 25_000
WORDS = 4_000


def make_records(numbers):
    words = ["".join(numbers.choices("abcdefghij", k=numbers.randint(3, 12))) for _ in range(WORDS)]
    return [
        {
            "id": i,
            "name": " ".join(numbers.choices(words, k=3)),
            "score": numbers.random() * 100,
            "tags": numbers.choices(words, k=numbers.randint(1, 5)),
            "parent": {"id": i // 7, "kind": i % 13},
        }
        for i in range(RECORDS)
    ]


def group_by_tag(records):
    groups = {}
    for record in records:
        for tag in record["tags"]:
            groups.setdefault(tag, []).append(record)
    return groups


def main():
    text = json.dumps(make_records(random.Random(1)))
    records = json.loads(text)
    groups = group_by_tag(records)
    records.sort(key=lambda record: (record["parent"]["kind"], -record["score"], record["name"]))
    lines = [f"{record['id']},{record['name']},{record['score']:.3f}" for record in records]
    print(len(text), len(groups), sum(map(len, lines)), lines[0], lines[-1])


main()
