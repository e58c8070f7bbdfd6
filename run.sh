#!/usr/bin/env bash
# The single entry point: bash run.sh ...
#
#   index DIR|--list=FILE [--out=FILE]          index the methods, types and files of one folder or many
#   search ["QUESTION"] [DIR] [--at=FILE:LINE]  search by a question, a name, or a comment `# search: ...`
#   serve [DIR] [--port=8765]                   a web page that searches, at http://127.0.0.1:8765
#   DATASET MODEL [--section.field=value ...]   prepare, train, test; writes a folder in runs/
#   board [DIR] [TensorBoard options]           curves and pictures of all runs, at http://localhost:6006
# more of the search:
#   related FILE:LINE [--json]                  find code like that at a place, such as src/app.py:120
#   mcp [DIR] [--configure=CLIENT]              an MCP server for coding agents, on its standard streams
#   quality DIR [--queries=FILE.json]           measure the search on your documented methods or queries
#   indexes [--remove=DIR|gone]                 list the indexes: folder, size, age; remove some
# data and runs:
#   prepare DATASET [--data.field=value ...]    only prepare the data set (a run does it when needed)
#   export DATASET|RUN_DIR --out=DIR            a data set in BEIR's form, or a run's model for others
#   corpus NAME [--data.field=value ...]        statistics of a corpus of source trees
#   evaluate RUN_DIR [--evaluate.field=value]   test a finished run again, on another pool or data set
#   compare RUN_DIR RUN_DIR [...] [--out=DIR]   compare runs: intervals, wins and losses, kinds of query
#   encode RUN_DIR FILES --out=X.npy            vectors of functions or questions
#   context RUN_DIR|turns|table|ndcg|...        test runs with the contexts of their queries and of others
# tables of results:
#   benchmark PART [--out=DIR]                  train the main table's models that have no saved result
#   ablate NAME [--out=DIR]                     train the variants of an ablation that have none
#   tune MODEL                                  compare a model's initializations and losses
#   table [--results=DIR]                       write the tables of the saved results, or of your own
#   speed NAME [PATH]                           measure two forms of a part in one run, and their ratio
# other papers:
#   gencodesearchnet MODEL [...]|statistics|... rank and match its test sets; make such sets
#   posts MODEL|index|search|...                search posts by code and an error; train and test that
# this program:
#   install NAME [...]                          add the libraries of a part, such as sentences or vectors
#   doctor                                      what is installed, what is missing, and how to get it
#   help [NAME ...]                             details of a command, data set, model or section
#   --version                                   the version of this program
#   test [pytest options]                       run all checks
#   test_editor                                 try the VS Code extension in an editor (docs/editor.md)
#
# `bash run.sh help NAME` describes a command, data set, model or section, with its options.
set -euo pipefail

# Programs are found in absolute folders only: other entries of PATH mean the current folder, which may be anyone's.
absolute_path() {
  local entry kept='' IFS=:
  set -f
  for entry in $PATH; do case $entry in /*) kept=$kept:$entry ;; esac; done
  set +f
  PATH=${kept#:}
  PATH=${PATH:-/usr/bin:/bin}
}
absolute_path

root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
. "$root/cli/environment.sh"

# The tools run in the current folder, so that relative paths mean what you expect. Where env supports it, Ctrl-C is
# blocked until they can handle it: Python would print a traceback while it starts.
experiments() {
  if env --block-signal=INT --version >/dev/null 2>&1; then
    exec env --block-signal=INT "$python" -m cli.main "$@"
  fi
  exec "$python" -m cli.main "$@"
}

# Lint, format, import directions; then tests, and types beside them. Bytecode is kept, whatever the environment says:
# the hundreds of processes of the tests would each compile the same sources.
check() {
  local code=0
  cd "$root"
  unset PYTHONDONTWRITEBYTECODE
  "$python" -m ruff check --quiet .
  "$python" -m ruff format --quiet --check . || { echo "not formatted: .venv/bin/python -m ruff format ." >&2; exit 1; }
  told=$("$python" -c 'from importlinter.cli import lint_imports_command as lint; lint()' 2>&1) || { echo "$told"; exit 1; }
  told=$(mktemp)
  "$python" -m mypy >"$told" 2>&1 &
  trap 'kill $! 2>/dev/null || :; rm -f "$told"' EXIT
  trap 'exit 130' INT
  "$python" -m pytest --quiet --numprocesses="${GALM_TEST_PROCESSES:-2}" --dist=worksteal "$@" || code=$?
  wait $! || code=1
  cat "$told"
  exit "$code"
}

# What no test without an editor shows: code-server in Chromium, where the extension is used as a person uses it.
check_in_editor() {
  command -v node >/dev/null 2>&1 || fail "node 20 or newer is needed, with npm"
  exec node "$root/vscode/test/editor/run.mjs" "$python" "$@"
}

search_needs() { set_up requirements-search.txt "$@"; }
# Of the libraries of training a third is imported, and compiled then.
training_needs() { compile=--no-compile; set_up requirements-search.txt requirements-train.txt torch.txt "$@"; }

# A mistyped name is said before what training needs is installed.
check_name() {
  [ -z "${GALM_PYTHON:-}" ] && ! is_set_up requirements-train.txt torch.txt || return 0
  case $1 in -*) return 0 ;; esac
  case $2 in -*) set -- "$1" ;; esac
  "$python" -m cli.main --check "$@" || exit
}

# Adds the packages of requirements-NAME.txt to .venv, on top of what searches or trains.
add() {
  local name files=()
  [ -z "${GALM_PYTHON:-}" ] || fail "GALM_PYTHON is used as it is: install the packages of requirements-*.txt there"
  [ $# -gt 0 ] || fail "expected what to install: $(extras)"
  for name; do
    [ -f "$root/locks/requirements-$name.txt" ] || fail "expected one of $(extras), but got $name"
    case $name in search) ;; train) files+=(torch.txt) ;; sentences|dev) files+=(requirements-train.txt torch.txt) ;; esac
    files+=("requirements-$name.txt")
  done
  search_needs "${files[@]}"
  echo "installed: $*"
}

extras() {
  local file names=()
  for file in "$root"/locks/requirements-*.txt; do file=${file##*/requirements-}; names+=("${file%.txt}"); done
  echo "${names[*]}"
}

case "${1:-help}" in
  install) shift; add "$@" ;;
  test)  shift; training_needs requirements-dev.txt requirements-agents.txt requirements-hdf5.txt \
    requirements-parquet.txt requirements-posts.txt requirements-sentences.txt requirements-vectors.txt; check "$@" ;;
  test_editor) shift; search_needs; check_in_editor "$@" ;;
  index|search|related|serve|mcp|quality|indexes)
    case $1 in mcp) search_needs requirements-agents.txt ;; *) search_needs ;; esac
    experiments "$@" ;;
  help|--help|-h|--version|doctor) search_needs; experiments "$@" ;;
  *)     search_needs; check_name "$1" "${2:-}"; training_needs; experiments "$@" ;;
esac
