"""What is: hardware, models, strategies, measurements, constants."""
