"""What ``compare`` is made of: the setting of a run, the expectation, the verdict, and the likeliest causes."""
