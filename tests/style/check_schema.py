#!/usr/bin/env python3
"""check_schema.py REPOSITORY BUILD: the YAML files of plugins are what the schemas in config/schema say.

The readers of the library check more, but not the same: a schema that falls behind them helps nobody.
"""
import pathlib
import sys

import jsonschema
import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# schema: patterns of the files that it is for, in the repository or in the build
FILES = {
    "manifest.yaml": ["share/zeta/plugins.d/*.yaml"],
    "set.yaml": ["plugins/*/metrics/*.yaml", "plugins/intel/data/*/*.yaml"],
    "platforms.yaml": ["plugins/intel/data/*/platforms.yaml"],
}


def mistakes_of(validator, path):
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    for error in validator.iter_errors(document):
        # Of alternatives the one that came furthest tells most.
        error = jsonschema.exceptions.best_match([error])
        place = "/".join(str(part) for part in error.absolute_path)
        yield f"{path}: {place}: {error.message[:200]}"


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    mistakes, count = [], 0
    for name, patterns in FILES.items():
        schema = yaml.load((root / "config/schema" / name).read_text(encoding="utf-8"),
                           Loader=LOADER)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for path in (path for pattern in patterns for folder in (root, build)
                     for path in sorted(folder.glob(pattern))):
            if name == "platforms.yaml" or path.name != "platforms.yaml":
                mistakes += mistakes_of(validator, path)
                count += 1
    print("\n".join(mistakes) or f"{count} files agree with their schemas")
    return 1 if mistakes or not count else 0


if __name__ == "__main__":
    sys.exit(main())
