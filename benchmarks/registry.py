"""All benchmarks, in the order in which they are shown."""

from __future__ import annotations

from benchmarks import closed_form, collectives, processes
from benchmarks.spec import BenchSpec

SPECS = (
    BenchSpec("interpreter", "What does Python alone cost?", "repeats", (1, 10), processes.bare_interpreter),
    BenchSpec("import", "What does `import tierspan` cost?", "repeats", (1, 10), processes.package_import),
    BenchSpec("help", "What does `tierspan --help` cost?", "repeats", (1, 10), processes.help_start),
    BenchSpec("closed-form", "How many strategies a second?", "rows", (1, 100, 10_000, 100_000), closed_form.evaluations, severities=(0, 100)),
    BenchSpec(
        "collectives", "How many collectives a second, in one call?", "rows", (1, 100, 10_000, 100_000), collectives.evaluations, severities=(0, 100)
    ),
    BenchSpec("predict", "How long is one prediction, whole process?", "accelerators", (8, 1024, 165_888), processes.predict_dense),
    BenchSpec("predict-supernode", "And one of experts on supernodes?", "accelerators", (384, 165_888), processes.predict_supernode),
)
