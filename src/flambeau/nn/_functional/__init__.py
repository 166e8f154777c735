"""The parts of nn.functional that are Python: wrappers and compositions over ops, by family."""
