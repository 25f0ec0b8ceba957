"""The stages that a model can do, one module each; every stage has a form that needs no model."""
