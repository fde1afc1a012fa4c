"""Software stacks: what a release does, as data."""
