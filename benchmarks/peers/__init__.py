"""Other predictors on the rows of ``validation/training.csv``: one adapter a peer, no source of theirs."""
