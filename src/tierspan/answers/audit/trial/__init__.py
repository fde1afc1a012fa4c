"""The audit on trial: true statements about real systems, the same with one trap each, and what the audit says to both."""

from tierspan.answers.audit.trial.generate import mutants, truths
from tierspan.answers.audit.trial.score import Trial, printed_trial, run_trial

__all__ = ["Trial", "mutants", "printed_trial", "run_trial", "truths"]
