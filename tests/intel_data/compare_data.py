#!/usr/bin/env python3
"""compare_data.py OLD NEW: in what the sets of two copies of plugins/intel differ.

Definitions, lists, indexes and blocks are written out before, by platform; the order of metrics counts.
"""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "sdk/tools/zeta-import-oa"))
sys.dont_write_bytecode = True
import catalog  # noqa: E402


def platforms(root):
    """The sets of each platform by name and uuid, with metrics and programs."""
    for manifest in sorted(root.glob("manifests/20-intel-*.yaml.in")):
        generation = manifest.name[len("20-intel-"):-len(".yaml.in")]
        folder = root / "data" / generation
        common = [root / "data" / path.replace("intel/", "common/")
                  for path in catalog.load(manifest)["metrics"]]
        for platform in catalog.load(folder / "platforms.yaml")["platforms"]:
            found = catalog.Catalog(common + [folder / path for path in platform.get("sets", [])])
            yield platform["id"], {
                (one["name"], one.get("uuid")): {**one, "path": None,
                                                 "metrics": found.metrics(one),
                                                 "program": found.programs.get(one.get("uuid"))}
                for one in found.sets}


def differences(old, new):
    """What differs in two sets: names of members, and of members of metrics."""
    if new is None:
        return ["missing"]
    out = [key for key in {*old, *new} - {"metrics"} if old.get(key) != new.get(key)]
    ours, theirs = ({metric["name"]: metric for metric in one["metrics"]} for one in (old, new))
    out += [f"{name}: {'value' if name in ours and name in theirs else 'only in one'}"
            for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)]
    return out or (["order of metrics"] if list(ours) != list(theirs) else [])


def main():
    old, new = (dict(platforms(pathlib.Path(root))) for root in sys.argv[1:3])
    count = collections.Counter()
    for platform in {**old, **new}:
        sets = old.get(platform, {})
        others = new.get(platform, {})
        for key in {**sets, **others}:
            found = differences(sets.get(key) or others[key],
                                others.get(key) if key in sets else None)
            count["sets"] += 1
            count["different"] += bool(found)
            if found:
                print(platform, key[0], *sorted(found), sep=", ")
    print(f"{count['sets']} sets of {len(old)} platforms, {count['different']} differ")
    return 1 if count["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
