"""The artefacts of the step-reward paper beside its Table 1: ablation, low-resource study, reward curves,
reward hacking, and a verdict on each of its claims."""
