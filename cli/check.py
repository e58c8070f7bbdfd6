"""``python -m cli.check NAME [NAME]``: whether there is such a command, or such a data set and model; for run.sh."""

import sys

from cli.main import check_command
from data_prep.errors import MISTAKE, UserError

if __name__ == "__main__":
    try:
        check_command([word for word in sys.argv[1:] if word])
    except UserError as error:
        sys.stderr.write(f"galm: {error}\n")
        sys.exit(MISTAKE)
