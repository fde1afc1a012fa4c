"""What happens: pipelines, flows, failures in time."""
