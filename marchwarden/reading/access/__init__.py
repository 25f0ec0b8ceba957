"""Pages that are not the page that was asked for: paywalls, sign-in, bot checks, consent, not found."""
