"""What a model does, one module a stage, each with a form that needs no model."""
