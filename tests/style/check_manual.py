#!/usr/bin/env python3
"""Compares the manual pages and the completions of shells with the programs and the formats.

    check_manual.py installed|options|formats|lint SOURCE BUILD
    check_manual.py bash|zsh|fish SOURCE BUILD

installed  what the build installs in bin and libexec/zeta has a page that it installs, too
options    options and commands that --help has are in the page, and the other way around
formats    settings and members of the schemas are in the pages of the formats, and the other way around
lint       man and mandoc have nothing to say about a page
bash ...   this shell offers the commands and options of "zeta help", and no others
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

SKIPPED = 77

# Pages whose headings are parts of a schema, with the names of those there; "" is the file itself.
SETS = {
    "The file": "", "Symbols": "symbol", "Units": "unit", "Layouts": "layout", "Header fields": "header_field",
    "Runs of counters": "run", "Upper bits": "high_part", "Validity": "validity", "Metrics": "shared_metric",
    "Sets": "set", "Programs": "program_part", "Parameters": "parameter", "Programmables": "programmable",
    "Counters of programmables": "counter",
}
COMPILERS = ["zeta-vgpu-cc", "zeta-nv-cc"]
# Options of other programs in an example of --help.
FOREIGN = {"zeta-gdbserver": {"-ex"}}
OPTION = re.compile(r"(?<![\w./-])--?[A-Za-z][\w-]*")
findings = []


def differ(what, wanted, found, where):
    """Notes what is wanted and not found, and the other way around."""
    for name in sorted(wanted - found):
        findings.append(f"{what}: {name} is missing in {where}")
    for name in sorted(found - wanted):
        findings.append(f"{what}: {name} is in {where} and nowhere else")


def output(command, **more):
    """What a program prints, on either stream."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, check=False, **more)
    return done.stdout


def normal(option):
    """-O2 and -O are one option; -cl-... stands for all that begin so."""
    return "-O" if re.fullmatch(r"-O\d?", option) else option.rstrip("-")


def help_options(text, program=""):
    return {normal(word) for word in OPTION.findall(text)} - FOREIGN.get(program, set())


class Page:
    """A page in mdoc, by its lines."""

    def __init__(self, path):
        self.lines = path.read_text(encoding="utf-8").splitlines()

    def parts(self, heading):
        """Lines by the heading Sh or Ss that they are under; "" is for those under no Ss."""
        parts, current = {}, None
        for line in self.lines:
            if line.startswith(f".{heading} ") or (heading == "Ss" and line.startswith(".Sh ")):
                current = parts.setdefault(line[4:] if line.startswith(f".{heading} ") else "", [])
            if current is not None:
                current.append(line)
        return parts


def fl(line):
    """Options of a line: the words behind the macro Fl."""
    return {normal("-" + word) for word in re.findall(r"\bFl (\S+)", line) if word != "-"}


def macros(lines):
    return [line for line in lines if line.startswith(".")]


def options_of(lines):
    """Options that lines describe, and all that they mention."""
    described, mentioned = set(), set()
    for line in macros(lines):
        mentioned |= fl(line)
        if line.startswith(".It "):
            described |= fl(line)
    return described, mentioned


def compare_options(what, text, lines):
    described, mentioned = options_of(lines)
    differ(what, help_options(text, what), described, "the list of options of its page")
    for name in sorted(mentioned - described):
        findings.append(f"{what}: the page mentions {name} and does not describe it")


def commands_of(zeta):
    return set(re.findall(r"^  ([a-z]+) {2,}", output([zeta, "--help"]), re.M))


def entries(lines):
    """Names that lines describe: "Cm list Op Fl ...", "Cm abi.min , abi.max", "Cm plugins. Ns Ar ID Ns Cm .enable"."""
    names = set()
    for line in macros(lines):
        if line.startswith(".It Cm "):
            text = re.sub(r"\. Ns Ar [A-Z]+ Ns Cm \.", ".*.", line[7:])
            text = re.sub(r" (Pq|Op|Ar) .*", "", text)
            names |= {word for word in text.split() if word != ","}
    return names


def usage_words(text, command):
    return set(re.findall(rf"^(?:usage:)? *zeta {command} ([a-z]+)\b", text, re.M))


