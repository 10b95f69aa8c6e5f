#!/usr/bin/env python3
"""measure_streams.py BUILD sums|cost|slowdown
measure_streams.py BUILD long SECONDS SET PERIOD

Checks and measures PM sampling streams on the GPU of this machine; exits with 1 if a check failed.

  sums      the sum over a stream of each set, at each of its periods, is what the kernels did, and none is lost
  cost      share of a processor core that zeta takes while the GPU idles and while it multiplies matrices, beside
            the budget; in the table of sums it is there for the two kernels, with zeta's start in it
  slowdown  how much longer a bf16 product and a loop of small launches take beside a stream, in turn with none
  long      a stream of that many seconds, with work now and then, loses none and sums up

Counts of kernels follow from their size; instructions are those that ncu counts, where it is installed. What neither
tells has to be the same in all streams, if it is the same in all launches. A slowdown within the spread of the times
without a stream is none.
"""
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# Sets, in the order of the table. Heavy ones lose samples, which they have to tell; L2Cache is one while memory works.
LIGHT = ["ComputeBasic", "L1Cache", "Tensor", "Occupancy", "Engines", "Links"]
HEAVY = ["L2Cache", "ComputeFull", "MemoryBasic", "MemoryFull", "TensorFull", "EnginesFull"]
PERIODS = {"1ms": 1000000, "200us": 200000, "100us": 100000}
# Most of a core in percent, by set and period; of a period alone for all light sets.
BUDGETS = {("ComputeBasic", "1ms"): 16, "200us": 85, "100us": 85}
# Kernel: launches, size. Both take about a second on an H100.
KERNELS = {"fma_loop": (200, 20000), "vector_add": (3000, 1 << 26)}
GROUP, FMA_GROUPS = 256, 528
SLOWDOWN_PERCENT = 1
ROUNDS = 5
# The program of the slowdown: a line that comes in names some work, and the median of its seconds in some runs goes
# out. Replays of a graph are launches that the processor has little to do with.
WORK = """
import sys, time, torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
c = torch.empty_like(a)
x = torch.zeros(1, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for i in range(1000):
        x.add_(1)
def product():
    for i in range(80):
        torch.matmul(a, b, out=c)
def launches():
    for i in range(20000):
        x.add_(1)
def replays():
    for i in range(80):
        graph.replay()
for name in sys.stdin:
    work = {"product": product, "launches": launches, "replays": replays}[name.strip()]
    times = []
    for run in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    print(sorted(times)[2], flush=True)
"""
GEMM = """
import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
torch.cuda.synchronize()
print("ready", flush=True)
while True:
    for i in range(100):
        c = a @ b
    torch.cuda.synchronize()
"""


