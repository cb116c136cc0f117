"""Training: a metric of pairs of pictures, with its control and a comparison of both."""
