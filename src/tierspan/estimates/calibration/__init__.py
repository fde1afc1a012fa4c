"""From measurements to constants: data set, fit, cross-validation, intervals."""
