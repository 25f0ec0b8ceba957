"""Everything the commands show, as rich renderables, and the console that prints them."""
