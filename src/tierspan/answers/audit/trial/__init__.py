"""The audit on trial: true statements about real systems, the same with one trap each, and what the audit says to both."""

from tierspan.answers.audit.trial.generate import mutants, truths
from tierspan.answers.audit.trial.score import Trial, run_trial

__all__ = ["Trial", "mutants", "run_trial", "truths"]
