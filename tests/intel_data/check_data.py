#!/usr/bin/env python3
"""check_data.py REPOSITORY IMPORTER: the importer makes the data of Intel GPUs again, byte for byte.

A generation is made again in a copy, from the sources that its files name in the folder oa of
ZETA_SHARED; once more from files without their metrics, of which the same sets must come (not those
of the library, which take long). A generation whose sources are missing is passed over, with a
sentence.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIBRARY = "libi915_perf"
SOURCE = re.compile(r"^# Source: (\S+)$", re.MULTILINE)
METRICS = re.compile(r"    metrics: \[.*?\]", re.DOTALL)


def files(folder):
    return {path.relative_to(folder): path.read_text() for path in folder.glob("*.yaml")}


def make(importer, folder, sources):
    return subprocess.run([sys.executable, importer, "--generation", folder], cwd=sources,
                          capture_output=True, text=True, check=False)


def names_of_metrics(catalog, folder, common):
    """The names of the metrics of each set of a generation by uuid."""
    found = {}
    for path in folder.glob("*.yaml"):
        if SOURCE.search(path.read_text()):
            sets = catalog.Catalog([*common, folder / "metrics.yaml", path] if
                                   (folder / "metrics.yaml").exists() else [*common, path])
            found.update({one["uuid"]: {m["name"] for m in sets.metrics(one)}
                          for one in sets.sets if one["path"] == path})
    return found


def check(importer, catalog, folder, sources):
    """What is wrong with a generation in a copy of the data; None if its sources are missing."""
    before = files(folder)
    made = make(importer, folder, sources)
    if "is not installed" in made.stderr:
        return None
    after = files(folder)
    wrong = [f"{name} is another file" for name in sorted(set(before) | set(after))
             if before.get(name) != after.get(name)]
    if made.returncode or wrong:
        return wrong + [made.stderr]
    if any(LIBRARY in name for text in before.values() for name in SOURCE.findall(text)):
        return []
    manifest = folder.parents[1] / "manifests" / f"20-intel-{folder.name}.yaml.in"
    common = [folder.parent / path.replace("intel/", "common/")
              for path in catalog.load(manifest)["metrics"]]
    names = names_of_metrics(catalog, folder, common)
    for name, text in before.items():
        if SOURCE.search(text):
            (folder / name).write_text(METRICS.sub("    metrics: []", text))
    made = make(importer, folder, sources)
    if made.returncode or names_of_metrics(catalog, folder, common) != names:
        return ["its sets have other metrics if the files say none", made.stderr]
    return []


def main():
    repository, importer = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
    sys.path.insert(0, importer)
    import catalog
    sources = pathlib.Path(os.environ.get("ZETA_SHARED", "/nowhere")) / "oa"
    same, failed = 0, 0
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place) / "intel"
        for part in ("data", "manifests"):
            shutil.copytree(repository / "plugins/intel" / part, copy / part)
        for folder in sorted((copy / "data").iterdir()):
            needed = {name for path in folder.glob("*.yaml")
                      for name in SOURCE.findall(path.read_text())} if folder.is_dir() else set()
            missing = [name for name in needed
                       if not name.startswith(LIBRARY) and not (sources / name).is_file()]
            if not needed:
                continue
            wrong = None if missing else check(importer, catalog, folder,
                                               sources if sources.is_dir() else None)
            if wrong is None:
                print(f"{folder.name}: passed over, its sources are missing: "
                      f"{', '.join(sorted(needed))}")
            elif wrong:
                failed += 1
                print(f"{folder.name}: the importer does not make it again", *wrong, sep="\n  ")
            else:
                same += 1
    print(f"{same} generations are made again, {failed} are not")
    return 1 if failed else 0 if same else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
