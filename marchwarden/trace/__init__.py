"""The audit trail of a call: events, and where they are written, read, stored and checked."""
