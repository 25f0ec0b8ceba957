"""`python -m marchwarden`: the command line."""

from marchwarden.cli import main

main()
