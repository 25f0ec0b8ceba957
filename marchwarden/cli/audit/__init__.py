"""Commands over what was recorded: read it, verify it, hand it on, make it again."""
