"""Error statistics of predictions against measurements, and the files that carry them."""
