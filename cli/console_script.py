"""The command ``galm`` of an installed wheel, which corresponds to ``run.sh`` in a checkout."""

from experiments.terminal.startup import end_silently, open_standard_streams, run_interruptibly


def run() -> int:
    """Run the command line of this process; returns the exit code."""
    end_silently()  # nothing has started yet that Ctrl-C could break
    open_standard_streams()
    import os
    import sys

    from cli.main import main
    from data_prep.files.access import absolute_path

    os.environ["PATH"] = absolute_path()
    arguments = sys.argv[1:]
    if arguments[:1] == ["test"]:
        sys.stderr.write("galm: the tests are part of a checkout of the repository: clone it, and run its run.sh\n")
        return 2
    return run_interruptibly(main, arguments)
