"""Execution: where the calls of a run are made, in processes of this machine or on the workers of a cluster."""