def check_options(source, build):
    man = source / "sdk/doc/man"
    zeta = build / "bin/zeta"
    page = Page(man / "zeta.1")
    parts = page.parts("Ss")
    commands = commands_of(zeta)
    differ("zeta", commands, {name[5:] for name in parts if name.startswith("zeta ")}, "the page")
    for command in sorted(commands):
        lines = parts.get(f"zeta {command}", [])
        text = output([zeta, command, "--help"])
        if text != output([zeta, "help", command]) or text != output([zeta, command, "-h"]):
            findings.append(f"zeta {command}: --help, -h and help are not the same")
        compare_options(f"zeta {command}", text, lines)
        differ(f"zeta {command}", usage_words(text, command), entries(lines), "its list of commands")
    first = {"--help", "-h", "--version"}
    differ("zeta", first, options_of(parts[""])[0], "the options of the page")
    for option in sorted(first):
        if "zeta" not in output([zeta, option]):
            findings.append(f"zeta: {option} says nothing")

    for name in ["zeta-gdbserver", "zeta-import-oa"] + COMPILERS:
        if (build / "bin" / name).exists():
            lines = Page(man / f"{name}.1").lines
            compare_options(name, output([build / "bin" / name, "--help"]), lines)
    words = set(re.findall(r"zeta-probe ([a-z]+)", output([build / "libexec/zeta/zeta-probe"])))
    differ("zeta-probe", words, entries(Page(man / "zeta-probe.8").lines), "its page")
    lines = Page(man / "zeta-examples.7").lines
    text = output([build / "bin/matmul", "--help"]) + output([build / "bin/offline", "--help"])
    described, mentioned = options_of(lines)
    differ("examples", help_options(text), described | mentioned, "their page")

    known = re.findall(r'^    \{"(ZETA_[A-Z_]+)",', (source / "sdk/tools/zeta/doctor/checks.c").read_text(), re.M)
    settings = (source / "config/zeta.yaml").read_text()
    without = {name for name in known if f". {name}" not in settings and name != "ZETA_CONFIG"}
    differ("variables of zeta", without, variables(page.parts("Sh")["ENVIRONMENT"]), "the page")


def variables(lines):
    return {name for line in lines if line.startswith(".It") for name in re.findall(r"\bEv (ZETA_\w+)", line)}


def members(schema, before=""):
    """Leaves of a schema by their paths; * is any name."""
    paths = set()
    for name, part in (schema.get("properties") or {}).items():
        below = members(part, f"{before}{name}.")
        paths |= below or {before + name}
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            paths |= members(schema[word], before + ("*." if word == "additionalProperties" else ""))
    for word in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(word, []):
            paths |= members(part, before)
    return paths


def leaves(paths):
    """Without those that only stand before their own members."""
    return {path for path in paths if not any(other.startswith(path + ".") for other in paths)}


def check_formats(source, _build):
    man, schemas = source / "sdk/doc/man", source / "config/schema"
    for page, schema in (("zeta.yaml.5", "settings.yaml"), ("zeta-manifest.5", "manifest.yaml")):
        known = members(yaml.safe_load((schemas / schema).read_text()))
        differ(schema, known, leaves(entries(Page(man / page).lines)), page)
    settings = (schemas / "settings.yaml").read_text()
    page = Page(man / "zeta.yaml.5").parts("Sh")["SETTINGS"]
    differ("settings.yaml", set(re.findall(r"Variable\s+(ZETA_\w+)", settings)), variables(page), "zeta.yaml.5")

    schema = yaml.safe_load((schemas / "set.yaml").read_text())
    parts = Page(man / "zeta-sets.5").parts("Ss")
    differ("set.yaml", set(SETS), {name for name in parts if name}, "the headings of zeta-sets.5")
    for heading, name in SETS.items():
        part = schema["$defs"][name] if name else schema
        differ(f"set.yaml, {heading}", members(part), leaves(entries(parts.get(heading, []))), "zeta-sets.5")
    described = {name for name in SETS.values() if name}
    differ("set.yaml", {name for name, part in schema["$defs"].items() if members(part)}, described, "SETS")


def check_lint(source, _build):
    tools = [tool for tool in ("man", "mandoc") if shutil.which(tool)]
    if not tools:
        print("skipped: neither man nor mandoc is there (packages man-db and mandoc)")
        return SKIPPED
    print("with", " and ".join(tools))
    pages = sorted((source / "sdk/doc/man").glob("*.[1-9]"))
    if not pages:
        findings.append("there are no pages")
    for page in pages:
        if "mandoc" in tools:
            findings.extend(output(["mandoc", "-T", "lint", "-W", "warning", page]).splitlines())
        if "man" in tools:
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, check=False,
                                  env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            findings.extend(f"{page.name}: {line}" for line in done.stderr.splitlines())
            if done.returncode != 0:
                findings.append(f"{page.name}: man exits with {done.returncode}")
    return 0