class Streams:
    """The build, a folder for results, and what went wrong so far."""

    def __init__(self, build, folder):
        self.zeta = os.path.join(build, "bin/zeta")
        self.program = os.path.join(build, "tests/fma_program")
        self.folder = folder
        self.failures = []
        self.counts = {}  # (kernel, metric): of one launch

    def fail(self, text):
        self.failures.append(text)
        print(f"  FAILED: {text}", flush=True)

    def stat(self, name, period, words):
        """Runs `zeta stat`; the group of its result with `share` of a core, or None."""
        path = os.path.join(self.folder, "stat.json")
        done = subprocess.run([self.zeta, "stat", "-g", name, "-p", period, f"--json={path}", *words],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.fail(f"zeta stat of {name} at {period} gave {done.returncode}: {first_line(done.stderr)}")
            return None
        return read_group(path)

    def periods(self):
        """Set: its periods, those that the device has."""
        path = os.path.join(self.folder, "groups.json")
        subprocess.run([self.zeta, "groups", f"--json={path}"], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            groups = json.load(file)["groups"]
        shortest = {group["name"]: group["min_period_ns"] for group in groups if "time" in group["sampling"]}
        return {name: [text for text, ns in PERIODS.items() if ns >= shortest[name]]
                for name in LIGHT + HEAVY if name in shortest}

    def command(self, kernel, launches=None):
        usual, size = KERNELS[kernel]
        return [self.program, str(launches or usual), str(size), "0", kernel]

    def learn(self, kernel):
        """What one launch of a kernel counts."""
        size = KERNELS[kernel][1]
        groups = FMA_GROUPS if kernel == "fma_loop" else (size + GROUP - 1) // GROUP
        warps = groups * GROUP // 32
        self.counts[kernel, "Dispatches"] = 1
        self.counts[kernel, "GroupsLaunched"] = groups
        self.counts[kernel, "WarpsLaunched"] = warps
        # Bytes of its loads and stores.
        self.counts[kernel, "L1Bytes"] = (4 if kernel == "fma_loop" else 12) * groups * GROUP
        if not shutil.which("ncu"):
            print(f"{kernel}: no ncu, so its instructions have to be the same in all streams")
            return
        done = subprocess.run(["ncu", "--clock-control", "none", "--cache-control", "none", "--metrics",
                               "sm__inst_executed.sum", *self.command(kernel, 1)],
                              capture_output=True, text=True, check=False)
        found = re.search(r"sm__inst_executed\.sum\s+inst\s+([\d,]+)", done.stdout)
        if not found:
            self.fail(f"ncu does not count {kernel}: {done.stdout}{done.stderr}")
            return
        count = int(found.group(1).replace(",", ""))
        print(f"{kernel}: ncu counts {count} instructions of a launch, {count / warps:g} of a warp")
        self.counts[kernel, "Instructions"] = count

    def check(self, kernel, launches, group):
        """Compares totals with what is known; words about it."""
        exact = []
        for metric in group["metrics"]:
            name, total = metric["name"], metric["total"]
            if name not in ("Instructions", "WarpsLaunched", "GroupsLaunched", "Dispatches", "L1Bytes",
                            "L1Wavefronts", "SharedWavefronts"):
                continue
            if total % launches != 0 and (kernel, name) not in self.counts:
                continue  # it differs between launches
            wanted = self.counts.setdefault((kernel, name), total // launches) * launches
            if total == wanted:
                exact.append(name)
            else:
                self.fail(f"{group['name']}: {name} of {kernel} is {total}, not {wanted:.0f} ({total - wanted:+.0f})")
        return "exact: " + ", ".join(exact) if exact else "has no known count"

    def judge_loss(self, name, period, group):
        if name in LIGHT and group["lost"] > 0:
            self.fail(f"{name} at {period} lost {group['lost']} of {group['samples'] + group['lost']} samples")

    def judge_cost(self, name, period, group):
        budget = BUDGETS.get((name, period), BUDGETS.get(period))
        if name in LIGHT and budget and group["share"] > budget:
            self.fail(f"{name} at {period} takes {group['share']:.1f} % of a core, above {budget} %")


def first_line(text):
    return text.strip().split("\n", maxsplit=1)[0]


def read_group(path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    group = result["groups"][0]
    group["share"] = 100 * result["overhead_cpu_ns"] / result["elapsed_ns"]
    return group


def print_row(load, name, period, group, note=""):
    print(f"{load:<11} {name:<13} {period:>6} {group['samples']:>7} samples {group['lost']:>4} lost "
          f"{group['share']:>6.1f} % of a core  {note}".rstrip(), flush=True)


def sums(streams):
    periods = streams.periods()
    for kernel, (launches, _) in KERNELS.items():
        streams.learn(kernel)
        for name, of_set in periods.items():
            for period in of_set if name in LIGHT else of_set[:1]:
                group = streams.stat(name, period, ["--", *streams.command(kernel)])
                if not group:
                    continue
                is_whole = group["lost"] == 0
                note = streams.check(kernel, launches, group) if is_whole else "the rest is not compared"
                print_row(kernel, name, period, group, note)
                streams.judge_loss(name, period, group)


def cost(streams):
    periods = streams.periods()
    for load in ("idle", "product"):
        program = None
        if load == "product":
            program = subprocess.Popen([sys.executable, "-c", GEMM], stdout=subprocess.PIPE, text=True)
            if program.stdout.readline() != "ready\n":
                print("no PyTorch with CUDA: no product of matrices")
                program.wait()
                break
        for name, of_set in periods.items():
            # The longest and the shortest; heavy sets have one.
            for period in [of_set[0], of_set[-1]] if name in LIGHT else of_set[:1]:
                group = streams.stat(name, period, ["-a", "--for", "3s"])
                if group:
                    print_row(load, name, period, group)
                    streams.judge_loss(name, period, group)
                    streams.judge_cost(name, period, group)
        if program:
            if program.poll() is not None:
                streams.fail("the product of matrices ended while it was measured")
            program.kill()
            program.wait()


class Beside:
    """A stream beside what happens in the block; without a set there is none."""

    def __init__(self, streams, name, period):
        self.streams, self.name, self.period = streams, name, period
        self.path = os.path.join(streams.folder, "beside.json")
        self.sampler = self.clocks = None
        self.mhz = []

    def __enter__(self):
        if self.name:
            self.sampler = subprocess.Popen([self.streams.zeta, "stat", "-a", "-g", self.name, "-p", self.period,
                                             f"--json={self.path}"], stderr=subprocess.PIPE, text=True)
            time.sleep(1)  # that it was on is checked at the end
        self.clocks = subprocess.Popen(["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits",
                                        "--loop-ms=100"], stdout=subprocess.PIPE, text=True)
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        took = time.monotonic() - self.began
        self.clocks.terminate()
        self.mhz = [float(line) for line in self.clocks.communicate()[0].split()]
        if not self.sampler:
            return
        self.sampler.send_signal(signal.SIGINT)
        _, errors = self.sampler.communicate()
        if not os.path.exists(self.path):
            self.streams.fail(f"no stream of {self.name} at {self.period}: {first_line(errors)}")
            return
        group = read_group(self.path)
        os.unlink(self.path)
        if group["samples"] * group["period_ns"] < took * 1e9:
            self.streams.fail(f"the stream of {self.name} at {self.period} began too late or lost samples")


def mean_mhz(values):
    return f"{statistics.mean(values):.0f} MHz" if values else "unknown"


def slowdown(streams):
    ways = {"no stream": (None, None), "ComputeBasic 1ms": ("ComputeBasic", "1ms"),
            "Occupancy 100us": ("Occupancy", "100us")}
    times = {(work, way): [] for work in ("product", "launches", "replays") for way in ways}
    mhz = {key: [] for key in times}
    if not shutil.which("nvidia-smi"):
        print("no nvidia-smi, so no clocks: not measured")
        return
    with Beside(streams, None, None) as idle:
        time.sleep(1)
    program = subprocess.Popen([sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(work):
        program.stdin.write(work + "\n")
        program.stdin.flush()
        return float(program.stdout.readline())
    try:
        run("product")
    except (OSError, ValueError):
        print("no PyTorch with CUDA: not measured")
        return
    for work in ("product", "launches", "replays"):
        run(work)  # warm
        for _ in range(ROUNDS):
            for way, (name, period) in ways.items():
                with Beside(streams, name, period) as beside:
                    times[work, way].append(run(work))
                mhz[work, way] += beside.mhz
    program.stdin.close()
    program.wait()
    print(f"SM clock before: {mean_mhz(idle.mhz)}; {ROUNDS} rounds in turn, medians; a round is compared with itself")
    for (work, way), seconds in times.items():
        alone = times[work, "no stream"]
        usual = statistics.median(alone)
        first, _, third = statistics.quantiles(alone, n=4)
        spread = 100 * (third - first) / 2 / usual
        slower = 100 * (statistics.median(with_it / without for with_it, without in zip(seconds, alone)) - 1)
        print(f"{work:<8} beside {way:<17} {1e3 * statistics.median(seconds):8.2f} ms {slower:+6.2f} % "
              f"(spread without a stream {spread:.2f} %), SM clock {mean_mhz(mhz[work, way])}")
        if slower >= max(SLOWDOWN_PERCENT, spread):
            streams.fail(f"{work} is {slower:.2f} % slower beside {way}")


def long(streams, seconds, name, period):
    """Work for a tenth of the time, in two kernels, at times that have nothing to do with the stream's."""
    path = os.path.join(streams.folder, "long.json")
    launched = dict.fromkeys(KERNELS, 0)
    for kernel in KERNELS:
        streams.learn(kernel)
    sampler = subprocess.Popen([streams.zeta, "stat", "-a", "--for", f"{seconds}s", "-g", name, "-p", period,
                                f"--json={path}"], stderr=subprocess.PIPE, text=True)
    began = time.monotonic()
    time.sleep(min(3, seconds / 4))
    # The last one ends before the stream does.
    while time.monotonic() - began < seconds - 10:
        for kernel in KERNELS:
            subprocess.run(streams.command(kernel), check=True, stdout=subprocess.DEVNULL)
            launched[kernel] += KERNELS[kernel][0]
        time.sleep(7)
    _, errors = sampler.communicate()
    if sampler.returncode != 0:
        streams.fail(f"zeta stat gave {sampler.returncode}: {first_line(errors)}")
        return
    group = read_group(path)
    note = "has no known count"
    for metric in group["metrics"]:
        counts = [streams.counts.get((kernel, metric["name"])) for kernel in KERNELS]
        if None in counts:
            continue
        wanted = sum(count * launches for count, launches in zip(counts, launched.values()))
        note = f"{sum(launched.values())} launches, exact"
        if metric["total"] != wanted:
            streams.fail(f"{metric['name']} is {metric['total']}, not {wanted}")
    print_row("long", name, period, group, note)
    streams.judge_loss(name, period, group)
    streams.judge_cost(name, period, group)


def main():
    parts = {"sums": sums, "cost": cost, "slowdown": slowdown}
    if len(sys.argv) == 6 and sys.argv[2] == "long":
        parts["long"] = lambda streams: long(streams, int(sys.argv[3]), sys.argv[4], sys.argv[5])
    if len(sys.argv) < 3 or sys.argv[2] not in parts:
        print(__doc__.split("\n\n", maxsplit=1)[0], file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        streams = Streams(sys.argv[1], folder)
        parts[sys.argv[2]](streams)
    for failure in streams.failures:
        print(f"failed: {failure}")
    return 1 if streams.failures else 0


if __name__ == "__main__":
    sys.exit(main())
