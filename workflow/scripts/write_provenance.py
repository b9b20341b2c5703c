"""What the numbers depend on: config, code, packages, data, and how long it took.

IN      data, benchmarks   files to hash; Snakemake's benchmark files (either list may be empty)
        lock               requirements.lock (may be left out)
OUT     provenance         results/provenance.json
        config             the resolved config (YAML)
PARAMS  cfg                JSON text: the resolved config
        digests            JSON text: {rule: digest of its code}
"""

import sys

sys.stderr = sys.stdout = open(snakemake.log[0], "w", encoding="utf-8")

from todflow.files import write_json, write_text
from todflow.tables.provenance import as_yaml, provenance
from todflow.tables.scripts import one_line_errors, parse_settings, paths

with one_line_errors():
    config = parse_settings(snakemake.params.cfg, "cfg")
    record = provenance(
        config,
        digests=parse_settings(snakemake.params.digests, "digests"),
        data=paths(snakemake.input.data),
        benchmarks=paths(snakemake.input.benchmarks),
        lock=snakemake.input.get("lock"),
        root=snakemake.params.root,
    )
    write_json(snakemake.output.provenance, record)
    write_text(snakemake.output.config, as_yaml(config))
