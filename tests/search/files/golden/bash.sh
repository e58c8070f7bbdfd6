#!/usr/bin/env bash
#
# Copies a folder to another machine, with a few tries.

set -euo pipefail

# How often it is tried.
readonly TRIES=3
BACKUPS=/var/backups
export LOG_FILE="$BACKUPS/copy.log"
verbose=0

# Prints a line,
# with the time.
log() {
  local level=$1
  shift
  printf '%s %s: %s\n' "$(date +%T)" "$level" "$*" | tee -a "$LOG_FILE"
}

die() { log error "$@"; exit 1; }

# Copies a folder with rsync.
#
# $1: the folder
# $2: the machine
function copy_folder() {
  local folder=$1 machine=$2 try
  for ((try = 1; try <= TRIES; try++)); do
    if rsync -az --delete "$folder/" "$machine:$folder"; then
      log info "copied $folder"
      return 0
    fi
    sleep $((try * 2))
  done
  return 1
}

is_mounted() [[ -n $(findmnt -n "$1") ]]

usage()
{
  cat <<TEXT
usage: ${0##*/} [-v] FOLDER MACHINE
  not_a_function() { :; }
TEXT
}

while getopts 'v' option; do
  case $option in
    v) verbose=1 ;;
    *) usage; exit 2 ;;
  esac
done

main() {
  [ $# -eq 2 ] || { usage >&2; exit 2; }
  is_mounted "$1" || die "$1 is not mounted"
  copy_folder "$@"
}

@test "copies with colours" {
  LEVEL=3
  COLOURS+=2
}

# shellcheck disable=SC2034
COLOURS=16
COLOURS+=4

quietly() { "$@" >/dev/null 2>&1 || "$DIR/tell" "$1" || log error "$1"; }

main "$@"
