"""Questions in other words, which the rules read: days between two dates, weekdays, orders of what is asked for."""
