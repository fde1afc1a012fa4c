"""Documents kept on disk."""
