"""Laws put together for arrays of cases: the one place that knows how a step is composed."""
