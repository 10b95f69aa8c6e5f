"""zeta-import-oa: metric sets of Intel's XML descriptions as set files of Zeta."""

import argparse
import os
import re
import signal
import sys

sys.dont_write_bytecode = True

import catalog
import convert
import formats
import generation
import library
import share
import source
import write
from findings import Refused
from yaml_text import words

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
    parser.add_argument("xml", nargs="*", metavar="XML",
                        help="one file; several with --common and --programs")
    parser.add_argument("--generation", metavar="FOLDER",
                        help="write the set files and registers of this folder of data anew, from "
                        "the sources that the set files name, in the current folder")
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
    parser.add_argument("--programs", action="store_true",
                        help="write only the programs, by uuid, and what they have in common. XML "
                        f"can be {library.PREFIX}PCIID, too: what the library of intel-gpu-tools has")
    parser.add_argument("--no-programs", action="store_true",
                        help="write sets without programs: those of another file are theirs")
    parser.add_argument("--platform", action="store_true",
                        help="write symbols and units with their registers, too: what a new "
                        "platform needs besides its layouts")
    parser.add_argument("--skip-faulty", action="store_true",
                        help="leave sets with errors out instead of writing nothing")
    return parser.parse_args()


def load_words(path):
    words = catalog.load(path)
    if not isinstance(words, dict):
        raise Refused(path, 0, "this is no mapping of names to sentences")
    for name, sentence in words.items():
        if not isinstance(sentence, str) or not 0 < len(sentence.encode()) < 256 or \
                re.search(r"[\x00-\x1f]", sentence):
            raise Refused(path, 0, f"'{name}' needs a sentence of 1 to 255 bytes on one line")
    return words


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
        converter = self.converter(path)
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

    def converter(self, path):
        return convert.Converter(path, self.words, *self.choices, self.options.muldiv)

    def programs(self, paths):
        """The lines of a file of programs."""
        found = {}
        for path in paths:
            if path.startswith(library.PREFIX):
                programs = library.programs(path)
            else:
                converter = self.converter(path)
                programs = [(each.uuid, converter.program(each)) for each in source.read(path)]
            for uuid, parts in programs:
                if found.setdefault(uuid, parts) != parts:
                    raise Refused(path, 0, f"the program {uuid} is another one elsewhere")
        return ["# Programs of sets by uuid, and blocks of writes that they share. Made by"] + \
            words(f"# zeta-import-oa --programs {' '.join(paths)}", "#     ") + \
            ["format: 2", ""] + write.programs(found)

    def generation(self, folder):
        """Writes the files of a generation."""
        self.options.muldiv = True

        def open_source(name):
            return generation.Library(name) if name.startswith(library.PREFIX) else \
                generation.Xml(name, self.converter(name))

        found = generation.Generation(folder, open_source, complain)
        files = found.files()
        files[os.path.join(found.folder, "registers.yaml")] = \
            "\n".join(self.programs(list(found.sources))) + "\n"
        for path, text in files.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def run(self):
        """The lines of the set file."""
        options = self.options
        if options.programs:
            return self.programs(options.xml)
        known = share.Known(options.use)
        files = [self.file(path) for path in options.xml]
        for found in [found for sets in files for found in sets]:
            known.note_uses(found.metrics)
        lines = ["format: 2"]
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
            lines += ([""] if number else []) + write.one_set(found, shared, not options.no_programs)
        return lines


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = arguments()
    try:
        if options.generation:
            Import(options).generation(options.generation)
            return 0
        if not options.xml:
            raise Refused("arguments", 0, "there is no XML file")
        if options.list:
            for path in options.xml:
                for found in source.read(path):
                    print(found.name)
            return 0
        if len(options.xml) > 1 and not options.common and not options.programs:
            raise Refused("arguments", 0, "several XML files go only with --common or --programs")
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
