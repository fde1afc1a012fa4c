"""Laws of collectives on tiers: how often an algorithm hops, what it carries over each tier, and what a protocol makes of it."""
