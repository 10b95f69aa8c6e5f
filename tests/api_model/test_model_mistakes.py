#!/usr/bin/env python3
"""Mistakes in the model: each has to end the generator with a message that names file and cause.

Every case copies the model, makes one change and runs generate.py on the copy.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
API = os.path.join(HERE, "..", "..", "core", "api")
GENERATE = os.path.join(API, "generate.py")


class Mistakes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zeta-model-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.model = os.path.join(self.folder, "model")
        shutil.copytree(os.path.join(API, "model"), self.model)

    def change(self, file, old, new):
        path = os.path.join(self.model, file)
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        self.assertIn(old, text, "the case no longer fits the model")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text.replace(old, new, 1))

    def generate(self, *options):
        return subprocess.run([sys.executable, GENERATE, "--model", self.model,
                               "--output", os.path.join(self.folder, "out"), *options],
                              capture_output=True, text=True, check=False)

    def refused(self, *words, options=()):
        run = self.generate(*options)
        self.assertNotEqual(run.returncode, 0)
        self.assertNotIn("Traceback", run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_unchanged__is_accepted(self):
        run = self.generate()
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_second_run__touches_nothing(self):
        self.generate()
        header = os.path.join(self.folder, "out", "include", "level_zero", "ze_api.h")
        os.utime(header, (1, 1))
        self.generate()
        self.assertEqual(os.stat(header).st_mtime, 1)

    def test_broken_yaml__names_line_and_column(self):
        self.change("zet-metric.yaml", "  zetMetricGet:\n", "  zetMetricGet: [\n")
        self.refused("zet-metric.yaml:")

    def test_unknown_key__is_named(self):
        self.change("zet-metric.yaml", "    threads: any\n", "    treads: any\n")
        self.refused("zet-metric.yaml:", "zetMetricGroupGet", "treads")

    def test_repeated_key__is_named(self):
        self.change("zet-metric.yaml", "  zetMetricGet:\n", "  zetMetricGroupGet:\n")
        self.refused("zet-metric.yaml:", "zetMetricGroupGet occurs twice")

    def test_function_in_two_files__is_named(self):
        self.change("zet-tracing.yaml", "  zetTracerExpCreate:\n", "  zetMetricGet:\n")
        self.refused("zet-tracing.yaml:", "zetMetricGet", "twice")

    def test_version_as_number__is_refused(self):
        self.change("zet-metric.yaml", 'since: "1.0"', "since: 1.10")
        self.refused("zet-metric.yaml:", "1.1")

    def test_version_above_the_model__is_refused(self):
        self.change("zet-metric.yaml", 'since: "1.0"', 'since: "1.18"')
        self.refused("1.18")

    def test_undescribed_type__is_named(self):
        self.change("zet-metric.yaml", "type: zet_metric_group_calculation_type_t, dir",
                    "type: zet_metric_group_kalculation_type_t, dir")
        self.refused("zet_metric_group_kalculation_type_t")

    def test_unknown_result__is_named(self):
        self.change("zet-metric.yaml", "result: ERROR_INVALID_NULL_POINTER",
                    "result: ERROR_INVALID_POINTER")
        self.refused("ERROR_INVALID_POINTER")

    def test_check_of_a_foreign_name__is_refused(self):
        self.change("zet-metric.yaml", "pRawData == NULL && rawDataSize > 0",
                    "pRawData == NULL && rawSize > 0")
        self.refused("rawSize")

    def test_count_that_is_no_parameter__is_refused(self):
        self.change("zet-metric.yaml", "count: count", "count: groupCount")
        self.refused("groupCount")

    def test_wrong_direction__is_refused(self):
        self.change("zet-metric.yaml", "dir: inout", "dir: both")
        self.refused("both")

    def test_thread_rule_without_its_parameter__is_refused(self):
        self.change("zet-metric.yaml", "threads: exclusive hDevice", "threads: exclusive device")
        self.refused("threads")

    def test_enumerator_out_of_range__is_refused(self):
        self.change("zet-metric.yaml", "value: 0x7ffffffe", "value: 0x80000000")
        self.refused("zet_metric_type_t")

    def test_function_without_table__is_named(self):
        self.change("tables.yaml", "        - zetMetricGetProperties\n", "")
        self.refused("zetMetricGetProperties")

    def test_member_before_an_older_one__is_refused(self):
        self.change("tables.yaml", "        - zeInit\n        - zeInitDrivers\n",
                    "        - zeInitDrivers\n        - zeInit\n")
        self.refused("Global")

    def test_implemented_list__is_checked(self):
        path = os.path.join(self.folder, "implemented.txt")
        for text, word in (("zeInit\nzeDriverGet\n", "zeDriverGet"), ("zeFoo\n", "zeFoo"),
                           ("zeInit\nzeInit\n", "zeInit")):
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
            self.refused(word, options=("--implemented", path))


if __name__ == "__main__":
    unittest.main()
