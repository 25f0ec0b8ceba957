"""The researcher: its loop, which pages it reads next, its end, and what it records."""
