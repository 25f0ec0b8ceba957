"""Pages that came instead of the page asked for: paywalls, sign-in, bot checks, consent, not found."""
