"""The parts of the API generator: the model reader and one module per kind of output."""