def check_installed(_source, build):
    with tempfile.TemporaryDirectory() as folder:
        said = output(["cmake", "--install", build, "--prefix", folder])
        root = Path(folder)
        programs = {path.name for part in ("bin", "libexec/zeta") for path in (root / part).glob("*")
                    if path.suffix != ".needs"}
        if "zeta" not in programs:
            findings.append(f"the installation has no zeta: {said[-500:]}")
        pages = {path.name.rsplit(".", 1)[0]: path for path in (root / "share/man").glob("man*/*.[1-9]")}
        examples = set()
        if "zeta-examples" in pages:
            names = Page(pages.pop("zeta-examples")).parts("Sh")["NAME"]
            examples = {line.split()[1] for line in names if line.startswith(".Nm ")}
        formats = {name for name, path in pages.items() if path.suffix == ".5"}
        differ("installed programs", programs, set(pages) - formats | examples, "the installed pages")
        for file in ("bash-completion/completions/zeta", "zsh/site-functions/_zeta",
                     "fish/vendor_completions.d/zeta.fish"):
            if not (root / "share" / file).is_file():
                findings.append(f"share/{file} is not installed")


def offered_bash(shell, folder, words):
    script = ('source "$1/zeta.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; '
              '_zeta; printf "%s\\n" "${COMPREPLY[@]%=}"')
    return set(output([shell, "--norc", "-c", script, shell, folder, *words]).split())


def offered_zsh(shell, folder, words):
    # The functions of completion print what they are given: what is offered, with no terminal.
    script = ('_arguments() { print -rl -- "$@" }; compadd() { print -rl -- "$@" }\n'
              '_normal() { }\n'
              '_describe() { print -rl -- ${(P)2%%:*} }\n'
              'folder=$1; shift; words=("$@"); CURRENT=$#; source $folder/_zeta')
    offered = set()
    for line in output([shell, "-f", "-c", script, shell, folder, *words]).splitlines():
        places = re.match(r"\d:command:\((.*)\)$", line)
        option = re.match(r"(?:\([^)]*\))?\*?(--?[a-z][\w-]*?)(?:=?-?\[|$)", line)
        if words[-1] == "-":
            offered |= {option[1]} if option else set()
        elif places:
            offered |= set(places[1].split())
        elif re.fullmatch(r"[a-z]+", line):
            offered.add(line)
    return offered


def offered_fish(shell, folder, words):
    line = " ".join(words)
    script = f"source {folder}/zeta.fish; complete -C '{line}'"
    with tempfile.TemporaryDirectory() as empty:
        lines = output([shell, "--no-config", "-c", script], cwd=empty).splitlines()
    # "-" offers letters and names, with a description behind a tab.
    return {line.split("\t")[0].rstrip("=") for line in lines}


OFFERED = {"bash": offered_bash, "zsh": offered_zsh, "fish": offered_fish}


def check_shell(name, source, build):
    shell = shutil.which(name)
    if not shell:
        print(f"skipped: there is no {name} (package {name})")
        return SKIPPED
    folder = source / "sdk/tools/zeta/completion"
    zeta = build / "bin/zeta"
    commands = commands_of(zeta)

    def offered(*words):
        return OFFERED[name](shell, str(folder), words)

    universal = {"--help", "-h", "--version"}
    differ(name, commands | {"help"}, offered("zeta", "") - universal, "the completion of commands")
    differ(name, commands, offered("zeta", "help", ""), "the completion of help")
    differ(name, {"--help", "--version"}, offered("zeta", "-") - {"-h"}, "the completion of options")
    for command in sorted(commands):
        text = output([zeta, command, "--help"])
        differ(f"{name}, zeta {command}", help_options(text), offered("zeta", command, "-") - universal,
               "the completion of options")
        wrong = offered("zeta", command, "--", "-") & help_options(text)
        if wrong and "-- PROGRAM" in text:
            findings.append(f"{name}, zeta {command}: behind -- are {wrong}, which are the program's")
        places = usage_words(text, command)
        if places:
            differ(f"{name}, zeta {command}", places, offered("zeta", command, ""), "the completion of commands")
    return 0


def main():
    what, source, build = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    checks = {"installed": check_installed, "options": check_options, "formats": check_formats, "lint": check_lint}
    status = checks[what](source, build) if what in checks else check_shell(what, source, build)
    for finding in findings:
        print(finding)
    return 1 if findings else status or 0


if __name__ == "__main__":
    sys.exit(main())
