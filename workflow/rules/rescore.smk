"""Published systems' own outputs under this workflow's evaluators.

IN    {system}.json or {system}.json.gz in the folder that `rescore.folder` names, in the layout of
      the standard evaluator's prediction files; results/corpora/{multiwoz20,multiwoz21}
OUT   results/rescored/{system}.{evaluator}.score.json
STEPS rescore_outputs
"""


rule rescore_outputs:
    """One system's outputs, one evaluator. A malformed file is refused; the others are scored."""
    input:
        unpack(rescored_gold),
    output:
        score="results/rescored/{system}.{evaluator}.score.json",
    log:
        "results/logs/rescore_outputs/{system}-{evaluator}.log",
    wildcard_constraints:
        system="|".join(map(re.escape, OUTPUTS)) or "(?!)",
    conda:
        "../../envs/data.yaml"
    params:
        cfg=lambda wildcards: as_text(name=wildcards.evaluator, **config["bootstrap"]),
        code=code("todflow.rescore"),
    shell:
        "python -m todflow.rescore --config {params.cfg:q} --gold {input.gold:q}"
        " --database {input.database:q} --predictions {input.predictions:q} --out {output.score:q}"
        " --log {log:q}"
