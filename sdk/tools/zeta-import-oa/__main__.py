"""zeta-import-oa: metric sets of Intel's XML descriptions as set files of Zeta."""

import argparse
import re
import signal
import sys

sys.dont_write_bytecode = True

import convert
import formats
import share
import source
import write
from findings import Refused

HELP = """\
The files are those of igt-gpu-tools (lib/i915/perf-configs, lib/xe/oa-configs) and Mesa
(src/intel/perf); the raw-position dialect of metrics-discovery is not read. Names, equations,
registers and availability are carried over, descriptions are not: they come from --words, or say
the name and the unit.

KEY of --layout, --unit and --also is the name of a set, a value of oa_format, "default" for sets
without oa_format, or "*".
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="zeta-import-oa", description="Print metric sets of an XML file as a set file.",
        epilog=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xml", nargs="+", metavar="XML", help="one file; several with --common")
    parser.add_argument("--list", action="store_true", help="print the names of the sets")
    parser.add_argument("--sets", metavar="NAME,...", help="only these sets, in this order")
    parser.add_argument("--layout", action="append", default=[], metavar="KEY=LAYOUT",
                        help="use this layout")
    parser.add_argument("--unit", action="append", default=[], metavar="KEY=UNIT[:DOMAIN]",
                        help="use this unit and domain, not those that the format and the "
                             "registers say")
    parser.add_argument("--also", action="append", default=[],
                        metavar="KEY=SUFFIX:UNIT:DOMAIN[:WHEN]",
                        help="have the sets once more on another unit")
    parser.add_argument("--words", metavar="FILE",
                        help="YAML mapping of names of metrics and sets to sentences")
    parser.add_argument("--muldiv", action="store_true",
                        help="calculate a * b / c of integers in 128 bits, not modulo 2^64")
    parser.add_argument("--share", action="store_true",
                        help="write definitions that several sets have in common once")
    parser.add_argument("--common", action="store_true",
                        help="write only the definitions that several of the files have in common")
    parser.add_argument("--use", action="append", default=[], metavar="FILE",
                        help="use shared definitions of this set file where they mean the same: "
                        "name, value type, condition, value and maximum")
    parser.add_argument("--platform", action="store_true",
                        help="write symbols and units with their registers, too: what a new "
                        "platform needs besides its layouts")
    parser.add_argument("--skip-faulty", action="store_true",
                        help="leave sets with errors out instead of writing nothing")
    return parser.parse_args()


def load_yaml(path):
    """A YAML file; only needed for --words and --use."""
    try:
        import yaml
    except ImportError:
        raise Refused(path, 0, "reading it needs the module yaml of Python "
                      "(Debian: apt install python3-yaml)") from None
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    except OSError as error:
        raise Refused(path, 0, error.strerror) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Refused(path, mark.line + 1 if mark else 0,
                      f"this is no YAML: {getattr(error, 'problem', error)}") from None


def load_words(path):
    words = load_yaml(path)
    if not isinstance(words, dict):
        raise Refused(path, 0, "this is no mapping of names to sentences")
    for name, sentence in words.items():
        if not isinstance(name, str) or not isinstance(sentence, str) or \
                not 0 < len(sentence.encode()) < 256 or re.search(r"[\x00-\x1f]", sentence):
            raise Refused(path, 0, f"'{name}' needs a sentence of 1 to 255 bytes on one line")
    return words


def load_known(paths):
    """Keys of shared definitions that exist already, by their meaning."""
    known = {}
    for path in paths:
        found = load_yaml(path)
        found = found.get("metrics") if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise Refused(path, 0, "there are no shared definitions (metrics:) in it")
        for key, definition in found.items():
            if not isinstance(definition, dict):
                raise Refused(path, 0, f"the shared definition {key} is no mapping")
            members = [(k, write.scalar(v)) for k, v in definition.items()]
            known[share.meaning(definition.get("name", key), members)] = key
    return known


def choose(path, sets, wanted):
    if not wanted:
        return sets
    by_name = {found.name: found for found in sets}
    for name in wanted.split(","):
        if name not in by_name:
            raise Refused(path, 0, f"there is no set {name}; the option --list prints those that "
                          "there are")
    return [by_name[name] for name in wanted.split(",")]


def complain(text):
    print(f"zeta-import-oa: {text}", file=sys.stderr)


class Import:
    """Everything that is read, then written."""

    def __init__(self, options):
        self.options = options
        self.words = load_words(options.words) if options.words else {}
        self.choices = [convert.Choice(texts, option) for texts, option in (
            (options.layout, "--layout"), (options.unit, "--unit"), (options.also, "--also"))]
        self.symbols = set(formats.RATE_SYMBOLS)
        self.addresses = {}
        self.faulty = 0

    def file(self, path):
        """The sets of one file, converted."""
        converter = convert.Converter(path, self.words, *self.choices, self.options.muldiv)
        out = []
        for found in choose(path, source.read(path), self.options.sets):
            try:
                out.append(converter.convert(found))
            except Refused as error:
                self.faulty += 1
                complain(error)
        for line, text in converter.left_out:
            complain(f"{path}:{line}: note: {text}; left out")
        self.symbols |= converter.symbols
        for unit, addresses in converter.addresses.items():
            self.addresses.setdefault(unit, {}).update(addresses)
        return out

    def run(self):
        """The lines of the set file."""
        options = self.options
        known = load_known(options.use)
        files = [self.file(path) for path in options.xml]
        lines = ["format: 1"]
        if options.common:
            shared = share.find([[m for s in sets for m in s.metrics] for sets in files], 2, known)
            return lines + [""] + write.definitions(shared)
        sets = [found for sets in files for found in sets]
        least = 2 if options.share else len(sets) + 1
        shared = share.find([found.metrics for found in sets], least, known)
        if options.platform:
            lines += [""] + write.symbols(self.symbols) + [""] + write.units(self.addresses)
        if shared.new:
            lines += [""] + write.definitions(shared)
        lines += ["", "sets:"]
        for number, found in enumerate(sets):
            lines += ([""] if number else []) + write.one_set(found, shared)
        return lines


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = arguments()
    try:
        if options.list:
            for path in options.xml:
                for found in source.read(path):
                    print(found.name)
            return 0
        if len(options.xml) > 1 and not options.common:
            raise Refused("arguments", 0, "several XML files go only with --common")
        work = Import(options)
        lines = work.run()
    except Refused as error:
        complain(error)
        return 1
    if work.faulty and not options.skip_faulty:
        complain(f"{work.faulty} set(s) cannot be imported, nothing is written; --skip-faulty "
                 "leaves them out")
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
