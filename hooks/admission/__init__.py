"""The admission webhook: it records what is wanted, answers at once, and rolls nothing out."""
