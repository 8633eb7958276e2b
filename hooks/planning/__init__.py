"""What is tried out on the embedded cluster: the demo, and forecasts."""
