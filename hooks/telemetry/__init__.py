"""What people and machines are told of a pass, after its writes have landed."""
