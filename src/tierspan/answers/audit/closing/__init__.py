"""What rules about products share: figures that stand together, arithmetic told in the printed units, ratios that give a mistake away."""
