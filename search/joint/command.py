"""``bash run.sh index --list=FILE``: an index for each repository of a list, made and updated apart from the others."""

from collections.abc import Sequence

from data_prep.errors import UserError
from data_prep.files.named_paths import named_path
from data_prep.files.reading import reason
from experiments.terminal import console
from experiments.terminal.console import say
from search.joint.repository_list import Repository, read_list
from search.making import checked_run, make_index
from search.options import IndexOptions


def index_listed(words: Sequence[str], options: IndexOptions) -> None:
    """Make or update the indexes of a list's repositories, one after the other; one that fails stops no other.

    Raises:
        UserError: the list cannot be used, or some repositories could not be indexed; the message names them.
    """
    if words or options.out or options.json:
        raise UserError("--list=FILE names the folders and their indexes: leave out DIR, --out and --json")
    listed = read_list(named_path(options.list))
    run = checked_run(options.vectors)
    failed = []
    for number, each in enumerate(listed, start=1):
        say(f"{number:,} of {len(listed):,}: {each.name}")
        if not _indexed(each, run, options):
            failed.append(each.name)
    if failed:
        raise UserError(f"{len(failed):,} of {len(listed):,} repositories could not be indexed: {', '.join(failed)}")
    say(f"{len(listed):,} repositories are indexed: search --list={options.list}")


def _indexed(repository: Repository, run: str, options: IndexOptions) -> bool:
    """Whether a repository was indexed; if not, the reason is printed, and its former index remains as it was."""
    try:
        make_index(repository.folder, repository.index, run, options)
    except UserError as error:
        console.complain(f"{repository.name}: {error}")
        return False
    except OSError as error:
        console.complain(f"{repository.name}: {reason(error)}: {error.filename or repository.index}")
        return False
    return True
