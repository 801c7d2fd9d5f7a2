"""Reads a page of text from stdin with the parser of prometheus_client, and writes its samples as JSON.

The argument is the content type: OpenMetrics has a parser of its own, which is strict.
"""

import json
import sys

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

is_open = sys.argv[1].startswith("application/openmetrics-text")
read = (openmetrics_parser if is_open else parser).text_string_to_metric_families
page = sys.stdin.buffer.read().decode("utf-8")
json.dump(
    [
        {"labels": {"__name__": sample.name, **sample.labels}, "value": repr(sample.value)}
        for family in read(page)
        for sample in family.samples
    ],
    sys.stdout,
)
