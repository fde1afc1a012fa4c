"""``python -m tierspan`` is the command ``tierspan``."""

from tierspan.faces.cli.main import run

if __name__ == "__main__":
    run()
