"""A call looked at again by somebody who does not trust it: one verdict over a trace, and the bundle to hand on."""
