"""The investigator: sends a team of researchers out on one question, and answers from what they quote."""
