"""same_values.py GROUP FILE...: the reports in JSON show the same rows and values of a group."""
import json
import sys


def read(path, name):
    with open(path) as file:
        document = json.load(file)
    group = next(g for g in document["groups"] if g["name"] == name)
    return group["samples"], {m["name"]: (m["value"], m["total"], m["min"], m["max"])
                              for m in group["metrics"]}


first_samples, first = read(sys.argv[2], sys.argv[1])
if not first_samples or not first:
    sys.exit("there is nothing to compare")
for path in sys.argv[3:]:
    samples, values = read(path, sys.argv[1])
    if samples != first_samples:
        sys.exit(f"{path} has {samples} rows, not {first_samples}")
    if values.keys() != first.keys():
        sys.exit(f"{path} has other metrics: {values.keys() ^ first.keys()}")
    for name, value in values.items():
        if value != first[name]:
            sys.exit(f"{name} is {value} in {path}, not {first[name]}")
print(f"{first_samples} rows of {len(first)} metrics")
